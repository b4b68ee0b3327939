//! The battery that every pool passes under a runtime, with one to eight workers: each task runs once, and none is lost when tasks
//! panic, workers stop, or the pool moves. (`src/pool/tests.rs` has the one for pools alone.)

use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::Duration;

use raddle_runtime::{BlockShape, PoolKind, Runtime, Scope, scope};

/// Calls `check` for every pool and number of workers.
fn on_all(check: impl Fn(Runtime, &str)) {
    for pool in PoolKind::ALL {
        for worker_count in 1..=8 {
            let runtime = Runtime::builder()
                .workers(worker_count)
                .pool(pool)
                .blocks(BlockShape::new(1 + worker_count % 4, 2))
                .build()
                .expect("a runtime of at most eight workers comes up");
            check(runtime, &format!("{pool}, {worker_count} workers"));
        }
    }
}

/// The numbers of the tasks that have run.
#[derive(Default)]
struct Ran(Mutex<Vec<usize>>);

impl Ran {
    fn note(&self, number: usize) {
        self.0.lock().expect("nobody panics here").push(number);
    }

    /// Checks that tasks 0 to `count` have run, each once.
    fn check(&self, count: usize, what: &str) {
        let mut numbers = self.0.lock().expect("nobody panics here").clone();
        numbers.sort_unstable();
        assert!(numbers.iter().copied().eq(0..count), "{what}: {numbers:?}");
    }
}

/// A tree: task `n` puts tasks `2n + 1` and `2n + 2`, and task 3 a burst of leaves besides.
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
fn tasks_that_panic_take_no_others_with_them() {
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

/// While others look for work in vain, one task after the other comes up: nobody may take the pool for empty and done.
#[test]
fn scope_ends_when_no_task_is_left_that_could_put_one() {
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
fn runtime_that_stops_runs_what_is_left_first() {
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

/// Small scopes, one after the other: two workers lose much of their time with little to do, so that `auto` tries what there is.
#[test]
fn pool_that_moves_under_load_loses_no_task() {
    const LONG: u32 = 1_000_000;
    let runtime = Runtime::builder()
        .workers(2)
        .pool(PoolKind::Auto)
        .build()
        .expect("two workers come up");
    let has_tried_others = || {
        let choice = runtime.report().choice.expect("`auto` says what it did");
        choice.tried.len() >= 3
    };
    let rounds = (1..LONG).find(|_| {
        let ran = Ran::default();
        runtime.scope(|scope| scope.spawn(|| grow(0, 20, &ran, scope, |_| ())));
        ran.check(70, "auto");
        has_tried_others()
    });
    assert!(rounds.is_some(), "{:?}", runtime.report().choice);
}
