//! What a worker does that waits for a handle.

use std::sync::{Arc, Mutex};

use raddle_runtime::{Handle, PoolKind, Runtime};

fn runtime(workers: usize, pool: PoolKind) -> Runtime {
    Runtime::builder()
        .workers(workers)
        .pool(pool)
        .build()
        .expect("a small runtime comes up")
}

#[test]
fn waiting_worker_begins_what_it_waits_for_however_much_is_queued_before_it() {
    for pool in PoolKind::ALL {
        let runtime = runtime(1, pool);
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
        let runtime = Arc::new(runtime(workers, PoolKind::Deque));
        let inside = Arc::clone(&runtime);
        assert_eq!(runtime.spawn(move || count(&inside, 12)).wait(), 1 << 12);
    }
}

#[test]
fn blocking_call_never_runs_on_the_worker_that_waits_for_it() {
    let runtime = runtime(1, PoolKind::Deque);
    let (worker, blocking) = runtime.install(|| {
        let handle = runtime.spawn_blocking(|| std::thread::current().id());
        (std::thread::current().id(), handle.wait())
    });
    assert_ne!(worker, blocking);
}

#[test]
fn worker_of_another_runtime_leaves_the_call_to_its_own() {
    let (here, there) = (runtime(1, PoolKind::Deque), runtime(1, PoolKind::Deque));
    let (waiting, running) = here.install(|| {
        let handle = there.spawn(|| std::thread::current().id());
        (std::thread::current().id(), handle.wait())
    });
    assert_ne!(waiting, running);
}
