//! Models of the sleep protocol: workers find all work that is put. If they do not, the model ends
//! in a deadlock, which loom reports.

use loom::sync::Arc;
use loom::thread;
use std::time::Duration;

use raddle_sync::idle::{IdleSet, Slept};
use raddle_sync::prim::{AtomicUsize, Mutex, Relaxed};
use raddle_sync::wait::{WaitCell, Way};

/// A pool that is only a number, without any ordering of its own, so that the protocol's fences
/// must suffice.
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
        self.idle.work_piled_up(0, waiting, |_| ());
    }

    /// Puts work like a worker of the same process.
    fn put_near(&self) {
        // Relaxed: as above.
        self.work.fetch_add(1, Relaxed);
        self.idle.work_came_near(0);
    }

    /// Puts work like a producer that sees its work pile up.
    fn put_piled(&self) {
        // Relaxed: as above.
        self.work.fetch_add(1, Relaxed);
        self.idle.work_piled_up(0, 2, |_| ());
    }

    /// Puts work like a producer that is about to put more.
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

    /// Runs a worker that ends after one task.
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

/// Checks I1 with one producer, and one worker that is about to sleep.
#[test]
fn a_worker_that_is_about_to_sleep_finds_new_work() {
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

#[test]
fn the_last_searcher_wakes_the_next_worker_for_new_work() {
    the_last_searcher_wakes_the_next_worker(Runtime::put);
}

#[test]
fn the_last_searcher_wakes_the_next_worker_for_near_work() {
    the_last_searcher_wakes_the_next_worker(Runtime::put_near);
}

#[test]
fn the_last_searcher_wakes_the_next_worker_for_piled_work() {
    the_last_searcher_wakes_the_next_worker(Runtime::put_piled);
}

#[test]
fn the_last_searcher_wakes_the_next_worker_for_the_first_work() {
    the_last_searcher_wakes_the_next_worker(Runtime::put_first);
}

/// Checks I2 with two workers, two pieces of work and one producer. The second piece is not left
/// behind when the first searcher finds one.
///
/// This model takes long, so each way to put work has its own test: tests run in parallel.
fn the_last_searcher_wakes_the_next_worker(put: fn(&Runtime)) {
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

/// Checks invariant 1: one producer has taken the worker's bit but not incremented the count yet.
/// The worker finds the work of this producer, searches again, and goes to sleep. The work of the
/// other producer still wakes it.
#[test]
fn a_count_that_is_too_low_does_not_lose_work() {
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

/// Checks that a worker looks again for work behind a lock that one worker at a time can take. A
/// worker that is about to sleep finds the lock taken by a busy worker. That worker may have looked
/// too early, so the first one looks again. (An early version relied on the other worker to find
/// the work, and lost it.)
#[test]
fn a_worker_does_not_rely_on_another_one_that_is_looking() {
    model(|| {
        let (runtime, inbox) = (Runtime::new(2), Arc::new(Mutex::new(())));
        let busy = {
            let (runtime, inbox) = (Arc::clone(&runtime), Arc::clone(&inbox));
            thread::spawn(move || {
                if let Ok(_inbox) = inbox.try_lock() {
                    // It does something else next, no matter what it sees.
                    let _ = runtime.has_work();
                }
            })
        };
        let worker = {
            let runtime = Arc::clone(&runtime);
            thread::spawn(move || {
                let try_inbox = || inbox.try_lock().map_err(|_| thread::yield_now());
                runtime.idle.start_search();
                while !try_inbox().is_ok_and(|_inbox| runtime.take()) {
                    let has_news = || try_inbox().map_or(true, |_inbox| runtime.has_work());
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

/// Checks that the doorbell of a message for the first port of a node wakes a thread that waits in
/// the cell of the port, and a worker that sleeps in the set, even if they are only about to sleep.
#[test]
fn a_doorbell_wakes_the_cell_and_the_set() {
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
        // Relaxed: as in `put`. The fence of `work_came` serves for both calls below.
        runtime.work.store(1, Relaxed);
        runtime.idle.work_came(0);
        let _ = cell.ring_after_fence();
        for thread in [waiter, worker] {
            thread.join().expect("no panic");
        }
    });
}
