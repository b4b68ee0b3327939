//! Speedups and relative gains, from made-up records.

use super::super::tests::{record, words};
use super::*;

/// Returns records in which Raddle takes half of the time of `serial` and 0.8 of that of `tasks`,
/// on two workers.
fn records(figure: &str, mesh: &str) -> Vec<Record> {
    let case = format!("{figure}-{mesh}-d15");
    vec![
        record(&case, "raddle", 2, None),
        record(&case, "serial", 2, Some(0.5)),
        record(&case, "tasks", 2, Some(0.8)),
    ]
}

#[test]
fn speedups_are_over_the_sequential_builder() {
    let mut records = records("speedup", "bunny");
    records.push(record("dragon-d15", "raddle", 2, None));
    records.push(record("dragon-d15", "serial", 2, Some(0.5)));
    let tables: Vec<_> = charts(&records).iter().map(Chart::table).collect();
    assert_eq!(tables.len(), 2, "a case with bounds is not drawn");
    let rows = words(&tables[0]);
    let head = "fig. 9: bunny, depth 15, speedup over serial";
    assert!(tables[0].starts_with(head), "{}", tables[0]);
    assert_eq!(rows[1], ["raddle", "2.00"]);
    assert_eq!(rows[2], ["tasks", "1.60"]);
    let rows = words(&tables[1]);
    let head = "table II: tasks over raddle, depth 15, relative gain";
    assert!(tables[1].starts_with(head), "{}", tables[1]);
    assert_eq!(rows[1], ["bunny", "1.25"]);
}

#[test]
fn gains_are_shown_beside_those_of_the_study() {
    let mut records = [records("speedup", "bunny"), records("relative", "car")].concat();
    records.push(record("relative-car-d15", "rayon", 2, Some(0.5)));
    records.push(record("relative-car-d15", "rayon", 3, Some(0.4)));
    records[5].mode = "far+loaded".into();
    let table = table(&records).expect("three rows");
    let rows = words(&table);
    assert_eq!(
        rows[0][..6],
        ["table", "II:", "peer/raddle", "workers", "tasks", "rayon"]
    );
    let study = ["2.0", "1.8", "1.7", "2.0"];
    assert_eq!(rows[1][..5], ["bunny,", "depth", "15", "2", "1.25"]);
    assert_eq!(rows[1][5..], study);
    assert_eq!(rows[2][..6], ["car,", "depth", "15", "2", "1.25?", "2.00"]);
    assert_eq!(rows[2][6..], study);
    assert_eq!(rows[3], ["car,", "depth", "15", "3", "2.50"]);
    assert_eq!(super::table(&records[..2]), None);
}
