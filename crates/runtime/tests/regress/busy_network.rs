//! A worker with many messages of its own hardly received from the network.
//!
//! A worker counted rounds between two calls of the network, and a round was up to 64 messages
//! long. With messages of a millisecond, it received about once in two seconds.

use std::sync::Arc;
use std::time::{Duration, Instant};

use raddle_runtime::{Network, Post};
use raddle_sync::idle::IdleSet;
use raddle_sync::prim::{AtomicUsize, SeqCst};

use crate::common::runtime_with;

/// A worker and the compensating threads.
const SEATS: usize = 1 + 1_024;

const MESSAGES: usize = 200;

/// A network on which nothing arrives that can be seen. It counts how often it is asked.
#[derive(Debug)]
struct Hidden {
    idle: IdleSet,
    received: AtomicUsize,
}

impl Network for Hidden {
    fn idle(&self) -> IdleSet {
        self.idle.clone()
    }

    fn receive(&self) {
        self.received.fetch_add(1, SeqCst);
    }

    fn has_news(&self) -> bool {
        false
    }

    fn before_sleep(&self) {}

    fn after_sleep(&self) {}
}

/// Works for a moment, and then sends the next message to the same worker. The last message reports
/// how often the network was asked since the first.
fn work(post: &Post, network: &Arc<Hidden>, left: usize, done: &std::sync::mpsc::Sender<usize>) {
    let begin = Instant::now();
    while begin.elapsed() < Duration::from_micros(200) {
        std::hint::spin_loop();
    }
    if left == 0 {
        done.send(network.received.load(SeqCst))
            .expect("the test waits");
        return;
    }
    let (own, network, done) = (post.clone(), Arc::clone(network), done.clone());
    post.send(0, move || work(&own, &network, left - 1, &done));
}

#[test]
fn worker_with_messages_of_its_own_receives_from_the_network() {
    let network = Arc::new(Hidden {
        idle: IdleSet::new(SEATS),
        received: AtomicUsize::new(0),
    });
    let runtime = runtime_with(1, |builder| builder.network(Arc::<Hidden>::clone(&network)));
    let (done, result) = std::sync::mpsc::channel();
    let (post, its_network) = (runtime.post(), Arc::clone(&network));
    runtime.post().send(0, move || {
        its_network.received.store(0, SeqCst);
        work(&post, &its_network, MESSAGES, &done);
    });
    let received = result.recv().expect("the last message sends it");
    assert!(
        received >= MESSAGES / 10,
        "{received} calls of the network in {MESSAGES} messages"
    );
}
