//! Misuse of programs is reported, and no program hangs.

use std::sync::{Arc, Mutex};

use raddle_orwl::{Program, RunError, Turns, WriteHandle};

use crate::common::runtime;
use crate::failing::{panic_message, run};

/// Runs a program that fails, and returns the error message.
fn failure(program: Program, turns: u64) -> String {
    run(program, Turns(turns))
        .expect_err("it fails")
        .to_string()
}

#[test]
fn a_program_without_tasks_is_refused() {
    let text = failure(Program::new("nothing"), 1);
    assert_eq!(
        text,
        "program \"nothing\" has no tasks; expected at least one"
    );
}

#[test]
fn a_worker_waits_for_threads_but_not_for_futures_that_it_would_run() {
    let runtime = runtime(1);
    let program = |is_async| {
        let mut program = Program::new("inner");
        let number = program.location("number", 0);
        if is_async {
            program.async_task("task", |task| {
                let mut number = task.writes_each_turn(&number);
                async move { *number.enter().await += 1 }
            });
        } else {
            program.task("task", |task| {
                let mut number = task.writes_each_turn(&number);
                move || number.section(|number| *number += 1)
            });
        }
        program
    };
    let refused = runtime.install(|| program(true).run_on(&runtime, Turns(1)));
    let text = refused.expect_err("it would wait for itself").to_string();
    assert!(
        text.contains("started on a worker of the runtime that would run them"),
        "{text}"
    );
    let outcome = runtime.install(|| program(false).run_on(&runtime, Turns(1)));
    assert_eq!(outcome.expect("the thread runs").turns, 1);
}

#[test]
fn a_location_of_another_program_is_refused() {
    let mut other = Program::new("other");
    let foreign = other.location("foreign", 0);
    let mut program = Program::new("own");
    let text = panic_message(|| {
        program.task("task", |task| {
            let mut foreign = task.reads_each_turn(&foreign);
            move || foreign.section(|_| ())
        });
    });
    assert!(
        text.contains("location \"foreign\" belongs to another program than task task"),
        "{text}"
    );
}

#[test]
fn two_handles_of_a_task_on_one_location_are_refused() {
    let mut program = Program::new("twice");
    let pixels = program.split("pixels", vec![0_u8; 10], 3);
    let text = panic_message(|| {
        program.task("task", |task| {
            let piece = task.reads_each_turn(&pixels.pieces[1]);
            let whole = task.writes_each_turn(&pixels.whole);
            move || {
                let _ = (&piece, &whole);
            }
        });
    });
    assert!(
        text.contains("two handles on location \"pixels\""),
        "{text}"
    );
}

#[test]
fn a_handle_of_another_task_is_refused() {
    let stolen: Arc<Mutex<Option<WriteHandle<u32>>>> = Arc::default();
    let mut program = Program::new("thieves");
    let number = program.location("number", 0_u32);
    let other = program.location("other", 0_u32);
    let left = Arc::clone(&stolen);
    program.task("owner", |task| {
        *left.lock().expect("no panic") = Some(task.writes_each_turn(&number));
        let mut other = task.reads_each_turn(&other);
        move || other.section(|_| ())
    });
    program.task("thief", |task| {
        let mut other = task.writes_each_turn(&other);
        move || {
            other.section(|_| ());
            let mut handle = stolen.lock().unwrap_or_else(|broken| broken.into_inner());
            handle
                .as_mut()
                .expect("it is there")
                .section(|number| *number += 1);
        }
    });
    let text = failure(program, 3);
    // Either task may fail first: the owner because its handle was not used, or the thief because
    // the handle is not its own.
    let is_unused =
        text.contains("task owner did not use its handle on location \"number\" in turn 0");
    let is_stolen = text.contains(
        "the handle of task owner on location \"number\" was used outside of that task's turns",
    );
    assert!(is_unused || is_stolen, "{text}");
}

#[test]
fn a_handle_that_is_used_twice_or_never_in_a_turn_is_an_error() {
    for (times, expected) in [
        (
            2,
            "task task used its handle on location \"number\" a second time in turn 0",
        ),
        (
            0,
            "task task did not use its handle on location \"number\" in turn 0",
        ),
    ] {
        let mut program = Program::new("times");
        let number = program.location("number", 0);
        program.task("task", |task| {
            let mut number = task.writes_each_turn(&number);
            move || (0..times).for_each(|_| number.section(|number| *number += 1))
        });
        program.async_task("other", |task| {
            let mut number = task.reads_each_turn(&number);
            let mut turns = task.turns();
            async move {
                while turns.next() {
                    drop(number.enter().await);
                }
            }
        });
        let text = failure(program, 3);
        assert!(text.contains(expected), "{text}");
    }
}

#[test]
fn a_task_that_panics_in_a_section_breaks_the_location_and_stops_all() {
    for is_async in [false, true] {
        let mut program = Program::new("fragile");
        let (number, copy) = (program.location("number", 0), program.location("copy", 0));
        program.task("count", |task| {
            let mut number = task.writes_each_turn(&number);
            move || {
                number.section(|number| {
                    *number += 1;
                    assert!(*number < 3, "it has reached {number}");
                });
            }
        });
        if is_async {
            program.async_task("copy", |task| {
                let (mut number, mut copy) =
                    (task.reads_each_turn(&number), task.writes_each_turn(&copy));
                let mut turns = task.turns();
                async move {
                    while turns.next() {
                        *copy.enter().await = *number.enter().await;
                    }
                }
            });
        } else {
            program.task("copy", |task| {
                let (mut number, mut copy) =
                    (task.reads_each_turn(&number), task.writes_each_turn(&copy));
                move || number.section(|number| copy.section(|copy| *copy = *number))
            });
        }
        let runtime = runtime(2);
        match program.run_on(&runtime, Turns(100)) {
            Err(RunError::Panicked {
                operation,
                turn,
                message,
                ..
            }) => {
                assert_eq!(
                    (operation.as_str(), turn, message.as_str()),
                    ("count", 2, "it has reached 3")
                );
            }
            other => panic!("expected a panic of count, found {other:?}"),
        }
        let broken = number
            .read()
            .expect_err("a task was writing it")
            .to_string();
        assert!(broken.contains("location \"number\" is broken"), "{broken}");
        assert!(*copy.read().expect("it is whole") <= 2);
        // The runtime is still usable. Only the location is broken.
        let mut again = Program::new("again");
        let fine = again.location("fine", 0);
        again.task("write", |task| {
            let mut fine = task.writes_each_turn(&fine);
            move || fine.section(|fine| *fine += 1)
        });
        again.run_on(&runtime, Turns(5)).expect("it runs");
        assert_eq!(*fine.read().expect("whole"), 5);
    }
}

#[test]
fn a_panic_outside_of_sections_breaks_nothing() {
    let mut program = Program::new("outside");
    let number = program.location("number", 7);
    program.task("reads", |task| {
        let mut number = task.reads_each_turn(&number);
        move || {
            let found = number.section(|number| *number);
            assert!(found == 0, "{found} is not 0");
        }
    });
    program.task("writes", |task| {
        let mut number = task.writes_each_turn(&number);
        move || number.section(|_| ())
    });
    let text = failure(program, 5);
    assert_eq!(
        text,
        "task reads panicked in turn 0: 7 is not 0; all others were stopped"
    );
    assert_eq!(*number.read().expect("no task was writing"), 7);
}
