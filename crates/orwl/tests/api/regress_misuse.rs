//! Regression tests of the use of handles.
//!
//! There were two kinds of bugs: tasks waited forever, and half-written data was returned as whole.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::pin::pin;
use std::task::Poll;

use raddle_orwl::{Location, Program, RunError, Turns};

use crate::common::runtime;
use crate::failing::{panic_message, run};

/// Declares a task that doubles the number in each turn.
fn doubles(program: &mut Program, number: &Location<i32>) {
    program.task("double", |task| {
        let mut number = task.writes_each_turn(number);
        move || number.section(|number| *number *= 2)
    });
}

// Regression: with more such tasks than workers, the program hung. The next future was in the queue
// of the worker that waited, and compensating threads do not look there.
#[test]
fn a_future_that_waits_on_its_thread_is_an_error() {
    let mut program = Program::new("blocking");
    let number = program.location("number", 0);
    for name in ["one", "two", "three"] {
        program.async_task(name, |task| {
            let mut number = task.writes_each_turn(&number);
            let mut turns = task.turns();
            async move {
                while turns.next() {
                    number.section(|number| *number += 1);
                }
            }
        });
    }
    let failure = run(program, Turns(1_000)).expect_err("it is refused");
    assert!(
        failure.to_string().contains("expected `.enter().await`"),
        "{failure}"
    );
}

// Regression: a one-shot handle that was kept after its use was reported as not used in the second
// turn.
#[test]
fn a_one_shot_handle_may_be_kept_after_its_use() {
    let mut program = Program::new("once");
    let (first, sum) = (program.location("first", 5), program.location("sum", 0));
    program.async_task("add", |task| {
        let mut first = task.reads(&first);
        let mut sum = task.writes_each_turn(&sum);
        let mut turns = task.turns();
        async move {
            let mut kept = 0;
            while turns.next() {
                if turns.turn() == 0 {
                    kept = *first.enter().await;
                }
                *sum.enter().await += kept;
            }
        }
    });
    let outcome = run(program, Turns(4)).expect("it runs");
    assert_eq!((outcome.turns, outcome.sections), (4, 5));
    assert_eq!(*sum.read().expect("whole"), 20);
}

// Regression: a task caught the unwinding at the end of the program and then panicked. The panic
// was taken for the same unwinding.
#[test]
fn a_panic_after_a_caught_unwinding_breaks_the_location() {
    let mut program = Program::new("caught");
    let (ball, pair) = (
        program.location("ball", 0),
        program.location("pair", (0, 0)),
    );
    program.task("wait", |task| {
        let mut pair = task.writes_each_turn(&pair);
        let mut ball = task.writes_each_turn(&ball);
        move || {
            pair.section(|pair| {
                let ended = catch_unwind(AssertUnwindSafe(|| ball.section(|ball| *ball += 1)));
                if ended.is_err() {
                    drop(ended);
                    pair.0 += 1;
                    panic!("between the two");
                }
            });
        }
    });
    program.task("fail", |task| {
        let mut ball = task.writes_each_turn(&ball);
        let mut turn = 0;
        move || {
            ball.section(|ball| *ball += 1);
            turn += 1;
            assert!(turn < 3, "it ends here");
        }
    });
    let failure = run(program, Turns::UNTIL_BREAK).expect_err("a task panics");
    assert!(failure.to_string().contains("panicked"), "{failure}");
    let pair = pair.read().map(|pair| *pair);
    assert!(pair.is_err() || pair.is_ok_and(|(one, two)| one == two));
}

// A future has several nested futures, one of which panics. Regression: the sections in the others
// were given back as if no panic had happened.
#[test]
fn a_panic_breaks_the_sections_of_nested_futures() {
    let mut program = Program::new("joined");
    let (pair, gate) = (
        program.location("pair", (0, 0)),
        program.location("gate", 0),
    );
    program.async_task("write", |task| {
        let mut pair = task.writes_each_turn(&pair);
        let mut gate = task.writes_each_turn(&gate);
        async move {
            let mut half = Box::pin(async {
                let mut pair = pair.enter().await;
                pair.0 = 1;
                std::future::pending::<()>().await;
                pair.1 = 1;
            });
            let half_first = std::future::poll_fn(move |context| {
                let _is_pending = half.as_mut().poll(context);
                let mut gate = pin!(gate.enter());
                assert!(gate.as_mut().poll(context).is_pending(), "beside it");
                Poll::<()>::Pending
            });
            half_first.await;
        }
    });
    let failure = run(program, Turns(1)).expect_err("it panics");
    assert!(failure.to_string().contains("beside it"), "{failure}");
    assert!(pair.read().is_err(), "half of it was written");
}

