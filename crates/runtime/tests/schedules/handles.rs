//! Handles, calls from outside, blocking threads, and runtimes that enter each other.

use std::panic::resume_unwind;
use std::sync::Arc;

use raddle_runtime::join;
use raddle_runtime::model::explore::{Flag, beside, explore, fail_with, number_of_failure};
use raddle_sync::prim::{AtomicUsize, SeqCst};

use crate::forks::leaves;

#[test]
fn handle_returns_the_result_outside_and_inside() {
    explore(|setting| {
        let runtime = Arc::new(setting.runtime());
        let handle = runtime.spawn(|| leaves(1));
        let inner = Arc::clone(&runtime);
        let inside = runtime.install(move || {
            let (one, other) = (inner.spawn(|| leaves(1)), inner.spawn(|| 1));
            join(|| one.wait(), || other.wait())
        });
        assert_eq!(inside, (2, 1));
        assert_eq!(handle.wait(), 2);
    });
}

#[test]
fn panic_reaches_the_waiting_caller() {
    explore(|setting| {
        let runtime = setting.runtime();
        let handle = runtime.spawn(|| fail_with(5));
        assert_eq!(number_of_failure(|| runtime.install(|| fail_with(6))), 6);
        assert_eq!(number_of_failure(|| handle.wait()), 5);
    });
}

#[test]
fn every_call_from_outside_wakes_sleeping_workers() {
    explore(|setting| {
        let runtime = Arc::new(setting.runtime());
        let other = Arc::clone(&runtime);
        let calls = || {
            let other = other;
            (0..3).map(|number| other.install(|| number)).sum::<u32>()
        };
        let own = || {
            (0..3)
                .map(|number| runtime.spawn(move || number).wait())
                .sum::<u32>()
        };
        assert_eq!(beside(calls, own), (3, 3));
    });
}

#[test]
fn waiting_worker_runs_the_work_that_it_may_wait_for() {
    explore(|setting| {
        // The only worker waits for a blocking call, which it cannot run itself. That call enters
        // the runtime of the worker.
        let runtime = Arc::new(setting.runtime_of(1));
        let (first, second) = (Arc::clone(&runtime), Arc::clone(&runtime));
        let sum = runtime.install(move || {
            let call = move || second.install(|| leaves(1));
            first.spawn_blocking(call).wait()
        });
        assert_eq!(sum, 2);
    });
}

#[test]
fn blocking_threads_start_and_end() {
    explore(|setting| {
        let runtime = setting.runtime_of(1);
        let count = Arc::new(AtomicUsize::new(0));
        let handles: Vec<_> = (0..3)
            .map(|_| {
                let count = Arc::clone(&count);
                runtime.spawn_blocking(move || count.fetch_add(1, SeqCst))
            })
            .collect();
        let sum: usize = handles.into_iter().map(raddle_runtime::Handle::wait).sum();
        assert_eq!(sum, 3);
        let again = runtime.spawn_blocking(|| fail_with(8));
        assert_eq!(number_of_failure(|| again.wait()), 8);
    });
}

#[test]
fn two_runtimes_enter_each_other_at_the_same_time() {
    explore(|setting| {
        let (one, two) = (Arc::new(setting.runtime_of(1)), Arc::new(setting.runtime()));
        let (first, second) = (Arc::clone(&one), Arc::clone(&two));
        let there = move || first.install(|| second.install(|| first.install(|| leaves(1))));
        let here = || two.install(|| one.install(|| join(|| 1, || 2)));
        assert_eq!(beside(there, here), (2, (1, 2)));
    });
}

#[test]
fn dropped_handle_lets_its_task_run() {
    explore(|setting| {
        let flag = Arc::new(Flag::default());
        let runtime = setting.runtime();
        let raise = Arc::clone(&flag);
        drop(runtime.spawn(move || raise.raise()));
        // No thread waits for this task, so its panic affects nothing else.
        drop(runtime.spawn(|| resume_unwind(Box::new(9_u32))));
        drop(runtime);
        assert!(flag.is_up());
    });
}
