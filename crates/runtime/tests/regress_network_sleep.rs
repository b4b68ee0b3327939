//! A worker whose sleep ended by a timeout did not say that it is awake again.
//!
//! A worker tells its network before it sleeps and after. The network has another thread receive in
//! between. Since sleeping workers look for stalled ones, a sleep can also end by a timeout, and
//! then the second call was missing. So the other thread went on to receive for the rest of the
//! program, in competition with the workers: kNeighbor between two processes by sockets took twice
//! its time. After four million such sleeps the program ended by a panic.

use std::sync::Arc;
use std::thread;
use std::time::Duration;

use raddle_runtime::{Network, Runtime};
use raddle_sync::idle::IdleSet;
use raddle_sync::prim::{AtomicUsize, SeqCst};

/// Workers, and others that stand in for those that wait.
const SEATS: usize = 2 + 1_024;

/// A network on which nothing comes. It counts the workers that sleep.
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
fn the_network_is_told_of_the_end_of_each_sleep() {
    let network = Arc::new(Silence {
        idle: IdleSet::new(SEATS),
        asleep: AtomicUsize::new(0),
        asleep_max: AtomicUsize::new(0),
        sleeps: AtomicUsize::new(0),
    });
    let runtime = Runtime::builder()
        .workers(2)
        .network(Arc::<Silence>::clone(&network))
        .build()
        .expect("a runtime");
    for _ in 0..20 {
        runtime.install(|| ());
        // Long enough for a worker to lie down, to look for stalled ones after a millisecond, and
        // to lie down again.
        thread::sleep(Duration::from_millis(4));
    }
    drop(runtime);
    let [asleep, asleep_max, sleeps] =
        [&network.asleep, &network.asleep_max, &network.sleeps].map(|count| count.load(SeqCst));
    assert!(sleeps > 20, "{sleeps} sleeps: the test tells nothing");
    assert_eq!(asleep, 0, "of {sleeps} sleeps have no end");
    assert!(
        asleep_max <= 2,
        "{asleep_max} workers of two asleep at once"
    );
}
