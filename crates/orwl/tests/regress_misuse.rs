//! Uses of handles that went wrong once: waits without end, and half-written data that was given out as whole.

#![cfg(not(any(loom, shuttle)))]

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::pin::pin;
use std::task::Poll;

use raddle_orwl::{Location, Outcome, Program, RunError, Turns};
use raddle_runtime::Runtime;

fn runtime() -> Runtime {
    Runtime::builder()
        .workers(2)
        .build()
        .expect("two workers come up")
}

fn run(program: Program, turns: Turns) -> Result<Outcome, RunError> {
    program.run_on(&runtime(), turns)
}

fn doubles(program: &mut Program, number: &Location<i32>) {
    program.task("double", |task| {
        let mut number = task.writes_each_turn(number);
        move || number.section(|number| *number *= 2)
    });
}

/// More such tasks than workers stood for ever: the next future was with the worker that waited, and no substitute looks there.
#[test]
fn a_future_that_waits_on_its_thread_is_told() {
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

/// A handle that is used once and kept was missed in the second turn.
#[test]
fn what_is_used_once_may_be_kept() {
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

/// Whoever caught the unwinding of a program that had ended had his next panic taken for more of it.
#[test]
fn a_panic_after_a_caught_end_breaks_what_it_writes() {
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

/// A future of several, one of which panics, has sections in the others: they were given back as if nothing had happened.
#[test]
fn what_stands_beside_a_panic_is_broken_too() {
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

/// Whoever asked for a whole from outside got in between a task's requests for two pieces: in front of it in one, behind it in the other.
#[test]
fn a_whole_is_not_asked_for_from_outside_while_tasks_have_its_pieces() {
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
        // Once the first turn is over the program runs, until it is told that this has been seen.
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
    assert!(outsider.join().expect("it ends, too"));
    assert_eq!(split.whole.read().expect("whole")[7], 1);
}

/// Whoever edits a placement and applies it was moved away from it all the same, and told another one.
#[test]
fn nobody_is_moved_from_where_he_was_put() {
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
    let runtime = runtime();
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
fn a_load_that_is_no_number_is_told() {
    Program::new("load").task("idle", |task| {
        task.load(f64::NAN);
        || ()
    });
}

/// A guard on the thread that starts the program is given back when that is over, for which tasks would wait: it stood for ever.
#[test]
fn who_starts_a_program_holds_nothing_of_it() {
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

/// The first handle of a task whose declaration panicked kept its place, and all behind it waited for ever.
#[test]
fn a_task_that_was_not_declared_keeps_nobody_waiting() {
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

/// Two guards of one thread that exclude each other stood for ever.
#[test]
fn who_holds_a_location_is_told_not_to_ask_again() {
    let mut program = Program::new("twice");
    let number = program.location("number", 1);
    let split = program.split("items", vec![1, 2], 2);
    let told = |ask: &dyn Fn()| {
        let panic = catch_unwind(AssertUnwindSafe(ask)).expect_err("it is refused");
        let words = panic.downcast_ref::<String>().expect("words");
        assert!(words.contains("would wait for itself"), "{words}");
    };
    let writes = number.write().expect("whole");
    told(&|| drop(number.write()));
    told(&|| drop(number.read()));
    drop(writes);
    let reads = (number.read(), number.read());
    told(&|| drop(number.write()));
    drop(reads);
    drop(number.write().expect("whole"));
    let piece = split.pieces[0].read().expect("whole");
    drop(split.pieces[1].write().expect("whole"));
    drop(split.whole.read().expect("whole"));
    told(&|| drop(split.whole.write()));
    drop(piece);
    let whole = split.whole.write().expect("whole");
    told(&|| drop(split.pieces[1].read()));
    drop(whole);
}
