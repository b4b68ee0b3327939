//! Nested calls on blocking threads that use the runtime again. Each level takes a blocking thread
//! that waits for the next level, and a worker that waits for the thread. After 64 levels no worker
//! was left, and after 512 levels no thread: the program hung silently.

use std::sync::Arc;

use raddle_runtime::{Runtime, default_runtime};

use crate::common::runtime;
use crate::nesting::nest;

/// More levels than the old limits for threads and workers.
const BEYOND_THREADS: usize = 520;
/// More levels than the old limit for workers, also if two runtimes share them. A deeper level
/// costs more than the one before, so tests that need no more levels than this go no deeper.
const BEYOND_WORKERS: usize = 140;

#[test]
fn nested_calls_end_however_deep_they_are() {
    for (workers, outside, inside) in [
        (1, BEYOND_THREADS, BEYOND_WORKERS),
        (2, BEYOND_WORKERS, BEYOND_THREADS),
    ] {
        // First from a thread that is no worker, then from a worker. The second case has its own
        // runtime, because the threads that the first one started remain.
        let first = Arc::new(runtime(workers));
        assert_eq!(nest(&first, outside), outside);
        let second = Arc::new(runtime(workers));
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
    let (here, there) = (Arc::new(runtime(1)), Arc::new(runtime(1)));
    let (first, second) = (Arc::clone(&here), Arc::clone(&there));
    let depth = here.install(move || bounce(&first, &second, BEYOND_WORKERS));
    assert_eq!(depth, BEYOND_WORKERS);
}

#[test]
fn many_tasks_that_wait_for_calls_leave_a_worker_for_others() {
    let runtime = Arc::new(runtime(1));
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
    // Runs although all hundred tasks wait.
    assert_eq!(runtime.install(|| 7), 7);
    for _ in &tasks {
        finish.send(()).expect("the calls wait");
    }
    assert!(tasks.into_iter().all(|task| task.wait()));
}
