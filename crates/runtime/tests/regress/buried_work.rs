//! A worker that waited for a handle ran any other task on top of its stack.
//!
//! - If that task waited for work buried under it on the same stack, neither could continue: three
//!   tasks that waited for each other in a row, without a cycle, hung on two workers.
//! - Thousands of short waits piled up on one stack until it overflowed.
//! - A worker that repeatedly spawned a task and waited for it left an empty task in the queue each
//!   time.
//!
//! Now the worker lends its place to a compensating thread and waits. It runs the call for which it
//! waits itself only up to a certain depth. And it removes the empty tasks.

use std::sync::Arc;
use std::sync::mpsc;
use std::time::Duration;

use raddle_runtime::{Builder, Handle, IdlePolicy, PoolKind, Runtime};

use crate::common::runtime_with;

const IDLE: [IdlePolicy; 3] = IdlePolicy::ALL;

/// Builds a runtime that tasks on other threads can share.
fn shared_runtime(workers: usize, idle: IdlePolicy) -> Arc<Runtime> {
    Arc::new(runtime_with(workers, |builder| builder.idle(idle)))
}

#[test]
fn task_does_not_run_on_top_of_the_task_that_it_waits_for() {
    for (idle, workers) in IDLE.into_iter().zip([2, 1, 2]) {
        let runtime = shared_runtime(workers, idle);
        let (go, gate) = mpsc::channel::<()>();
        let first = runtime.spawn_blocking(move || {
            gate.recv().expect("the test sends");
            1
        });
        let second = runtime.spawn(move || first.wait() + 1);
        std::thread::sleep(Duration::from_millis(5));
        let third = runtime.spawn(move || second.wait() + 1);
        std::thread::sleep(Duration::from_millis(5));
        go.send(()).expect("the call waits");
        assert_eq!(third.wait(), 3);
    }
}

/// Runs 20 layers of 8 tasks, each of which waits for a task of the layer before.
fn run_layers(runtime: &Runtime, round: u64) {
    let mut layer: Vec<Handle<u64>> = Vec::new();
    for depth in 0..20 {
        let next = |task: u64| {
            let before = layer.pop();
            let work = (task * 7_919 + depth * 31 + round) % 5 * 2_000;
            runtime.spawn(move || {
                std::hint::black_box((0..work).sum::<u64>());
                before.map_or(1, |before| before.wait() + 1)
            })
        };
        layer = (0..8).map(next).collect();
    }
    let sum: u64 = layer.into_iter().map(Handle::wait).sum();
    assert_eq!(sum, 160);
}

#[test]
fn layers_of_tasks_that_each_wait_for_the_layer_before_end() {
    for (workers, idle) in [(1, IDLE[0]), (2, IDLE[0]), (3, IDLE[2]), (8, IDLE[0])] {
        let runtime = shared_runtime(workers, idle);
        for round in 0..20 {
            run_layers(&runtime, round);
        }
    }
}

/// Checks that a program in which no task waits for a later one ends with any number of
/// compensating threads: they sleep while others run in their stead, and help if there are none.
#[test]
fn layers_of_tasks_end_with_few_compensating_threads() {
    for (workers, max) in [(1, 0), (1, 1), (2, 1), (2, 3), (1, 7)] {
        let configure = |builder: Builder| builder.max_compensating_threads(max);
        let runtime = runtime_with(workers, configure);
        for round in 0..10 {
            run_layers(&runtime, round);
        }
    }
}

#[test]
fn stack_of_a_worker_does_not_grow_with_the_number_of_waits() {
    const TASKS: u64 = 5_000;
    for workers in [1, 2] {
        let (runtime, other) = (shared_runtime(workers, IDLE[0]), shared_runtime(1, IDLE[0]));
        let handles: Vec<Handle<u64>> = (0..TASKS)
            .map(|number| {
                let (blocking, other) = (Arc::clone(&runtime), Arc::clone(&other));
                runtime.spawn(move || match number % 2 {
                    0 => blocking.spawn_blocking(move || number).wait(),
                    _ => other.install(move || number),
                })
            })
            .collect();
        let sum: u64 = handles.into_iter().map(Handle::wait).sum();
        assert_eq!(sum, TASKS * (TASKS - 1) / 2);
    }
}

#[test]
fn long_chain_of_handles_ends() {
    for workers in [1, 2] {
        let runtime = shared_runtime(workers, IDLE[0]);
        let mut last = runtime.spawn(|| 0);
        for _ in 0..50_000 {
            let before = last;
            last = runtime.spawn(move || before.wait() + 1);
        }
        assert_eq!(last.wait(), 50_000);
    }
}

#[test]
fn empty_tasks_do_not_pile_up() {
    for pool in PoolKind::ALL {
        let runtime = runtime_with(1, |builder| builder.pool(pool));
        let kept = Arc::new(());
        let removed = runtime.install(|| {
            for _ in 0..10_000 {
                let witness = Arc::clone(&kept);
                let handle = runtime.spawn(move || Arc::strong_count(&witness));
                assert!(handle.wait() < 1_000);
            }
            runtime.report().total.tasks
        });
        assert!(
            removed > 9_000,
            "{pool}: only {removed} of 10000 tasks were removed"
        );
    }
}

#[test]
fn start_handler_runs_on_its_worker() {
    let (report, reports) = mpsc::channel();
    let report = std::sync::Mutex::new(report);
    let runtime = runtime_with(2, |builder| {
        builder.on_start(move |index| {
            let (a, b) = raddle_runtime::join(|| 20, || 22);
            let here = raddle_runtime::worker_index();
            let report = report.lock().expect("no panic");
            report
                .send((Some(index) == here, a + b))
                .expect("the test receives");
        })
    });
    for _ in 0..2 {
        assert_eq!(reports.recv(), Ok((true, 42)));
    }
    drop(runtime);
}
