//! Fork and join: every fork runs once, the join returns its result or its panic, and no worker
//! that could help stays asleep.

use std::sync::Arc;

use raddle_runtime::model::explore::{Flag, beside, explore, fail_with, number_of_failure};
use raddle_runtime::{join, scope};
use raddle_sync::prim::{AtomicUsize, Mutex, SeqCst, yield_now};

/// Counts the leaves of a binary tree with a join in every node.
pub(crate) fn leaves(depth: u32) -> u32 {
    if depth == 0 {
        return 1;
    }
    let (left, right) = join(|| leaves(depth - 1), || leaves(depth - 1));
    left + right
}

/// Forks repeatedly until the flag is up, as a busy worker that answers requests.
fn fork_until(flag: &Flag) {
    while !flag.is_up() {
        join(|| (), || ());
        yield_now();
    }
}

#[test]
fn tree_of_joins_has_all_its_leaves() {
    explore(|setting| {
        let runtime = setting.runtime();
        assert_eq!(runtime.install(|| leaves(3)), 8);
    });
}

#[test]
fn forks_beyond_the_capacity_of_the_stack_are_called_in_place() {
    explore(|setting| {
        fn chain(depth: u32) -> u32 {
            if depth == 0 {
                return 0;
            }
            let (rest, one) = join(|| chain(depth - 1), || 1);
            rest + one
        }
        assert_eq!(setting.runtime().install(|| chain(7)), 7);
    });
}

#[test]
fn every_half_runs_once_and_the_join_passes_the_first_panic_on() {
    explore(|setting| {
        let runtime = setting.runtime();
        let runs = AtomicUsize::new(0);
        let half = |number: u32| {
            runs.fetch_add(1, SeqCst);
            fail_with(number)
        };
        let failure = || number_of_failure(|| runtime.install(|| join(|| leaves(1), || half(2))));
        assert_eq!(failure(), 2);
        assert_eq!(runs.swap(0, SeqCst), 1);
        // The second half may be dropped without being run. Its panic never takes precedence.
        let both = || join(|| half(1), || half(2));
        assert_eq!(number_of_failure(|| runtime.install(both)), 1);
        assert!((1..=2).contains(&runs.swap(0, SeqCst)));
        let deep = || join(|| leaves(2), || join(|| half(3), || leaves(1)));
        assert_eq!(number_of_failure(|| runtime.install(deep)), 3);
    });
}

#[test]
fn foreign_work_never_needs_a_lock_that_is_held_across_a_join() {
    explore(|setting| {
        let runtime = setting.runtime();
        let lock = Mutex::new(0);
        let locked = || {
            let mut sum = lock.lock().expect("no panic");
            *sum += leaves(1);
        };
        runtime.install(|| join(|| join(locked, locked), || join(locked, locked)));
        assert_eq!(*lock.lock().expect("no panic"), 8);
    });
}

#[test]
fn fork_that_a_task_publishes_does_not_run_below_that_task() {
    explore(|setting| {
        let runtime = setting.runtime();
        let lock = Mutex::new(());
        let locked = || {
            let _held = lock.lock().expect("no panic");
            // The forks of one task make the worker publish the second half of the outer join.
            scope(|scope| {
                for _ in 0..3 {
                    scope.spawn(|| assert_eq!(leaves(2), 4));
                }
            });
        };
        runtime.install(|| join(locked, locked));
    });
}

#[test]
fn fork_of_a_busy_worker_is_taken_by_another() {
    explore(|setting| {
        let runtime = setting.runtime_of(setting.worker_count.max(2));
        let flag = Flag::default();
        runtime.install(|| join(|| fork_until(&flag), || flag.raise()));
    });
}

#[test]
fn waiting_owner_is_notified_of_work_below_its_stolen_fork() {
    explore(|setting| {
        // With two workers, only the owner that waits for the stolen half can help in it.
        let runtime = setting.runtime_of(2);
        let (stolen, helped) = (Flag::default(), Flag::default());
        let below = || {
            stolen.raise();
            join(|| fork_until(&helped), || helped.raise());
        };
        runtime.install(|| join(|| fork_until(&stolen), below));
    });
}

#[test]
fn fork_is_found_by_the_only_remaining_worker() {
    explore(|setting| {
        let runtime = Arc::new(setting.runtime_of(3));
        let flag = Arc::new(Flag::default());
        let (inner, raise) = (Arc::clone(&runtime), Arc::clone(&flag));
        let forks = move || {
            inner.install(|| {
                join(|| leaves(1), || leaves(1));
                join(|| fork_until(&raise), || raise.raise())
            })
        };
        // One worker forks. One blocks, after a wait in which it may have helped the first.
        let block = || {
            let blocking = runtime.spawn_blocking(|| ());
            runtime.install(|| {
                blocking.wait();
                flag.await_up();
            });
        };
        beside(forks, block);
    });
}

#[test]
fn gates_still_report_a_fork_after_another_was_taken_back() {
    explore(|setting| {
        let runtime = setting.runtime_of(2);
        let flag = Flag::default();
        let other = Flag::default();
        runtime.install(|| {
            // In many schedules, this fork is published and taken back. The next fork has to run on
            // the other worker.
            join(|| leaves(1), || leaves(1));
            join(|| fork_until(&flag), || flag.raise());
            join(|| fork_until(&other), || other.raise());
        });
    });
}
