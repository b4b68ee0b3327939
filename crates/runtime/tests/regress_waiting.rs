//! Waits that stood still, and destructors that killed workers.
//!
//! A worker that waited for a handle, or for another runtime, ran only what its own lineage reached. But a handle can be
//! that of a blocking call which enters the runtime again, and two runtimes can enter each other at the same time: the work
//! that was waited for lay in a queue, and every worker that could run it waited. Dropping a runtime on a worker of another
//! one waited without helping at all. And a result or a panic whose destructor panics unwound through the worker's loop: the
//! worker died, and the count of live tasks never came down.

use std::panic::{AssertUnwindSafe, catch_unwind, panic_any};
use std::sync::{Arc, Barrier, mpsc};

use raddle_runtime::{Runtime, join, map_reduce};

fn runtime(worker_count: usize) -> Arc<Runtime> {
    Arc::new(
        Runtime::builder()
            .workers(worker_count)
            .build()
            .expect("a runtime"),
    )
}

/// Something whose destructor panics.
struct Bomb;

impl Drop for Bomb {
    fn drop(&mut self) {
        panic!("the bomb goes off");
    }
}

#[test]
fn worker_that_waits_for_a_blocking_call_serves_what_the_call_enters() {
    for worker_count in [1, 2] {
        let runtime = runtime(worker_count);
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
    let one = runtime(1);
    let inner = Arc::clone(&one);
    one.install(move || {
        let other = Runtime::builder().workers(1).build().expect("a runtime");
        let back = Arc::clone(&inner);
        drop(other.spawn(move || back.install(|| 1)));
        drop(other);
    });
    assert_eq!(one.install(|| 2), 2);
}

#[test]
fn runtime_dropped_by_its_own_worker_ends_when_its_work_is_done() {
    let runtime = runtime(1);
    let own = Arc::clone(&runtime);
    let (go, wait) = mpsc::channel::<()>();
    let (tell, told) = mpsc::channel();
    drop(runtime.spawn(move || {
        wait.recv().expect("the test says go");
        drop(own);
        tell.send(()).expect("the test listens");
    }));
    let queued = runtime.spawn(|| 5);
    let blocking = runtime.spawn_blocking(move || queued.wait());
    drop(runtime);
    go.send(()).expect("the task waits");
    told.recv().expect("the task goes on after the drop");
    assert_eq!(blocking.wait(), 5);
}

#[test]
fn destructor_that_panics_kills_no_worker() {
    let runtime = runtime(1);
    let (go, wait) = mpsc::channel::<()>();
    // The handle goes before the result is there, so that the worker drops it.
    drop(runtime.spawn(move || {
        wait.recv().expect("the test says go");
        Bomb
    }));
    go.send(()).expect("the task waits");
    drop(runtime.spawn(|| panic_any(Bomb)));
    drop(runtime.spawn_blocking(|| Bomb));
    assert_eq!(runtime.install(|| 1), 1);
    let panic = catch_unwind(AssertUnwindSafe(|| {
        runtime.scope(|scope| (0..4).for_each(|_| scope.spawn(|| panic_any(Bomb))));
    }));
    // The first of the four panics comes out; it is not set off here.
    std::mem::forget(panic.expect_err("a task panicked"));
    assert_eq!(runtime.install(|| 2), 2);
    drop(runtime);
}

#[test]
fn panic_of_a_task_whose_handle_is_dropped_later_goes_to_the_handler() {
    let (tell, told) = mpsc::channel();
    let runtime = Runtime::builder()
        .workers(1)
        .on_panic(move |_| tell.send(()).expect("the test listens"))
        .build()
        .expect("a runtime");
    let handle = runtime.spawn(|| panic!("nobody waits for it"));
    while !handle.is_done() {
        std::thread::yield_now();
    }
    drop(handle);
    told.recv().expect("the handler was called");
}
