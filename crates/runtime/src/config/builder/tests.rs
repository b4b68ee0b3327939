//! Tests of the settings that need no threads.

use super::*;

#[test]
fn worker_count_out_of_range_is_refused() {
    for found in [0, WORKER_COUNT_MAX + 1] {
        let error = Builder::new()
            .workers(found)
            .build()
            .expect_err("no such runtime");
        assert!(
            error
                .to_string()
                .starts_with(&format!("{found} workers: expected 1 to"))
        );
    }
}

#[test]
fn plan_has_an_entry_per_worker() {
    let plan = Builder::new()
        .workers(3)
        .affinity(Affinity::None)
        .plan()
        .expect("a plan");
    assert_eq!(plan.entries.len(), 3);
}
