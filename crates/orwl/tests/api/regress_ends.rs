//! Regression tests of the end of programs.
//!
//! There were two kinds of bugs: data was reported as broken although it was whole, and tasks
//! waited forever.

use std::ops::ControlFlow;
use std::sync::{Arc, Mutex};

use raddle_orwl::{Program, Turns, WriteHandle};
use raddle_topology::CpuId;

use crate::common::runtime;
use crate::failing::{panic_message, run};

// A task that waits inside a section when the program ends unwinds. Regression: that was taken for
// a panic, and the data of the outer section was reported as broken.
#[test]
fn the_end_of_a_program_breaks_no_location() {
    for _ in 0..100 {
        let mut program = Program::new("converge");
        let (outer, inner) = (program.location("outer", 0), program.location("inner", 0));
        program.task("solve", |task| {
            let mut outer = task.writes_each_turn(&outer);
            let mut inner = task.writes_each_turn(&inner);
            move || {
                outer.section(|outer| {
                    *outer += 1;
                    inner.section(|inner| *inner = *outer);
                });
            }
        });
        program.task("check", |task| {
            let mut inner = task.reads_each_turn(&inner);
            move || match inner.section(|inner| *inner) {
                ..5 => ControlFlow::Continue(()),
                _ => ControlFlow::Break(()),
            }
        });
        let outcome = run(program, Turns::UNTIL_BREAK).expect("it converges");
        assert_eq!(outcome.turns, 4);
        let outer = *outer.read().expect("no task has panicked");
        // The first task may be in a later turn than the one that ended the program.
        assert!((5..=7).contains(&outer), "{outer}");
    }
}

#[test]
fn a_reader_that_panics_breaks_no_location() {
    let mut program = Program::new("reader");
    let number = program.location("number", 7);
    program.task("read", |task| {
        let mut number = task.reads_each_turn(&number);
        move || number.section(|&number| assert_eq!(number, 8, "it is"))
    });
    run(program, Turns(2)).expect_err("it panics");
    assert_eq!(*number.read().expect("no task wrote"), 7);
}

// Regression: in a run without turns, a future that does not request turns entered its section all
// the same.
#[test]
fn a_future_has_no_turn_in_a_run_without_turns() {
    let mut program = Program::new("none");
    let number = program.location("number", 0);
    program.async_task("task", |task| {
        let mut number = task.writes_each_turn(&number);
        async move { *number.enter().await += 1 }
    });
    assert_eq!(run(program, Turns(0)).expect("nothing to do").turns, 0);
    assert_eq!(*number.read().expect("no task panics"), 0);
}

// Regression: a future that does not request turns ended the whole program with its one turn.
#[test]
fn a_future_of_one_turn_lets_the_others_go_on() {
    let mut program = Program::new("first");
    let number = program.location("number", 0);
    program.async_task("first", |task| {
        let mut number = task.writes_each_turn(&number);
        async move { *number.enter().await = 100 }
    });
    program.task("count", |task| {
        let mut number = task.writes_each_turn(&number);
        move || number.section(|number| *number += 1)
    });
    assert_eq!(run(program, Turns(50)).expect("it runs").turns, 50);
    assert_eq!(*number.read().expect("no task panics"), 150);
}

// Regression: a task that accessed a location of its program as if from outside waited for itself.
// If another task panicked, it waited forever.
#[test]
fn a_task_may_not_access_a_location_of_its_program_from_outside() {
    let mut program = Program::new("inside");
    let number = program.location("number", 0);
    let same = number.clone();
    program.task("task", |task| {
        let mut number = task.writes_each_turn(&number);
        move || {
            let old = *same.read().expect("no task panics");
            number.section(|number| *number = old + 1);
        }
    });
    let error = run(program, Turns(2)).expect_err("it would wait for itself");
    let expected =
        "location \"number\" was requested from outside in a turn of a task of its own program";
    assert!(error.to_string().contains(expected), "{error}");
}

