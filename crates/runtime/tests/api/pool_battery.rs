//! Tests that every pool passes under a runtime, with one to eight workers: each task runs once,
//! and no task is lost when tasks panic, when workers stop, or when `auto` moves to another pool.
//!
//! The tests of pools without a runtime are in `src/pool/tests.rs`.

use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::Duration;

use raddle_runtime::{BlockShape, PoolKind, Runtime, Scope, scope};

use crate::common::runtime_with;

/// Calls `check` for every pool and number of workers.
fn on_all(check: impl Fn(Runtime, &str)) {
    for pool in PoolKind::ALL {
        for worker_count in 1..=8 {
            let blocks = BlockShape::new(1 + worker_count % 4, 2);
            let runtime = runtime_with(worker_count, |builder| builder.pool(pool).blocks(blocks));
            check(runtime, &format!("{pool}, {worker_count} workers"));
        }
    }
}

/// The numbers of the tasks that have run.
#[derive(Default)]
struct Ran(Mutex<Vec<usize>>);

impl Ran {
    fn note(&self, number: usize) {
        self.0.lock().expect("no panic under the lock").push(number);
    }

    /// Checks that the tasks below `count` have run, each once.
    fn check(&self, count: usize, what: &str) {
        let mut numbers = self.0.lock().expect("no panic under the lock").clone();
        numbers.sort_unstable();
        assert!(numbers.iter().copied().eq(0..count), "{what}: {numbers:?}");
    }
}

/// Runs a tree of tasks: task `n` spawns tasks `2n + 1` and `2n + 2`, and task 3 also spawns a
/// burst of leaves.
fn grow<'scope>(
    number: usize,
    count: usize,
    ran: &'scope Ran,
    scope: &'scope Scope<'scope, '_>,
    end: fn(usize),
) {
    ran.note(number);
    for child in [2 * number + 1, 2 * number + 2] {
        if child < count {
            scope.spawn(move || grow(child, count, ran, scope, end));
        }
    }
    if number == 3 {
        for leaf in count..count + 50 {
            scope.spawn(move || {
                ran.note(leaf);
                end(leaf);
            });
        }
    }
    end(number);
}

#[test]
fn each_task_runs_once() {
    on_all(|runtime, what| {
        let ran = Ran::default();
        runtime.scope(|scope| grow(0, 250, &ran, scope, |_| ()));
        ran.check(300, what);
    });
}

#[test]
fn tasks_that_panic_do_not_affect_other_tasks() {
    let end = |number: usize| {
        if number.is_multiple_of(7) {
            resume_unwind(Box::new(number));
        }
    };
    on_all(|runtime, what| {
        let ran = Ran::default();
        let call = || runtime.scope(|scope| scope.spawn(|| grow(0, 100, &ran, scope, end)));
        let panic = catch_unwind(AssertUnwindSafe(call)).expect_err("some tasks panic");
        let number = *panic.downcast::<usize>().expect("the panic of a task");
        assert!(number.is_multiple_of(7), "{what}");
        ran.check(150, what);
    });
}

/// Checks that no worker concludes that the pool is empty and the scope done while the other
/// workers search without success and one task spawns the next.
#[test]
fn scope_does_not_end_while_a_task_is_left_that_may_spawn_another() {
    fn chain<'scope>(left: usize, ran: &'scope Ran, scope: &'scope Scope<'scope, '_>) {
        thread::sleep(Duration::from_micros(100));
        ran.note(left);
        if left > 0 {
            scope.spawn(move || chain(left - 1, ran, scope));
        }
    }
    on_all(|runtime, what| {
        let ran = Ran::default();
        runtime.scope(|scope| scope.spawn(|| chain(20, &ran, scope)));
        ran.check(21, what);
    });
}

#[test]
fn runtime_that_stops_first_runs_the_tasks_that_are_left() {
    on_all(|runtime, what| {
        let ran = Arc::new(Ran::default());
        for number in 0..4 {
            let ran = Arc::clone(&ran);
            drop(runtime.spawn(move || {
                scope(|scope| {
                    for leaf in 0..10 {
                        let ran = &ran;
                        scope.spawn(move || ran.note(10 * number + leaf));
                    }
                });
            }));
        }
        drop(runtime);
        ran.check(40, what);
    });
}

/// Runs small scopes, one after the other: one worker puts tasks, and the other one, which has
/// nothing else to do, takes them from the pool, so that `auto` tries other pools.
#[test]
fn auto_that_moves_under_load_loses_no_task() {
    const ROUNDS_MAX: u32 = 100_000;
    let runtime = runtime_with(2, |builder| builder.pool(PoolKind::Auto));
    let has_tried_others = || {
        let choice = runtime.report().choice.expect("`auto` reports its choice");
        choice.tried.len() >= 3
    };
    let rounds = (1..ROUNDS_MAX).find(|_| {
        let ran = Ran::default();
        runtime.scope(|scope| {
            let ran = &ran;
            for number in 0..1_000 {
                scope.spawn(move || ran.note(number));
            }
        });
        ran.check(1_000, "auto");
        has_tried_others()
    });
    assert!(rounds.is_some(), "{:?}", runtime.report().choice);
}
