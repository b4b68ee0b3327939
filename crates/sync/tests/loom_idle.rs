//! Models of the sleep protocol: work that came is found; a model in which it is not ends in a deadlock, which loom
//! reports.

#![cfg(loom)]

use loom::sync::Arc;
use loom::thread;
use std::time::Duration;

use raddle_sync::idle::{IdleSet, Slept};
use raddle_sync::prim::{AtomicUsize, Mutex, Relaxed};
use raddle_sync::wait::{WaitCell, Way};

/// A pool that is a number, without any ordering of its own: the protocol's fences must do.
struct Runtime {
    idle: IdleSet,
    work: AtomicUsize,
}

impl Runtime {
    fn new(worker_count: usize) -> Arc<Self> {
        Arc::new(Self {
            idle: IdleSet::new(worker_count),
            work: AtomicUsize::new(0),
        })
    }

    fn has_work(&self) -> bool {
        // Relaxed: the fences of the protocol order it.
        self.work.load(Relaxed) > 0
    }

    fn put(&self) {
        // Relaxed: as above.
        let waiting = self.work.fetch_add(1, Relaxed) + 1;
        self.idle.work_piled_up(0, waiting);
    }

    /// As a worker of the same process does.
    fn put_near(&self) {
        // Relaxed: as above.
        self.work.fetch_add(1, Relaxed);
        self.idle.work_came_near(0);
    }

    /// As a producer does whose work piles up.
    fn put_piled(&self) {
        // Relaxed: as above.
        self.work.fetch_add(1, Relaxed);
        self.idle.work_piled_up(0, 2);
    }

    /// As one does that is about to put more.
    fn put_first(&self) {
        // Relaxed: as above.
        self.work.fetch_add(1, Relaxed);
        self.idle.wake_for_work_near(0);
    }

    fn take(&self) -> bool {
        // Relaxed: as above.
        self.has_work()
            && self
                .work
                .fetch_update(Relaxed, Relaxed, |work| work.checked_sub(1))
                .is_ok()
    }

    /// A worker that ends after one task.
    fn work_once(&self, worker_index: usize) {
        self.idle.start_search();
        let mut has_slept = false;
        while !self.take() {
            let slept = self.idle.sleep(
                worker_index,
                Duration::ZERO,
                None,
                || None,
                || self.has_work(),
                || (),
            );
            has_slept = slept != Slept::Not;
        }
        self.idle.found(worker_index, has_slept, || self.has_work());
    }
}

/// All ways to put work.
const PUTS: [fn(&Runtime); 4] = [
    Runtime::put,
    Runtime::put_near,
    Runtime::put_piled,
    Runtime::put_first,
];

fn model(body: impl Fn() + Sync + Send + 'static) {
    let mut builder = loom::model::Builder::new();
    builder.preemption_bound = Some(2);
    builder.check(body);
}

/// I1: one producer, one worker that is about to sleep.
#[test]
fn worker_hears_of_work_that_comes_while_it_lies_down() {
    for put in PUTS {
        model(move || {
            let runtime = Runtime::new(1);
            let worker = {
                let runtime = Arc::clone(&runtime);
                thread::spawn(move || runtime.work_once(0))
            };
            put(&runtime);
            worker.join().expect("no panic");
        });
    }
}

/// I2: two workers, two pieces of work, one producer: the second is not left lying when the first searcher finds one.
#[test]
fn last_searcher_wakes_the_next() {
    for put in PUTS {
        model(move || {
            let runtime = Runtime::new(2);
            let workers: Vec<_> = (0..2)
                .map(|index| {
                    let runtime = Arc::clone(&runtime);
                    thread::spawn(move || runtime.work_once(index))
                })
                .collect();
            put(&runtime);
            put(&runtime);
            for worker in workers {
                worker.join().expect("no panic");
            }
        });
    }
}

/// Invariant 1: while one producer has taken the worker's bit and not yet counted up, the worker finds its work, searches
/// again, and lies down. The work of the other producer wakes it all the same.
#[test]
fn count_that_falls_short_says_that_nobody_searches() {
    model(|| {
        let runtime = Runtime::new(1);
        let producers: Vec<_> = (0..2)
            .map(|_| {
                let runtime = Arc::clone(&runtime);
                thread::spawn(move || runtime.put())
            })
            .collect();
        runtime.work_once(0);
        runtime.work_once(0);
        for producer in producers {
            producer.join().expect("no panic");
        }
    });
}

/// Work at a desk at which one at a time looks: who is about to sleep and finds a busy worker there, who may have looked too early, looks again. (Taking the
/// other for one that will find the work, as an early version did, loses it.)
#[test]
fn worker_does_not_rely_on_another_that_looks_at_the_moment() {
    model(|| {
        let (runtime, desk) = (Runtime::new(2), Arc::new(Mutex::new(())));
        let busy = {
            let (runtime, desk) = (Arc::clone(&runtime), Arc::clone(&desk));
            thread::spawn(move || {
                if let Ok(_desk) = desk.try_lock() {
                    // It goes on with something else whatever it sees.
                    let _ = runtime.has_work();
                }
            })
        };
        let worker = {
            let runtime = Arc::clone(&runtime);
            thread::spawn(move || {
                let try_desk = || desk.try_lock().map_err(|_| thread::yield_now());
                runtime.idle.start_search();
                while !try_desk().is_ok_and(|_desk| runtime.take()) {
                    let has_news = || try_desk().map_or(true, |_desk| runtime.has_work());
                    let _ = runtime
                        .idle
                        .sleep(0, Duration::ZERO, None, || None, has_news, || ());
                }
                runtime.idle.found(0, false, || false);
            })
        };
        let producer = thread::spawn(move || runtime.put());
        for thread in [busy, worker, producer] {
            thread.join().expect("no panic");
        }
    });
}

/// The doorbell of a message for the first port of a node: who waits in the port's cell hears of it, and so does a worker that sleeps in the set, whichever of the two is about to.
#[test]
fn a_doorbell_is_heard_in_the_cell_and_in_the_set() {
    model(|| {
        let runtime = Runtime::new(1);
        let cell = Arc::new(WaitCell::new());
        let waiter = {
            let (runtime, cell) = (Arc::clone(&runtime), Arc::clone(&cell));
            thread::spawn(move || {
                cell.wait_until(Way::Futex, Duration::ZERO, || runtime.has_work());
            })
        };
        let worker = {
            let runtime = Arc::clone(&runtime);
            thread::spawn(move || {
                runtime.idle.start_search();
                while !runtime.has_work() {
                    let has_news = || runtime.has_work();
                    let _ = runtime
                        .idle
                        .sleep(0, Duration::ZERO, None, || None, has_news, || ());
                }
                runtime.idle.found(0, false, || false);
            })
        };
        // Relaxed: as in `put`, whose fence is that of both.
        runtime.work.store(1, Relaxed);
        runtime.idle.work_came(0);
        let _ = cell.ring_after_fence();
        for thread in [waiter, worker] {
            thread.join().expect("no panic");
        }
    });
}
