//! Handles: a worker that waits for one helps to finish its task.

use std::sync::{Arc, Mutex};

use raddle_runtime::{Handle, PoolKind, Runtime};

use crate::common::runtime_with;

#[test]
fn waiting_worker_runs_the_awaited_task_first_however_many_are_queued_before_it() {
    for pool in PoolKind::ALL {
        let runtime = runtime_with(1, |builder| builder.pool(pool));
        let order = Arc::new(Mutex::new(Vec::new()));
        runtime.install(|| {
            let handles: Vec<Handle<()>> = (0..1_000)
                .map(|number| {
                    let order = Arc::clone(&order);
                    runtime.spawn(move || order.lock().expect("no panic").push(number))
                })
                .collect();
            for handle in handles.into_iter().rev() {
                handle.wait();
            }
        });
        let order = order.lock().expect("no panic");
        assert!(order.iter().copied().eq((0..1_000).rev()), "{pool}");
    }
}

#[test]
fn handles_that_wait_for_handles_run_depth_first() {
    fn count(runtime: &Arc<Runtime>, depth: u32) -> u32 {
        if depth == 0 {
            return 1;
        }
        let below = Arc::clone(runtime);
        let handle = runtime.spawn(move || count(&below, depth - 1));
        count(runtime, depth - 1) + handle.wait()
    }
    for workers in [1, 2, 3] {
        let runtime = Arc::new(runtime_with(workers, |builder| {
            builder.pool(PoolKind::Deque)
        }));
        let inside = Arc::clone(&runtime);
        assert_eq!(runtime.spawn(move || count(&inside, 12)).wait(), 1 << 12);
    }
}

#[test]
fn blocking_call_never_runs_on_the_worker_that_waits_for_it() {
    let runtime = runtime_with(1, |builder| builder.pool(PoolKind::Deque));
    let (worker, blocking) = runtime.install(|| {
        let handle = runtime.spawn_blocking(|| std::thread::current().id());
        (std::thread::current().id(), handle.wait())
    });
    assert_ne!(worker, blocking);
}

#[test]
fn worker_of_another_runtime_leaves_the_task_to_its_own_runtime() {
    let deque = || runtime_with(1, |builder| builder.pool(PoolKind::Deque));
    let (here, there) = (deque(), deque());
    let (waiting, running) = here.install(|| {
        let handle = there.spawn(|| std::thread::current().id());
        (std::thread::current().id(), handle.wait())
    });
    assert_ne!(waiting, running);
}
