//! A worker did not report to the network that it was awake again after a sleep that ended by a
//! timeout.
//!
//! A worker calls its network before and after each sleep. In between, the network has another
//! thread receive. Since sleeping workers look for stalled ones, a sleep can also end by a timeout,
//! and then the second call was missing. So the other thread continued to receive for the rest of
//! the program and competed with the workers: kNeighbor between two processes connected by sockets
//! took twice as long. After four million such sleeps the program panicked.

use std::sync::Arc;
use std::thread;
use std::time::Duration;

use raddle_runtime::Network;
use raddle_sync::idle::IdleSet;
use raddle_sync::prim::{AtomicUsize, SeqCst};

use crate::common::runtime_with;

/// The workers and the compensating threads.
const SEATS: usize = 2 + 1_024;

/// The sleeps after which the test has seen enough, and the tasks after which it gives up.
const SLEEPS: usize = 40;
const ROUNDS_MAX: usize = 10_000;

/// A network on which nothing arrives. It counts the sleeping workers.
#[derive(Debug)]
struct Silence {
    idle: IdleSet,
    asleep: AtomicUsize,
    asleep_max: AtomicUsize,
    sleeps: AtomicUsize,
}

impl Network for Silence {
    fn idle(&self) -> IdleSet {
        self.idle.clone()
    }

    fn receive(&self) {}

    fn has_news(&self) -> bool {
        false
    }

    fn before_sleep(&self) {
        let asleep = self.asleep.fetch_add(1, SeqCst) + 1;
        self.asleep_max.fetch_max(asleep, SeqCst);
        self.sleeps.fetch_add(1, SeqCst);
    }

    fn after_sleep(&self) {
        self.asleep.fetch_sub(1, SeqCst);
    }
}

#[test]
fn network_is_notified_of_the_end_of_each_sleep() {
    let network = Arc::new(Silence {
        idle: IdleSet::new(SEATS),
        asleep: AtomicUsize::new(0),
        asleep_max: AtomicUsize::new(0),
        sleeps: AtomicUsize::new(0),
    });
    let runtime = runtime_with(2, |builder| {
        builder.network(Arc::<Silence>::clone(&network))
    });
    // Until both workers have slept often: a busy machine lets them sleep less than once per task.
    for _ in 0..ROUNDS_MAX {
        if network.sleeps.load(SeqCst) > SLEEPS {
            break;
        }
        runtime.install(|| ());
        // Long enough for a worker to fall asleep, to look for stalled workers after a
        // millisecond, and to fall asleep again.
        thread::sleep(Duration::from_millis(4));
    }
    drop(runtime);
    let [asleep, asleep_max, sleeps] =
        [&network.asleep, &network.asleep_max, &network.sleeps].map(|count| count.load(SeqCst));
    assert!(
        sleeps > SLEEPS,
        "only {sleeps} sleeps in {ROUNDS_MAX} tasks"
    );
    assert_eq!(asleep, 0, "{asleep} of {sleeps} sleeps have no end");
    assert!(
        asleep_max <= 2,
        "{asleep_max} of two workers asleep at once"
    );
}
