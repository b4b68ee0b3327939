//! Waits that hung, and destructors that killed workers.
//!
//! - A worker that waited for a handle, or for another runtime, ran only tasks that descended from
//!   its own. But a handle can be that of a blocking call which enters the runtime again, and two
//!   runtimes can enter each other at the same time. The work that was waited for lay in a queue,
//!   and every worker that could have run it waited.
//! - A worker of another runtime that dropped a runtime waited without helping at all.
//! - If the destructor of a result or of a panic panicked, it unwound through the worker's loop.
//!   The worker died, and the count of live tasks never reached zero.

use std::panic::{AssertUnwindSafe, catch_unwind, panic_any};
use std::sync::{Arc, Barrier, mpsc};

use raddle_runtime::{join, map_reduce};

use crate::Bomb;
use crate::common::{runtime, runtime_with};

#[test]
fn worker_that_waits_for_a_blocking_call_serves_the_work_of_that_call() {
    for worker_count in [1, 2] {
        let runtime = Arc::new(runtime(worker_count));
        let inner = Arc::clone(&runtime);
        let sum = runtime.install(move || {
            let again = Arc::clone(&inner);
            let sum = move || again.install(|| map_reduce(0..100, || 0, |i| i, |a, b| a + b));
            inner.spawn_blocking(sum).wait()
        });
        assert_eq!(sum, 4_950);
    }
}

#[test]
fn two_runtimes_enter_each_other_at_the_same_time() {
    let (one, other) = (runtime(1), runtime(1));
    for _ in 0..100 {
        let both_inside = Barrier::new(2);
        std::thread::scope(|threads| {
            for (first, second) in [(&one, &other), (&other, &one)] {
                let both_inside = &both_inside;
                threads.spawn(move || {
                    let pair = first.install(|| {
                        both_inside.wait();
                        second.install(|| join(|| 1, || 2))
                    });
                    assert_eq!(pair, (1, 2));
                });
            }
        });
    }
}

#[test]
fn runtime_dropped_on_a_worker_of_another_lets_that_worker_help() {
    let one = Arc::new(runtime(1));
    let inner = Arc::clone(&one);
    one.install(move || {
        let other = runtime(1);
        let back = Arc::clone(&inner);
        drop(other.spawn(move || back.install(|| 1)));
        drop(other);
    });
    assert_eq!(one.install(|| 2), 2);
}

#[test]
fn runtime_dropped_by_its_own_worker_ends_when_its_work_is_done() {
    let runtime = Arc::new(runtime(1));
    let own = Arc::clone(&runtime);
    let (go, wait) = mpsc::channel::<()>();
    let (report, reports) = mpsc::channel();
    drop(runtime.spawn(move || {
        wait.recv().expect("the test sends");
        drop(own);
        report.send(()).expect("the test receives");
    }));
    let queued = runtime.spawn(|| 5);
    let blocking = runtime.spawn_blocking(move || queued.wait());
    drop(runtime);
    go.send(()).expect("the task waits");
    reports.recv().expect("the task continues after the drop");
    assert_eq!(blocking.wait(), 5);
}

#[test]
fn panic_of_a_destructor_kills_no_worker() {
    let runtime = runtime(1);
    let (go, wait) = mpsc::channel::<()>();
    // The handle is dropped before the task ends, so that the worker drops the result.
    drop(runtime.spawn(move || {
        wait.recv().expect("the test sends");
        Bomb
    }));
    go.send(()).expect("the task waits");
    drop(runtime.spawn(|| panic_any(Bomb)));
    drop(runtime.spawn_blocking(|| Bomb));
    assert_eq!(runtime.install(|| 1), 1);
    let panic = catch_unwind(AssertUnwindSafe(|| {
        runtime.scope(|scope| (0..4).for_each(|_| scope.spawn(|| panic_any(Bomb))));
    }));
    // The scope passes the first of the four panics on. Dropping it would panic here.
    std::mem::forget(panic.expect_err("a task panicked"));
    assert_eq!(runtime.install(|| 2), 2);
    drop(runtime);
}

#[test]
fn panic_of_a_task_reaches_the_handler_when_the_handle_is_dropped_later() {
    let (report, reports) = mpsc::channel();
    let runtime = runtime_with(1, |builder| {
        builder.on_panic(move |_| report.send(()).expect("the test receives"))
    });
    let handle = runtime.spawn(|| panic!("no thread waits for it"));
    while !handle.is_done() {
        std::thread::yield_now();
    }
    drop(handle);
    reports.recv().expect("the handler was called");
}
