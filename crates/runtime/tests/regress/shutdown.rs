//! A call on a blocking thread that never returned could not be left behind: the only way to end a
//! runtime was to drop it, which waits for all its work. `shutdown_timeout` and
//! `shutdown_background` end it in a limited time, and report the unfinished work.

use std::sync::mpsc;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use raddle_runtime::{Runtime, Shutdown};

use crate::common::{runtime, runtime_with};

const SHORT: Duration = Duration::from_millis(20);
/// Longer than any test takes.
const LONG: Duration = Duration::from_secs(3_600);

/// Returns the numbers of unfinished tasks and blocking calls.
fn unfinished(outcome: Shutdown) -> (usize, usize) {
    match outcome {
        Shutdown::Unfinished {
            tasks,
            blocking_calls,
            ..
        } => (tasks, blocking_calls),
        outcome => panic!("{outcome:?}"),
    }
}

#[test]
fn runtime_without_work_is_complete_before_the_time_limit() {
    assert_eq!(runtime(2).shutdown_timeout(LONG), Shutdown::Complete);
    assert_eq!(
        runtime(2).shutdown_timeout(Duration::MAX),
        Shutdown::Complete
    );
    let after_work = runtime(2);
    assert_eq!(after_work.install(|| 7), 7);
    assert_eq!(after_work.spawn_blocking(|| 8).wait(), 8);
    assert_eq!(after_work.shutdown_timeout(LONG), Shutdown::Complete);
}

#[test]
fn shutdown_waits_for_work_that_ends_in_time() {
    let runtime = runtime(2);
    let done = Arc::new(Mutex::new(0));
    for _ in 0..100 {
        let (task, call) = (Arc::clone(&done), Arc::clone(&done));
        drop(runtime.spawn(move || *task.lock().expect("no panic") += 1));
        drop(runtime.spawn_blocking(move || *call.lock().expect("no panic") += 1));
    }
    assert_eq!(runtime.shutdown_timeout(LONG), Shutdown::Complete);
    assert_eq!(*done.lock().expect("no panic"), 200);
}

#[test]
fn stuck_calls_are_left_behind_and_the_workers_end() {
    let (ended, all_ended) = mpsc::channel();
    let runtime = runtime_with(2, |builder| {
        builder.on_exit(move |worker| ended.send(worker).expect("the test receives"))
    });
    let (finish, finished) = mpsc::channel::<()>();
    let finished = Arc::new(Mutex::new(finished));
    let stuck = {
        let finished = Arc::clone(&finished);
        runtime.spawn_blocking(move || finished.lock().expect("no panic").recv().is_ok())
    };
    let other = runtime
        .spawn_thread(move || finished.lock().expect("no panic").recv().is_ok())
        .expect("a thread starts");
    assert_eq!(unfinished(runtime.shutdown_timeout(SHORT)), (0, 2));
    // Both workers end, because they do not wait for the calls.
    let mut workers: Vec<usize> = all_ended.iter().take(2).collect();
    workers.sort_unstable();
    assert_eq!(workers, [0, 1]);
    // The calls continue, and their handles still work.
    assert!(!stuck.is_done());
    finish.send(()).expect("the calls wait");
    finish.send(()).expect("the calls wait");
    assert!(stuck.wait() && other.wait());
}

#[test]
fn task_that_waits_for_a_stuck_call_keeps_its_worker_until_the_call_ends() {
    let runtime = Arc::new(runtime(2));
    let (finish, finished) = mpsc::channel::<()>();
    let (report, reports) = mpsc::channel();
    let call = runtime.spawn_blocking(move || finished.recv().is_ok());
    let task = runtime.spawn(move || {
        report.send(()).expect("the test receives");
        call.wait()
    });
    reports.recv().expect("the task starts");
    let runtime = Arc::into_inner(runtime).expect("the only reference");
    assert_eq!(unfinished(runtime.shutdown_timeout(SHORT)), (1, 1));
    finish.send(()).expect("the call waits");
    assert!(task.wait());
}

#[test]
fn background_shutdown_does_not_wait_and_runs_what_was_spawned() {
    let runtime = runtime(2);
    let (finish, finished) = mpsc::channel::<()>();
    let call = runtime.spawn_blocking(move || finished.recv().is_ok());
    let tasks: Vec<_> = (0..100)
        .map(|number| runtime.spawn(move || number))
        .collect();
    runtime.shutdown_background();
    let sum: i32 = tasks.into_iter().map(|task| task.wait()).sum();
    assert_eq!(sum, 4_950);
    finish.send(()).expect("the call waits");
    assert!(call.wait());
}

#[test]
fn threads_of_the_runtime_do_not_wait_for_themselves() {
    let on_worker = runtime(2);
    let inside = runtime(2);
    // A task, and then a blocking call, that owns the runtime on which it runs.
    let (give, given) = mpsc::channel::<Runtime>();
    let task = on_worker.spawn(move || {
        let own = given.recv().expect("the test sends it");
        unfinished(own.shutdown_timeout(LONG))
    });
    give.send(on_worker).expect("the task waits");
    assert_eq!(task.wait(), (1, 0));
    let (give, given) = mpsc::channel::<Runtime>();
    let call = inside.spawn_blocking(move || {
        let own = given.recv().expect("the test sends it");
        unfinished(own.shutdown_timeout(LONG))
    });
    give.send(inside).expect("the call waits");
    assert_eq!(call.wait(), (0, 1));
}

#[test]
fn worker_of_another_runtime_also_waits_for_a_limited_time() {
    let outer = runtime(2);
    let (finish, finished) = mpsc::channel::<()>();
    let (outcome, complete) = outer.install(|| {
        let inner = runtime(2);
        drop(inner.spawn_blocking(move || finished.recv()));
        let outcome = inner.shutdown_timeout(SHORT);
        (outcome, runtime(2).shutdown_timeout(LONG))
    });
    assert_eq!(unfinished(outcome), (0, 1));
    assert_eq!(complete, Shutdown::Complete);
    finish.send(()).expect("the call waits");
}
