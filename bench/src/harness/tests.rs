//! Tests of the pairs that count, of figures and ratios, and of a peer that fails.

use super::*;

fn pair(raddle: f64, peer: f64, before: Mode, after: Mode, foreign_share: f64) -> Pair {
    Pair {
        raddle,
        peer,
        mode_before: before,
        mode_after: after,
        foreign_share,
    }
}

fn environment() -> Environment {
    Environment {
        machine: "a machine".into(),
        commit: "0123".into(),
    }
}

fn wanted(pairs: usize) -> Wanted {
    Wanted {
        pairs,
        only_near: false,
    }
}

fn case(tolerance: u64) -> Case<'static> {
    Case {
        suite: "suite",
        name: "case",
        unit: Unit::Milliseconds,
        repetitions: 2,
        file: None,
        expected: 100,
        tolerance,
    }
}

fn answering(
    name: &'static str,
    milliseconds: u64,
    result: u64,
) -> Local<impl FnMut(&Request<'_>) -> Result<Sample, BenchError>> {
    Local::new(name, move |_request: &Request<'_>| {
        Ok(Sample {
            time: Duration::from_millis(milliseconds),
            result,
        })
    })
}

#[test]
fn a_pair_counts_if_its_probes_agree_and_no_other_process_ran() {
    use Mode::{Far, Near};
    assert!(pair(1.0, 1.0, Near, Near, 0.04).is_undisturbed());
    assert!(!pair(1.0, 1.0, Near, Far, 0.0).is_undisturbed());
    assert!(!pair(1.0, 1.0, Near, Near, 0.06).is_undisturbed());
}

#[test]
fn only_pairs_of_the_same_mode_are_combined() {
    use Mode::{Far, Near};
    let pairs = [
        pair(1.0, 2.0, Near, Near, 0.0),
        pair(9.0, 9.0, Far, Far, 0.0),
        pair(1.0, 2.0, Near, Near, 0.0),
        pair(5.0, 5.0, Near, Far, 0.0),
    ];
    let taken = undisturbed_of_one_mode(&pairs, wanted(3));
    assert_eq!(taken.len(), 2);
    assert_eq!(mode_of(&taken), "near");
    assert_eq!(mode_of(&pairs), "mixed+loaded");
}

#[test]
fn pairs_of_the_far_mode_do_not_count_if_only_the_near_mode_does() {
    use Mode::{Far, Near, OneThread};
    let pairs = [
        pair(9.0, 9.0, Far, Far, 0.0),
        pair(9.0, 9.0, Far, Far, 0.0),
        pair(1.0, 2.0, Near, Near, 0.0),
    ];
    assert_eq!(undisturbed_of_one_mode(&pairs, wanted(1)).len(), 2);
    let only_near = Wanted {
        pairs: 1,
        only_near: true,
    };
    let taken = undisturbed_of_one_mode(&pairs, only_near);
    assert_eq!((taken.len(), taken[0].raddle), (1, 1.0));
    let alone = [pair(3.0, 3.0, OneThread, OneThread, 0.0)];
    assert_eq!(undisturbed_of_one_mode(&alone, only_near).len(), 1);
}

#[test]
fn a_figure_is_per_repetition_and_a_rate_counts_events() {
    let time = Duration::from_millis(10);
    assert!((Unit::Milliseconds.figure(time, 2) - 5.0).abs() < 1e-9);
    assert!((Unit::Microseconds.figure(time, 2) - 5_000.0).abs() < 1e-6);
    assert!((Unit::PerSecond.figure(time, 2) - 200.0).abs() < 1e-9);
    let rays = Unit::MillionsPerSecond {
        name: "Mrays/s",
        events: 1_000_000,
    };
    assert!((rays.figure(time, 1) - 100.0).abs() < 1e-9);
}

#[test]
fn the_ratio_is_raddles_figure_over_the_peers() {
    let mut peers: Vec<Box<dyn Contender>> = vec![Box::new(answering("peer", 20, 100))];
    let records = compare(
        &case(0),
        1,
        wanted(3),
        &mut answering("raddle", 10, 100),
        &mut peers,
        &environment(),
        &mut |_| {},
    )
    .expect("both compute the right number");
    assert_eq!(records.len(), 2);
    assert_eq!(
        (records[0].contender.as_str(), records[0].ratio),
        ("raddle", None)
    );
    assert_eq!(records[1].contender, "peer");
    assert!((records[1].ratio.expect("a peer has a ratio") - 0.5).abs() < 1e-12);
    assert!((records[0].median - 5.0).abs() < 1e-9);
    assert_eq!(records[1].pairs, 3);
}

#[test]
fn a_peer_that_computes_something_else_is_named_and_left_out() {
    let mut warnings = Vec::new();
    let mut peers: Vec<Box<dyn Contender>> = vec![Box::new(answering("liar", 20, 99))];
    let records = compare(
        &case(0),
        1,
        wanted(3),
        &mut answering("raddle", 10, 100),
        &mut peers,
        &environment(),
        &mut |message| warnings.push(message),
    )
    .expect("Raddle itself is right");
    assert_eq!(records.len(), 1);
    assert!(
        warnings[0].contains("liar") && warnings[0].contains("99"),
        "{warnings:?}"
    );
}

#[test]
fn a_wrong_result_of_raddle_is_an_error() {
    let refused = compare(
        &case(1),
        1,
        wanted(3),
        &mut answering("raddle", 10, 102),
        &mut [],
        &environment(),
        &mut |_| {},
    );
    assert!(matches!(
        refused,
        Err(BenchError::WrongResult { found: 102, .. })
    ));
}

#[test]
fn without_peers_raddle_is_measured_alone() {
    let records = compare(
        &case(0),
        1,
        wanted(2),
        &mut answering("raddle", 10, 100),
        &mut [],
        &environment(),
        &mut |_| {},
    )
    .expect("nothing can fail");
    assert_eq!(records.len(), 1);
    assert_eq!(records[0].pairs, 2);
}
