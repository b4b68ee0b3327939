//! The tables of the grain, from made-up records.

use super::super::tests::{record, words};
use super::*;

/// Returns a sweep in which the middle number of node tasks is the best: the times are 1.2, 0.8 and
/// 1 of the other side's.
fn sweep(mesh: &str, depth: u32, workers: usize) -> Vec<Record> {
    let times = [(1, 1.2), (2, 0.8), (4, 1.0)];
    let of = |(node_tasks, time): (usize, f64)| {
        let case = format!("grain-{mesh}-d{depth}/{node_tasks}");
        [
            record(&case, "raddle", workers, None),
            record(&case, "static", workers, Some(1.0 / time)),
        ]
    };
    times.into_iter().flat_map(of).collect()
}

#[test]
fn a_sweep_contains_one_case_and_one_number_of_workers() {
    let records = [sweep("a", 8, 2), sweep("b", 8, 2), sweep("a", 8, 4)].concat();
    let sweep = Sweep::of(&records, "grain-a-d8", 2);
    assert_eq!(sweep.0.len(), 3);
    assert_eq!(sweep.best(), Some(2));
    let (average, most) = sweep.over_least().expect("three times");
    assert!((average - 1.25).abs() < 1e-9 && (most - 1.5).abs() < 1e-9);
    let none = Sweep::of(&records, "grain-c-d8", 2);
    assert_eq!((none.best(), none.over_least()), (None, None));
}

#[test]
fn the_studys_figures_are_shown_for_the_same_depth_and_cores() {
    let records = [sweep("a", 8, 2), sweep("a", 15, 2), sweep("a", 8, 3)].concat();
    let table = table(&records).expect("three rows");
    let rows = words(&table);
    assert_eq!(
        rows[1],
        ["a,", "depth", "8", "2", "1.25", "1.50", "2", "1.23", "1.37"]
    );
    assert_eq!(rows[2], ["a,", "depth", "15", "2", "1.25", "1.50", "2"]);
    assert_eq!(rows[3], ["a,", "depth", "8", "3", "1.25", "1.50", "2"]);
    assert_eq!(super::table(&[record("sync-a-d8", "auto", 2, None)]), None);
}

#[test]
fn the_tuned_time_has_a_bound() {
    let records = [
        record("tuned-a-d8/64", "tuned", 2, None),
        record("tuned-a-d8/64", "static", 2, Some(1.02)),
        record("tuned-a-d15/16", "static", 2, Some(1.05)),
        record("grain-a-d8/16", "static", 2, Some(1.05)),
    ];
    let table = table_of_tuned(&records).expect("two rows");
    let rows = words(&table);
    assert_eq!(rows.len(), 3);
    assert_eq!(rows[1], ["a,", "depth", "8", "2", "64", "1.020", "yes"]);
    assert_eq!(rows[2], ["a,", "depth", "15", "2", "16", "1.050", "no"]);
    assert_eq!(table_of_tuned(&records[3..]), None);
}
