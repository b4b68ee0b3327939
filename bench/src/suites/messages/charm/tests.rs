//! Earlier figures beside new ones, and the bound.

use super::*;

fn record(case: &str, workers: usize, median: f64, mode: &str) -> Record {
    Record {
        suite: "messages".into(),
        case: case.into(),
        contender: "raddle".into(),
        workers,
        unit: "us".into(),
        median,
        min: median,
        max: median,
        pairs: 5,
        ratio: None,
        ratio_range: None,
        machine: "a machine".into(),
        mode: mode.into(),
        commit: "0123".into(),
    }
}

#[test]
fn the_reference_has_the_same_case_and_workers_and_a_note_about_its_time() {
    let own = record("kneighbor-8-k2-16", 2, 4.1, "near");
    let theirs = reference(&own, "kneighbor-8-k2").expect("the table contains the case");
    assert_eq!(
        (theirs.contender.as_str(), theirs.median, theirs.pairs),
        (CHARM, 8.2, 0)
    );
    assert!((theirs.ratio.expect("a ratio") - 0.5).abs() < 1e-12);
    assert!(theirs.mode.contains("not interleaved"));
    assert_eq!(reference(&record("fib24", 3, 1.0, "near"), "fib24"), None);
    assert_eq!(reference(&own, "kneighbor-9"), None);
}

#[test]
fn the_table_shows_which_figures_are_within_the_bound_and_which_do_not_count() {
    let own = [
        record("trip-post-16", 2, 0.2, "near"),
        record("quiescence", 1, 0.7, "one-thread"),
        record("fib24", 2, 9_000.0, "far"),
    ];
    let theirs: Vec<_> = own
        .iter()
        .filter_map(|own| reference(own, &own.case))
        .collect();
    let records = [&own[..], &theirs].concat();
    let table = table(&records).expect("three rows");
    let rows: Vec<Vec<&str>> = table
        .lines()
        .map(|line| line.split_whitespace().collect())
        .collect();
    assert_eq!(
        rows[1],
        ["trip-post-16", "2", "0.200", "0.420", "0.476", "yes"]
    );
    assert_eq!(
        rows[2],
        ["quiescence", "1", "0.700", "1.200", "0.583", "no"]
    );
    assert_eq!(
        rows[3],
        ["fib24", "2", "9000.000", "87000.000", "0.103", "far"]
    );
    assert_eq!(super::table(&own), None);
}
