//! A worker that waited for a handle ran any other task on top of its stack. If that task waited for work that lay buried
//! under it, neither went on: three tasks that wait for each other in a row, without any cycle, hung on two
//! workers. Thousands of short waits piled up on one stack until it overflowed. And a worker that spawned a task and waited for it,
//! again and again, left an empty task in the queue each time.
//!
//! Now the worker lends its place to a substitute and waits; runs a call for which it waits itself only to a
//! certain depth; and clears the empty tasks away.

use std::sync::Arc;
use std::sync::mpsc;
use std::time::Duration;

use raddle_runtime::{Handle, IdlePolicy, PoolKind, Runtime};

const IDLE: [IdlePolicy; 3] = IdlePolicy::ALL;

fn runtime(workers: usize, idle: IdlePolicy) -> Arc<Runtime> {
    let runtime = Runtime::builder().workers(workers).idle(idle).build();
    Arc::new(runtime.expect("a small runtime comes up"))
}

#[test]
fn task_is_not_run_on_top_of_the_one_that_it_waits_for() {
    for (idle, workers) in IDLE.into_iter().zip([2, 1, 2]) {
        let runtime = runtime(workers, idle);
        let (go, gate) = mpsc::channel::<()>();
        let first = runtime.spawn_blocking(move || {
            gate.recv().expect("the sender is there");
            1
        });
        let second = runtime.spawn(move || first.wait() + 1);
        std::thread::sleep(Duration::from_millis(5));
        let third = runtime.spawn(move || second.wait() + 1);
        std::thread::sleep(Duration::from_millis(5));
        go.send(()).expect("the receiver is there");
        assert_eq!(third.wait(), 3);
    }
}

#[test]
fn layers_of_tasks_that_wait_for_the_layer_before_end() {
    for (workers, idle) in [(1, IDLE[0]), (2, IDLE[0]), (3, IDLE[2]), (8, IDLE[0])] {
        let runtime = runtime(workers, idle);
        for round in 0..20_u64 {
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
    }
}

#[test]
fn stack_of_a_worker_does_not_grow_with_the_number_of_waits() {
    const TASKS: u64 = 5_000;
    for workers in [1, 2] {
        let (runtime, other) = (runtime(workers, IDLE[0]), runtime(1, IDLE[0]));
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
        let runtime = runtime(workers, IDLE[0]);
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
        let runtime = Runtime::builder().workers(1).pool(pool).build();
        let runtime = runtime.expect("a small runtime comes up");
        let kept = Arc::new(());
        let held = runtime.install(|| {
            for _ in 0..10_000 {
                let witness = Arc::clone(&kept);
                let handle = runtime.spawn(move || Arc::strong_count(&witness));
                assert!(handle.wait() < 1_000);
            }
            runtime.report().total.tasks
        });
        assert!(
            held > 9_000,
            "{pool}: {held} of 10000 tasks were cleared away"
        );
    }
}

#[test]
fn start_handler_is_on_its_worker() {
    let (say, said) = mpsc::channel();
    let say = std::sync::Mutex::new(say);
    let runtime = Runtime::builder()
        .workers(2)
        .on_start(move |index| {
            let (a, b) = raddle_runtime::join(|| 20, || 22);
            let here = raddle_runtime::worker_index();
            let say = say.lock().expect("no panic");
            say.send((Some(index) == here, a + b)).expect("it is heard");
        })
        .build()
        .expect("a small runtime comes up");
    for _ in 0..2 {
        assert_eq!(said.recv(), Ok((true, 42)));
    }
    drop(runtime);
}
