//! Tests of the places where loops are split.

use std::thread;

use super::*;
use crate::Runtime;
use crate::worker::current_worker;

/// Reproduces a bug: each worker took all that was left of such a loop, and then ran an item of it
/// while the next worker waited for its turn to do the same. It took 3 ms until sixteen workers had
/// joined.
#[test]
fn part_taken_during_a_long_item_is_split_at_once_for_idle_workers() {
    let cut = |workers: usize, pace: Pace| {
        let runtime = Runtime::builder().workers(workers).build();
        let runtime = runtime.expect("the runtime starts");
        runtime.install(move || {
            let worker = current_worker().expect("installed on a worker");
            while workers > 1 && !worker.shared().idle().anyone_sleeps() {
                thread::yield_now();
            }
            pace.cut(1_000, worker).map(|cut| cut.left)
        })
    };
    assert_eq!(cut(2, Pace::eager()), Some(500));
    assert_eq!(cut(2, Pace::start()), None, "its items may be short");
    assert_eq!(cut(1, Pace::eager()), None, "no other worker is there");
}

#[test]
fn part_stays_eager_until_its_first_items_are_timed() {
    let runtime = Runtime::builder().workers(1).build();
    runtime.expect("the runtime starts").install(|| {
        let worker = current_worker().expect("installed on a worker");
        let mut pace = Pace::eager();
        assert!(pace.part(1).is_eager);
        // The part is not eager if the worker that gave it away runs it itself after all.
        assert!(!pace.for_taker(worker.index()).is_eager);
        assert!(pace.for_taker(worker.index() + 1).is_eager);
        let mut chunk = pace.begin_chunk(100, worker);
        let count = chunk.step();
        chunk.is_over(count, worker);
        pace.end_chunk(&chunk, 100, worker);
        assert!(!pace.is_eager);
    });
}
