//! Regression tests of waits and old values.
//!
//! There were two kinds of bugs: waits that never ended were not reported, and an old value was
//! returned as the newest.

use std::sync::mpsc::channel;

use raddle_orwl::{Program, Turns};

use crate::common::runtime;
use crate::failing::{panic_message, run};

// Regression: the worker slept until the task ahead would go on. That task had this worker as its
// home.
#[test]
fn a_worker_may_not_wait_from_outside_for_tasks_that_it_runs() {
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
                    begun.send(()).expect("a thread waits");
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
            let message = workers.spawn(move || panic_message(|| of_worker.read().map(|_| ())));
            let message = message.wait();
            // A thread that is not a worker may read.
            assert!(*number.read().expect("whole") > 0);
            seen.send(()).expect("it runs");
            message
        });
        program
            .run_on(&runtime, Turns::UNTIL_BREAK)
            .expect("it runs");
        let message = asks.join().expect("the read is refused");
        assert!(
            message.contains("was requested on a worker that runs"),
            "{message}"
        );
    });
    let after = number.clone();
    let read = runtime.spawn(move || *after.read().expect("whole"));
    assert!(read.wait() > 0, "the worker may read after the run");
}

// Regression: in both cases, the task waited for a section that was never requested.
#[test]
fn a_handle_that_would_get_no_section_is_an_error() {
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
    let failure = run(program, Turns(3)).expect_err("it is refused");
    let expected = "task late has no section on location \"number\" in turn 1";
    assert!(failure.to_string().contains(expected), "{failure}");

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
    let failure = run(program, Turns(3)).expect_err("it is refused");
    let expected = "has no section on location \"number\" in turn 3";
    assert!(failure.to_string().contains(expected), "{failure}");
    assert_eq!(*number.read().expect("whole"), 3);
}

// Regression: the value of the last turn was taken for the newest, even if no task had written in
// that turn.
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
    let message = panic_message(|| {
        program.task("write", |task| {
            let _once = task.writes(&kept);
            || ()
        });
    });
    assert!(message.contains("which keeps 2 values"), "{message}");
}
