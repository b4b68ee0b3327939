//! Models of the sleep protocol: work that came is found; a model in which it is not ends in a deadlock, which loom
//! reports.

#![cfg(loom)]

use loom::sync::Arc;
use loom::thread;
use std::time::Duration;

use raddle_sync::idle::IdleSet;
use raddle_sync::prim::{AtomicUsize, Relaxed};

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
        self.work.fetch_add(1, Relaxed);
        self.idle.work_came(0);
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
        while !self.take() {
            let _ = self
                .idle
                .sleep(worker_index, Duration::ZERO, || self.has_work(), || ());
        }
        self.idle.found(worker_index, || self.has_work());
    }
}

fn model(body: impl Fn() + Sync + Send + 'static) {
    let mut builder = loom::model::Builder::new();
    builder.preemption_bound = Some(2);
    builder.check(body);
}

/// I1: one producer, one worker that is about to sleep.
#[test]
fn worker_hears_of_work_that_comes_while_it_lies_down() {
    model(|| {
        let runtime = Runtime::new(1);
        let worker = {
            let runtime = Arc::clone(&runtime);
            thread::spawn(move || runtime.work_once(0))
        };
        runtime.put();
        worker.join().expect("no panic");
    });
}

/// I2: two workers, two pieces of work, one producer: the second is not left lying when the first searcher finds one.
#[test]
fn last_searcher_wakes_the_next() {
    model(|| {
        let runtime = Runtime::new(2);
        let workers: Vec<_> = (0..2)
            .map(|index| {
                let runtime = Arc::clone(&runtime);
                thread::spawn(move || runtime.work_once(index))
            })
            .collect();
        runtime.put();
        runtime.put();
        for worker in workers {
            worker.join().expect("no panic");
        }
    });
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