// Regression: a handle that was moved out of its task kept its place after the run, and a read from
// outside waited for it.
#[test]
fn a_handle_that_outlives_the_run_is_reported() {
    let kept: Arc<Mutex<Option<WriteHandle<i32>>>> = Arc::default();
    let mut program = Program::new("kept");
    let number = program.location("number", 0);
    program.task("task", |task| {
        *kept.lock().expect("one thread") = Some(task.writes_each_turn(&number));
        let (kept, mut turns) = (Arc::clone(&kept), 0);
        move || {
            turns += 1;
            if turns == 3 {
                return ControlFlow::Break(());
            }
            let mut kept = kept.lock().expect("one thread");
            let handle = kept.as_mut().expect("it was made");
            handle.section(|number| *number += 1);
            ControlFlow::Continue(())
        }
    });
    assert_eq!(run(program, Turns::UNTIL_BREAK).expect("it runs").turns, 2);
    let text = panic_message(|| number.read().map(|number| *number));
    assert_eq!(
        text,
        "task task has left behind a handle on location \"number\", which keeps its place; \
         expected handles to be dropped with their task"
    );
    kept.lock().expect("one thread").take();
    assert_eq!(*number.read().expect("no task panics"), 2);
}

// Regression: two tasks waited for each other, since one of them was still in the section of an
// earlier turn.
#[test]
fn a_section_that_outlives_its_turn_is_an_error() {
    let mut program = Program::new("across");
    let (left, right) = (program.location("left", 0), program.location("right", 0));
    program.async_task("holder", |task| {
        let mut left = task.writes_each_turn(&left);
        let mut right = task.writes_each_turn(&right);
        let mut turns = task.turns();
        async move {
            assert!(turns.next());
            *right.enter().await += 1;
            let section = left.enter().await;
            while turns.next() {
                *right.enter().await += 1;
            }
            drop(section);
        }
    });
    program.async_task("other", |task| {
        let mut left = task.writes_each_turn(&left);
        let mut right = task.writes_each_turn(&right);
        let mut turns = task.turns();
        async move {
            while turns.next() {
                *left.enter().await += 1;
                *right.enter().await += 1;
            }
        }
    });
    let error = run(program, Turns(4)).expect_err("it is still in its section");
    let expected = "task holder was still in its section on location \"left\" at the end of turn 0";
    assert!(error.to_string().contains(expected), "{error}");
}

// Regression: some threads had already started when it was found that the next one had no place.
#[test]
fn a_placement_has_to_fit() {
    let runtime = runtime(2);
    let program = |tasks: usize| {
        let mut program = Program::new("tasks");
        for index in 0..tasks {
            let number = program.location(format!("number {index}"), 0);
            program.task(format!("task {index}"), |task| {
                let mut number = task.writes_each_turn(&number);
                move || number.section(|number| *number += 1)
            });
        }
        program
    };
    let failure = |mut of: Program, placement| {
        of.apply_placement(placement);
        let error = of.run_on(&runtime, Turns(1)).expect_err("it does not fit");
        error.to_string()
    };
    let small = program(1).compute_placement(&runtime);
    assert_eq!(
        failure(program(3), small),
        "the placement of program \"tasks\" does not fit: it has 1 places; \
         expected one for each of 3 operations"
    );
    let mut wrong = program(1).compute_placement(&runtime);
    wrong.places[0].worker_index = 99;
    assert_eq!(
        failure(program(1), wrong),
        "the placement of program \"tasks\" does not fit: it names worker 99; \
         expected one below 2"
    );
    // Such a program ran on another CPU, but its outcome named this one.
    let mut wrong = program(1).compute_placement(&runtime);
    wrong.places[0].cpu = Some(CpuId(65_535));
    assert_eq!(
        failure(program(1), wrong),
        "the placement of program \"tasks\" does not fit: it names CPU 65535; \
         expected one of this machine"
    );
}
