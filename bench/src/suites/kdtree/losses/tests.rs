//! The table of lost time, from made-up records.

use super::super::tests::{record, words};
use super::*;

#[test]
fn the_speedup_results_from_idle_workers_and_additional_work() {
    let case = "speedup-bunny-d15";
    let count = |name: &str, value: f64| Record {
        median: value,
        ..record(&format!("{case}/{name}"), "raddle", 2, None)
    };
    let mut records = vec![
        record(case, "raddle", 2, None),
        record(case, "serial", 2, Some(0.625)),
    ];
    assert_eq!(table(&records), None, "nothing was counted");
    records.extend([count("idle", 4.0), count("messages", 99.0)]);
    records.push(record("together-bunny-d15", "serial", 2, None));
    records.push(record("together-bunny-d15", "together", 2, Some(0.8)));
    let table = table(&records).expect("a row");
    let rows = words(&table);
    assert_eq!(
        rows[1],
        [
            "bunny,", "depth", "15", "2", "1.60", "4.0", "%", "1.20", "1.25", "99"
        ]
    );
    assert_eq!(rows.len(), 3);
}
