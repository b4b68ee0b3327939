//! A loop once gave parts away only when its worker looked up, between two items: with items of two milliseconds, as the
//! tiles of a picture are, whoever asked waited for one millisecond on average, time and again.

use std::sync::{Barrier, Mutex, mpsc};
use std::thread;
use std::time::Duration;

use raddle_runtime::{Runtime, for_each, join, map, scope, worker_index};

const LONG: Duration = Duration::from_secs(30);

fn two_workers() -> Runtime {
    Runtime::builder()
        .workers(2)
        .build()
        .expect("two workers come up")
}

/// What the items of a loop that need another worker use to tell each other that one came.
struct Help {
    come: Mutex<mpsc::Sender<()>>,
    awaited: Mutex<mpsc::Receiver<()>>,
}

impl Help {
    fn new() -> Self {
        let (come, awaited) = mpsc::channel();
        Self {
            come: Mutex::new(come),
            awaited: Mutex::new(awaited),
        }
    }

    fn come(&self) {
        let come = self.come.lock().expect("no item panics here");
        come.send(()).expect("the other end lies beside it");
    }

    fn wait(&self) {
        let awaited = self.awaited.lock().expect("no item panics here");
        awaited.recv_timeout(LONG).expect("help comes");
    }
}

/// The first item took long, and the whole loop was thought to be of such items: it was published item by item.
#[test]
fn one_long_item_does_not_make_all_others_long() {
    let runtime = two_workers();
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

/// Long items among the first of a loop once ran one after the other, before anybody looked up.
#[test]
fn second_item_need_not_wait_for_help_when_the_first_was_long() {
    let runtime = two_workers();
    let help = Help::new();
    runtime.install(|| {
        let owner = worker_index();
        for_each(0..1_000, |index| {
            if worker_index() != owner {
                help.come();
            } else if index == 0 {
                thread::sleep(Duration::from_millis(1));
            } else if index == 1 {
                help.wait();
            }
        });
    });
}

#[test]
fn who_asks_during_a_long_item_need_not_wait_for_its_end() {
    let runtime = two_workers();
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
            // Answers what was asked before: from here on nobody asks.
            join(|| (), || ());
            for_each(0..100, |index| {
                if worker_index() != owner {
                    help.come();
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

/// A short loop whose first items were quick once ran all others in one go: who was without work
/// could have none of them, however long they took after all.
#[test]
fn long_item_in_the_middle_of_a_short_loop_does_not_hide_the_rest() {
    let runtime = two_workers();
    for (len, long) in [(1_000, 20), (100, 10), (30, 5), (3, 1)] {
        let help = Help::new();
        runtime.install(|| {
            let owner = worker_index();
            let item = |index| {
                if worker_index() != owner {
                    help.come();
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
                    help.come();
                } else if index == long {
                    help.wait();
                }
                index
            });
            assert_eq!(indices, Vec::from_iter(0..len));
        });
    }
}
