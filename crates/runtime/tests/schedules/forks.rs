//! Fork and join: every fork runs once, its result and its panic come back, and nobody who could help
//! is left asleep.

use std::sync::Arc;

use raddle_runtime::model::explore::{Flag, beside, explore, fail_with, number_of_failure};
use raddle_runtime::{join, scope};
use raddle_sync::prim::{AtomicUsize, Mutex, SeqCst, yield_now};

/// Counts its leaves with a join in every node.
pub(crate) fn leaves(depth: u32) -> u32 {
    if depth == 0 {
        return 1;
    }
    let (left, right) = join(|| leaves(depth - 1), || leaves(depth - 1));
    left + right
}

/// Forks again and again until the flag is up: a worker that is busy and can be asked.
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
fn forks_beyond_the_room_of_the_stack_are_called() {
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
fn every_half_runs_once_and_first_panic_comes_back() {
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
        // The second half may be dropped without being run; its panic never wins.
        let both = || join(|| half(1), || half(2));
        assert_eq!(number_of_failure(|| runtime.install(both)), 1);
        assert!((1..=2).contains(&runs.swap(0, SeqCst)));
        let deep = || join(|| leaves(2), || join(|| half(3), || leaves(1)));
        assert_eq!(number_of_failure(|| runtime.install(deep)), 3);
    });
}

#[test]
fn lock_held_across_a_join_is_never_asked_for_by_foreign_work() {
    explore(|setting| {
        let runtime = setting.runtime();
        let lock = Mutex::new(0);
        let locked = || {
            let mut sum = lock.lock().expect("nobody panics");
            *sum += leaves(1);
        };
        runtime.install(|| join(|| join(locked, locked), || join(locked, locked)));
        assert_eq!(*lock.lock().expect("nobody panics"), 8);
    });
}

#[test]
fn fork_that_a_task_publishes_is_not_below_that_task() {
    explore(|setting| {
        let runtime = setting.runtime();
        let lock = Mutex::new(());
        let locked = || {
            let _held = lock.lock().expect("nobody panics");
            // The forks of one task make the worker publish the second half of the join around both.
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
fn waiting_owner_is_told_of_work_below_its_stolen_fork() {
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
fn fork_is_found_by_the_one_worker_that_is_left() {
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
        // One worker forks, one stands still after a wait in which it may have helped the first.
        let stand_still = || {
            let blocking = runtime.spawn_blocking(|| ());
            runtime.install(|| {
                blocking.wait();
                flag.await_up();
            });
        };
        beside(forks, stand_still);
    });
}

#[test]
fn gates_follow_a_fork_that_was_taken_back_and_miss_nobody() {
    explore(|setting| {
        let runtime = setting.runtime_of(2);
        let flag = Flag::default();
        let other = Flag::default();
        runtime.install(|| {
            // Published and taken back, in many schedules, before the fork that somebody else has to run.
            join(|| leaves(1), || leaves(1));
            join(|| fork_until(&flag), || flag.raise());
            join(|| fork_until(&other), || other.raise());
        });
    });
}
