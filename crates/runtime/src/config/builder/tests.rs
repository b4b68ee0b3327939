//! Tests of the settings that need no threads.

use super::*;

#[test]
fn list_that_names_a_cpu_twice_shares_it() {
    let list = |numbers: &[u32]| Affinity::Explicit(numbers.iter().copied().map(CpuId).collect());
    assert!(shares_a_cpu(&list(&[0, 1, 0])));
    assert!(!shares_a_cpu(&list(&[1, 0])));
    assert!(!shares_a_cpu(&Affinity::Compact));
}

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
