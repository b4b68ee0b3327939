//! Operations whose work nobody has declared rightly end on different workers.

#![cfg(not(any(loom, shuttle)))]

use std::hint::black_box;

use raddle_orwl::{Program, Turns};
use raddle_runtime::Runtime;
use raddle_topology::Affinity;

/// Some tens of microseconds of work.
fn works(rounds: u64) -> u64 {
    (0..rounds).fold(1, |sum, round| black_box(sum ^ round))
}

/// Two tasks that work much and exchange much, so that they are placed together, and two that do neither.
fn program() -> Program {
    let mut program = Program::new("lopsided");
    for (pair, rounds) in [("busy", 50_000), ("idle", 1)] {
        let here = program.location(format!("{pair} here"), vec![0_u64; 1 << 7]);
        let there = program.location(format!("{pair} there"), vec![0_u64; 1 << 7]);
        for (name, from, to) in [("a", &here, &there), ("b", &there, &here)] {
            program.async_task(format!("{pair} {name}"), |task| {
                let (mut from, mut to) = (task.reads_each_turn(from), task.writes_each_turn(to));
                let mut turns = task.turns();
                async move {
                    while turns.next() {
                        let from = from.enter().await[0];
                        let worked = works(rounds);
                        to.enter().await[0] = from + (worked & 1);
                    }
                }
            });
        }
    }
    program
}

#[test]
fn tasks_that_turn_out_to_be_the_work_are_parted() {
    let runtime = Runtime::builder()
        .workers(2)
        .affinity(Affinity::Auto)
        .build()
        .expect("two workers come up");
    let before = program().compute_placement(&runtime);
    let home = |places: &raddle_orwl::ProgramPlacement, at: usize| places.places[at].worker_index;
    assert_eq!(home(&before, 0), home(&before, 1), "{before}");
    let outcome = program().run_on(&runtime, Turns(5_000)).expect("it runs");
    assert!(outcome.moves.moves > 0, "{}", outcome.moves);
    let after = &outcome.placement;
    assert_ne!(home(after, 0), home(after, 1), "{after}\n{}", outcome.moves);
    assert!(
        outcome.moves.why.contains("waiting for the fullest worker"),
        "{}",
        outcome.moves
    );
    assert!(
        runtime
            .report()
            .to_string()
            .contains("operations of lopsided")
    );
}

#[test]
fn nobody_is_moved_where_placement_was_asked_for() {
    let runtime = Runtime::builder()
        .workers(2)
        .affinity(Affinity::None)
        .build()
        .expect("two workers come up");
    let outcome = program().run_on(&runtime, Turns(500)).expect("it runs");
    assert_eq!(outcome.moves.looks, 0);
}
