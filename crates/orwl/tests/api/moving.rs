//! Operations with more work than was declared are moved to different workers during the run.

use std::hint::black_box;

use raddle_orwl::{Program, Turns};
use raddle_runtime::Runtime;
use raddle_topology::Affinity;

/// Works for some tens of microseconds if `rounds` is 50,000.
fn works(rounds: u64) -> u64 {
    (0..rounds).fold(1, |sum, round| black_box(sum ^ round))
}

/// Returns a program with two pairs of tasks that exchange as much and so are placed together.
///
/// The tasks of one pair have much work, and those of the other have almost none.
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
fn tasks_that_turn_out_to_have_most_of_the_work_are_separated() {
    let runtime = Runtime::builder()
        .workers(2)
        .affinity(Affinity::Auto)
        .build()
        .expect("the workers start");
    let before = program().compute_placement(&runtime);
    let home = |places: &raddle_orwl::ProgramPlacement, at: usize| places.places[at].worker_index;
    assert_eq!(home(&before, 0), home(&before, 1), "{before}");
    let outcome = program().run_on(&runtime, Turns(5_000)).expect("it runs");
    assert!(outcome.moves.moves > 0, "{}", outcome.moves);
    let after = &outcome.placement;
    assert_ne!(home(after, 0), home(after, 1), "{after}\n{}", outcome.moves);
    assert!(
        outcome.moves.why.contains("waiting for the busiest worker"),
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
fn no_operation_is_moved_if_a_placement_rule_was_chosen() {
    let runtime = Runtime::builder()
        .workers(2)
        .affinity(Affinity::None)
        .build()
        .expect("the workers start");
    let outcome = program().run_on(&runtime, Turns(500)).expect("it runs");
    assert_eq!(outcome.moves.looks, 0);
}