// Regression: a request for a whole from outside came between the requests of a task for two
// pieces. It was ahead of the task in one FIFO, and behind it in the other.
#[test]
fn a_whole_may_not_be_requested_from_outside_while_tasks_use_its_pieces() {
    let mut program = Program::new("whole");
    let split = program.split("numbers", vec![0_u64; 8], 2);
    program.task("both", |task| {
        let mut left = task.writes_each_turn(&split.pieces[0]);
        let mut right = task.writes_each_turn(&split.pieces[1]);
        move || left.section(|left| right.section(|right| right[0] = left[0] + 1))
    });
    assert_eq!(split.whole.read().expect("whole").len(), 8);
    let (piece, whole) = (split.pieces[1].clone(), split.whole.clone());
    let outsider = std::thread::spawn(move || {
        // Wait until the first turn is over. The program then runs until this thread writes below.
        while piece.read().expect("whole")[0] == 0 {}
        let refused = catch_unwind(AssertUnwindSafe(|| whole.read().map(|_| ())));
        piece.write().expect("whole")[3] = 1;
        refused.is_err()
    });
    let seen = split.pieces[1].clone();
    program.task("end", |task| {
        let mut right = task.reads_each_turn(&seen);
        move || match right.section(|right| right[3]) {
            0 => std::ops::ControlFlow::Continue(()),
            _ => std::ops::ControlFlow::Break(()),
        }
    });
    run(program, Turns::UNTIL_BREAK).expect("it ends");
    assert!(outsider.join().expect("the thread ends, too"));
    assert_eq!(split.whole.read().expect("whole")[7], 1);
}

/// Operations were moved away from an applied placement, and the outcome had another placement.
#[test]
fn no_operation_is_moved_away_from_an_applied_placement() {
    let mut program = Program::new("applied");
    let cells: Vec<_> = (0..4)
        .map(|cell| program.location(format!("{cell}"), vec![0_u64; 64]))
        .collect();
    for (index, cell) in cells.iter().enumerate() {
        let other = &cells[index ^ 1];
        program.task(cell.name(), |task| {
            let mut own = task.writes_each_turn(cell);
            let mut other = task.reads_each_turn(other);
            move || {
                let seen = other.section(|other| other[0]);
                own.section(|own| own[0] = seen + 1);
            }
        });
    }
    let runtime = runtime(2);
    let mut placement = program.compute_placement(&runtime);
    for (index, place) in placement.places.iter_mut().enumerate() {
        place.worker_index = index % 2;
    }
    program.apply_placement(placement.clone());
    let outcome = program.run_on(&runtime, Turns(20_000)).expect("it runs");
    assert_eq!(outcome.placement, placement);
    assert_eq!(outcome.moves.looks, 0);
}

#[test]
#[should_panic(expected = "expected a positive number")]
fn a_load_that_is_not_a_number_is_an_error() {
    Program::new("load").task("idle", |task| {
        task.load(f64::NAN);
        || ()
    });
}

// Regression: the program hung. Tasks waited for a guard of the thread that had started the
// program, and that thread waited for the end of the program.
#[test]
fn the_thread_that_starts_a_program_may_not_hold_its_locations() {
    let declare = || {
        let mut program = Program::new("held");
        let number = program.location("number", 1);
        let other = program.location("other", 2);
        doubles(&mut program, &number);
        (program, number, other)
    };
    let (program, number, _) = declare();
    let held = number.read().expect("whole");
    let failure = run(program, Turns(3)).expect_err("it is refused");
    assert!(matches!(&failure, RunError::Held { location, .. } if location == "number"));
    drop(held);
    let (program, number, other) = declare();
    drop((number.write(), other.read()));
    run(program, Turns(3)).expect("it runs");
    assert_eq!(*number.read().expect("whole"), 8);
}

// Regression: the declaration of a task panicked. Its first handle kept its place, and all tasks
// behind it waited forever.
#[test]
fn a_failed_declaration_keeps_no_task_waiting() {
    let mut program = Program::new("undeclared");
    let number = program.location("number", 1);
    let twice = catch_unwind(AssertUnwindSafe(|| {
        program.task("twice", |task| {
            let mut one = task.writes_each_turn(&number);
            let _two = task.writes_each_turn(&number);
            move || one.section(|number| *number = 0)
        });
    }));
    assert!(twice.is_err());
    doubles(&mut program, &number);
    run(program, Turns(3)).expect("it runs");
    assert_eq!(*number.read().expect("whole"), 8);
}

// Regression: a thread that requested a location while it held a conflicting guard waited forever.
#[test]
fn a_thread_may_not_request_a_location_in_conflict_with_its_own_guard() {
    let mut program = Program::new("twice");
    let number = program.location("number", 1);
    let split = program.split("items", vec![1, 2], 2);
    let assert_refused = |request: &dyn Fn()| {
        let message = panic_message(request);
        assert!(message.contains("would wait for itself"), "{message}");
    };
    let writes = number.write().expect("whole");
    assert_refused(&|| drop(number.write()));
    assert_refused(&|| drop(number.read()));
    drop(writes);
    let reads = (number.read(), number.read());
    assert_refused(&|| drop(number.write()));
    drop(reads);
    drop(number.write().expect("whole"));
    let piece = split.pieces[0].read().expect("whole");
    drop(split.pieces[1].write().expect("whole"));
    drop(split.whole.read().expect("whole"));
    assert_refused(&|| drop(split.whole.write()));
    drop(piece);
    let whole = split.whole.write().expect("whole");
    assert_refused(&|| drop(split.pieces[1].read()));
    drop(whole);
}
