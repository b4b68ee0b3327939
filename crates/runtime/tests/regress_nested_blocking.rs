//! Calls on blocking threads that use the runtime again, each inside of the one before. Each level
//! takes a blocking thread that waits for the next level, and a worker that waits for the thread.
//! After 64 levels no worker was left, and after 512 no thread: the program stood still without a
//! word.

mod nesting;

use std::sync::Arc;

use nesting::{nest, runtime};
use raddle_runtime::{Runtime, default_runtime};

/// More than the old limit for threads, and that for workers.
const BEYOND_THREADS: usize = 520;
/// More than the old limit for workers, for each of two runtimes, too. A level costs the more the
/// deeper it is, so what needs no more than this goes no deeper.
const BEYOND_WORKERS: usize = 140;

#[test]
fn nested_calls_end_however_deep_they_are() {
    for (workers, outside, inside) in [
        (1, BEYOND_THREADS, BEYOND_WORKERS),
        (2, BEYOND_WORKERS, BEYOND_THREADS),
    ] {
        // From a thread that is no worker, and from a worker: of a runtime of its own, since what
        // the first has started stays.
        let first = runtime(workers);
        assert_eq!(nest(&first, outside), outside);
        let second = runtime(workers);
        let below = Arc::clone(&second);
        assert_eq!(second.install(move || nest(&below, inside)), inside);
    }
}

#[test]
fn nested_calls_of_the_default_runtime_end() {
    fn nest(depth: usize) -> usize {
        if depth == 0 {
            return 0;
        }
        let call = move || default_runtime().install(move || nest(depth - 1));
        1 + default_runtime().spawn_blocking(call).wait()
    }
    assert_eq!(nest(BEYOND_WORKERS), BEYOND_WORKERS);
}

#[test]
fn runtimes_that_wait_for_each_other_end() {
    fn bounce(here: &Arc<Runtime>, there: &Arc<Runtime>, depth: usize) -> usize {
        if depth == 0 {
            return 0;
        }
        let (next, after) = (Arc::clone(there), Arc::clone(here));
        1 + there.install(move || bounce(&next, &after, depth - 1))
    }
    let (here, there) = (runtime(1), runtime(1));
    let (first, second) = (Arc::clone(&here), Arc::clone(&there));
    let depth = here.install(move || bounce(&first, &second, BEYOND_WORKERS));
    assert_eq!(depth, BEYOND_WORKERS);
}

#[test]
fn many_tasks_that_wait_for_calls_leave_a_worker_for_others() {
    let runtime = runtime(1);
    let (finish, finished) = std::sync::mpsc::channel::<()>();
    let finished = Arc::new(std::sync::Mutex::new(finished));
    let tasks: Vec<_> = (0..100)
        .map(|_| {
            let (inside, finished) = (Arc::clone(&runtime), Arc::clone(&finished));
            runtime.spawn(move || {
                let call = move || finished.lock().expect("no panic").recv().is_ok();
                inside.spawn_blocking(call).wait()
            })
        })
        .collect();
    // Runs although all hundred wait.
    assert_eq!(runtime.install(|| 7), 7);
    for _ in &tasks {
        finish.send(()).expect("they wait");
    }
    assert!(tasks.into_iter().all(|task| task.wait()));
}
