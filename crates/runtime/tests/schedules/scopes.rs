//! Scopes: all tasks run before the scope ends, wherever they were spawned, and every task is
//! found.

use raddle_runtime::model::explore::{Flag, explore, fail_with, number_of_failure};
use raddle_runtime::{PoolKind, join, scope, worker_index};
use raddle_sync::prim::{AtomicUsize, Mutex, SeqCst};

use crate::forks::leaves;

#[test]
fn all_tasks_have_run_when_the_scope_ends() {
    explore(|setting| {
        let runtime = setting.runtime();
        let mut parts = [0; 3];
        runtime.scope(|scope| {
            for part in &mut parts {
                scope.spawn(move || *part = leaves(1));
            }
        });
        assert_eq!(parts, [2; 3]);
    });
}

#[test]
fn tasks_spawn_into_scopes_further_out() {
    explore(|setting| {
        let runtime = setting.runtime();
        let count = &AtomicUsize::new(0);
        let step = move || {
            count.fetch_add(1, SeqCst);
        };
        runtime.scope(|outer| {
            outer.spawn(move || {
                let before = count.load(SeqCst);
                let inner_count = &AtomicUsize::new(0);
                scope(|inner| {
                    outer.spawn(step);
                    inner.spawn(move || {
                        outer.spawn(step);
                        inner_count.fetch_add(1, SeqCst);
                    });
                    outer.spawn(step);
                });
                assert_eq!(inner_count.load(SeqCst), 1);
                assert!(before <= count.load(SeqCst));
                step();
            });
        });
        assert_eq!(count.load(SeqCst), 4);
    });
}

#[test]
fn scope_passes_the_first_panic_on_after_all_tasks() {
    explore(|setting| {
        let runtime = setting.runtime();
        let count = AtomicUsize::new(0);
        let failure = number_of_failure(|| {
            runtime.scope(|scope| {
                scope.spawn(|| fail_with(7));
                scope.spawn(|| {
                    leaves(1);
                    count.fetch_add(1, SeqCst);
                });
                scope.spawn(|| fail_with(7));
            });
        });
        assert_eq!(failure, 7);
        assert_eq!(count.load(SeqCst), 1);
    });
}

#[test]
fn task_is_found_while_its_spawner_blocks() {
    explore(|setting| {
        let runtime = setting.runtime_of(setting.worker_count.max(2));
        for _ in 0..2 {
            let flag = Flag::default();
            runtime.scope(|scope| {
                scope.spawn(|| flag.raise());
                flag.await_up();
            });
        }
    });
}

#[test]
fn waiting_scope_is_notified_of_tasks_below_it() {
    explore(|setting| {
        let runtime = setting.runtime_of(2);
        let (started, flag) = (&Flag::default(), &Flag::default());
        runtime.scope(|outer| {
            // The task blocks one worker. The other worker is that of the scope, or it runs the
            // task that this task spawns.
            outer.spawn(move || {
                started.raise();
                outer.spawn(|| flag.raise());
                flag.await_up();
            });
            join(|| leaves(1), || ());
        });
        assert!(started.is_up());
    });
}

#[test]
fn second_of_two_tasks_is_found_while_the_first_blocks() {
    explore(|setting| {
        let runtime = setting.runtime_of(3);
        let flag = &Flag::default();
        runtime.scope(|scope| {
            scope.spawn(|| flag.await_up());
            scope.spawn(|| flag.raise());
            flag.await_up();
        });
    });
}

#[test]
fn briefly_invisible_task_is_found() {
    explore(|setting| {
        // One worker waits for the inner scope and may not run the task of the outer scope. One
        // blocks. So the third worker has to run it.
        let runtime = setting.runtime_of(3);
        let flag = &Flag::default();
        runtime.scope(|outer| {
            outer.spawn(move || {
                scope(|inner| {
                    // Lies in its worker's deque under the next task, which does not belong to the
                    // inner scope.
                    inner.spawn(|| flag.await_up());
                    outer.spawn(|| flag.raise());
                });
            });
        });
    });
}

#[test]
fn waiting_scope_is_notified_of_a_briefly_invisible_task() {
    explore(|setting| {
        let runtime = setting.runtime_of(2);
        let flag = &Flag::default();
        runtime.scope(|outer| {
            outer.spawn(move || {
                let spawner = worker_index();
                scope(|inner| {
                    inner.spawn(move || {
                        // If so, the other worker is idle or waits in the outer scope.
                        if worker_index() == spawner {
                            flag.await_up();
                        }
                    });
                    outer.spawn(|| flag.raise());
                });
            });
        });
    });
}

#[test]
fn waiting_worker_gives_away_its_older_fork() {
    explore(|setting| {
        let runtime = setting.runtime_of(3);
        let (started, flag) = (&Flag::default(), &Flag::default());
        let wait = || {
            scope(|scope| {
                scope.spawn(|| {
                    started.raise();
                    flag.await_up();
                });
                started.await_up();
            });
        };
        runtime.install(|| join(wait, || flag.raise()));
    });
}

#[test]
fn waiting_scope_runs_no_foreign_work() {
    explore(|setting| {
        let runtime = setting.runtime();
        let lock = Mutex::new(0);
        runtime.scope(|outer| {
            for _ in 0..2 {
                let lock = &lock;
                outer.spawn(move || {
                    let mut sum = lock.lock().expect("no panic");
                    let count = &AtomicUsize::new(0);
                    scope(|inner| {
                        for _ in 0..2 {
                            inner.spawn(|| {
                                count.fetch_add(1, SeqCst);
                            });
                        }
                    });
                    *sum += count.load(SeqCst);
                });
            }
        });
        assert_eq!(*lock.lock().expect("no panic"), 4);
    });
}

#[test]
fn task_from_another_runtime_is_found_by_the_waiting_scope() {
    explore(|setting| {
        let runtime = setting.runtime_of(1);
        let other = setting.runtime();
        let count = &AtomicUsize::new(0);
        runtime.scope(|scope| {
            other.install(|| {
                assert!(worker_index().is_some());
                scope.spawn(move || {
                    count.fetch_add(1, SeqCst);
                });
            });
        });
        assert_eq!(count.load(SeqCst), 1);
    });
}

/// Reproduces a bug: tasks stolen together with another one were in no pool for a moment. If `auto`
/// left their pool just then, no worker looked there again.
#[test]
fn blocks_are_found_when_the_pool_moves() {
    explore(|mut setting| {
        setting.pool = PoolKind::Auto;
        let runtime = setting.runtime_of(3);
        let count = &AtomicUsize::new(0);
        runtime.scope(|scope| {
            for _ in 0..3 {
                scope.spawn(move || {
                    for _ in 0..2 {
                        scope.spawn(move || {
                            count.fetch_add(1, SeqCst);
                        });
                    }
                });
            }
        });
        assert_eq!(count.load(SeqCst), 6);
    });
}
