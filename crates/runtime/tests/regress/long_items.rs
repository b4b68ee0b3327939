//! A loop gave parts away only when its worker checked for requests, between two items. With items
//! of two milliseconds, such as the tiles of a picture, a worker that asked for work waited for one
//! millisecond on average, again and again.

use std::sync::{Barrier, Mutex, mpsc};
use std::thread;
use std::time::Duration;

use raddle_runtime::{for_each, join, map, scope, worker_index};

use crate::checks::PATIENCE;
use crate::common::runtime;

/// A channel between the items of a loop: an item that needs another worker waits until an item has
/// run on one.
struct Help {
    arrive: Mutex<mpsc::Sender<()>>,
    arrivals: Mutex<mpsc::Receiver<()>>,
}

impl Help {
    fn new() -> Self {
        let (arrive, arrivals) = mpsc::channel();
        Self {
            arrive: Mutex::new(arrive),
            arrivals: Mutex::new(arrivals),
        }
    }

    /// Reports that an item runs on another worker.
    fn arrive(&self) {
        let arrive = self.arrive.lock().expect("no item panics here");
        arrive.send(()).expect("both ends live equally long");
    }

    /// Waits until an item has run on another worker.
    fn wait(&self) {
        let arrivals = self.arrivals.lock().expect("no item panics here");
        arrivals.recv_timeout(PATIENCE).expect("help arrives");
    }
}

/// Reproduces a bug: the first item took long, the loop concluded that all items do, and it was
/// published item by item.
#[test]
fn one_long_item_does_not_make_all_others_long() {
    let runtime = runtime(2);
    let published = || runtime.report().total.forks_published;
    let before = published();
    runtime.install(|| {
        for_each(0..1_000_000, |index| {
            if index == 0 {
                thread::sleep(Duration::from_millis(1));
            }
        });
        let squares = map(0..1_000_000, |index| {
            if index == 0 {
                thread::sleep(Duration::from_millis(1));
            }
            index * index
        });
        assert_eq!(squares[999], 999 * 999);
    });
    let published = published() - before;
    assert!(published < 2_000, "{published}");
}

/// Reproduces a bug: long items among the first of a loop ran one after the other before the worker
/// checked for requests.
#[test]
fn second_item_gets_help_when_the_first_was_long() {
    let runtime = runtime(2);
    let help = Help::new();
    runtime.install(|| {
        let owner = worker_index();
        for_each(0..1_000, |index| {
            if worker_index() != owner {
                help.arrive();
            } else if index == 0 {
                thread::sleep(Duration::from_millis(1));
            } else if index == 1 {
                help.wait();
            }
        });
    });
}

#[test]
fn worker_that_asks_during_a_long_item_need_not_wait_for_its_end() {
    let runtime = runtime(2);
    let (held, free) = (Barrier::new(2), Barrier::new(2));
    let help = Help::new();
    runtime.install(|| {
        let owner = worker_index();
        scope(|scope| {
            scope.spawn(|| {
                held.wait();
                free.wait();
            });
            held.wait();
            // Answers earlier requests. From here on no worker asks.
            join(|| (), || ());
            for_each(0..100, |index| {
                if worker_index() != owner {
                    help.arrive();
                } else if index == 0 {
                    thread::sleep(Duration::from_millis(1));
                } else if index == 1 {
                    free.wait();
                    help.wait();
                }
            });
        });
    });
}

/// Reproduces a bug: a short loop with quick first items ran all other items in one go. An idle
/// worker could get none of them, however long they turned out to be.
#[test]
fn long_item_in_the_middle_of_a_short_loop_does_not_hide_the_rest() {
    let runtime = runtime(2);
    for (len, long) in [(1_000, 20), (100, 10), (30, 5), (3, 1)] {
        let help = Help::new();
        runtime.install(|| {
            let owner = worker_index();
            let item = |index| {
                if worker_index() != owner {
                    help.arrive();
                } else if index == long {
                    help.wait();
                }
            };
            for_each(0..len, item);
        });
        let help = Help::new();
        runtime.install(|| {
            let owner = worker_index();
            let indices = map(0..len, |index| {
                if worker_index() != owner {
                    help.arrive();
                } else if index == long {
                    help.wait();
                }
                index
            });
            assert_eq!(indices, Vec::from_iter(0..len));
        });
    }
}
