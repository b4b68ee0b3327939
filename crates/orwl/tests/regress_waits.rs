//! Waits without end that nobody was told of, and old values that were taken for the newest.

#![cfg(not(any(loom, shuttle)))]

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::mpsc::channel;

use raddle_orwl::{Outcome, Program, RunError, Turns};
use raddle_runtime::Runtime;

fn runtime(workers: usize) -> Runtime {
    Runtime::builder()
        .workers(workers)
        .build()
        .expect("workers come up")
}

fn run(program: Program, turns: Turns) -> Result<Outcome, RunError> {
    program.run_on(&runtime(2), turns)
}

/// Says what it panicked with.
fn told<T>(call: impl FnOnce() -> T) -> String {
    let panic = catch_unwind(AssertUnwindSafe(call)).map(|_| ());
    let panic = panic.expect_err("it is refused");
    panic.downcast_ref::<String>().expect("words").clone()
}

/// The worker slept until the task in front had gone on, which was at home with that worker.
#[test]
fn a_worker_is_not_kept_from_the_tasks_that_it_waits_for() {
    let runtime = runtime(1);
    let mut program = Program::new("outside");
    let number = program.location("number", 0_u64);
    let (begun, has_begun) = channel();
    let (seen, has_seen) = channel();
    program.async_task("count", |task| {
        let mut number = task.writes_each_turn(&number);
        let mut turns = task.turns();
        async move {
            while turns.next() {
                *number.enter().await += 1;
                if turns.turn() == 0 {
                    begun.send(()).expect("somebody waits");
                }
                if has_seen.try_recv().is_ok() {
                    return;
                }
                let mut is_new = true;
                std::future::poll_fn(|context| {
                    context.waker().wake_by_ref();
                    match std::mem::take(&mut is_new) {
                        true => std::task::Poll::Pending,
                        false => std::task::Poll::Ready(()),
                    }
                })
                .await;
            }
        }
    });
    let (number, workers) = (&number, &runtime);
    std::thread::scope(|scope| {
        let asks = scope.spawn(move || {
            has_begun.recv().expect("it begins");
            let of_worker = number.clone();
            let words = workers.spawn(move || told(|| of_worker.read().map(|_| ())));
            let words = words.wait();
            // Whoever is no worker may ask.
            assert!(*number.read().expect("whole") > 0);
            seen.send(()).expect("it runs");
            words
        });
        program
            .run_on(&runtime, Turns::UNTIL_BREAK)
            .expect("it runs");
        let words = asks.join().expect("it is refused");
        assert!(
            words.contains("was asked for on a worker that runs"),
            "{words}"
        );
    });
    let after = number.clone();
    let read = runtime.spawn(move || *after.read().expect("whole"));
    assert!(read.wait() > 0, "nobody is in the way any more");
}

/// Both waited for a section that was never asked for.
#[test]
fn a_handle_without_a_section_to_come_is_told() {
    let mut program = Program::new("late");
    let number = program.location("number", 1);
    program.async_task("late", |task| {
        let mut once = task.reads(&number);
        let mut turns = task.turns();
        async move {
            while turns.next() {
                if turns.turn() == 0 {
                    assert_eq!(*once.enter().await, 1);
                } else {
                    drop(once.enter().await);
                }
            }
        }
    });
    let failure = run(program, Turns(3)).expect_err("it is told");
    let said = "task late has no section on location \"number\" in turn 1";
    assert!(failure.to_string().contains(said), "{failure}");

    let mut program = Program::new("beyond");
    let number = program.location("number", 0);
    program.async_task("beyond", |task| {
        let mut number = task.writes_each_turn(&number);
        let mut turns = task.turns();
        async move {
            loop {
                let _is_the_last = turns.next();
                *number.enter().await += 1;
            }
        }
    });
    let failure = run(program, Turns(3)).expect_err("it is told");
    let said = "has no section on location \"number\" in turn 3";
    assert!(failure.to_string().contains(said), "{failure}");
    assert_eq!(*number.read().expect("whole"), 3);
}

/// It was taken for granted that the last turn had written.
#[test]
fn the_newest_value_is_the_last_that_was_written() {
    let mut program = Program::new("old values");
    let kept = program.fifo("kept", 3, |_| 0_u64);
    let clock = program.location("clock", 0_u64);
    program.async_task("write", |task| {
        let mut kept = task.writes_each_turn(&kept);
        async move { *kept.enter().await = 7 }
    });
    program.task("count", |task| {
        let mut clock = task.writes_each_turn(&clock);
        move || clock.section(|clock| *clock += 1)
    });
    run(program, Turns(11)).expect("it runs");
    assert_eq!(*kept.read().expect("whole"), 7);

    let mut program = Program::new("once");
    let kept = program.fifo("kept", 2, |_| 0_u64);
    let words = told(|| {
        program.task("write", |task| {
            let _once = task.writes(&kept);
            || ()
        });
    });
    assert!(words.contains("which keeps 2 values"), "{words}");
}
