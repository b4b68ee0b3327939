//! Tests of the settings that need no threads.

use raddle_topology::CpuId;

use super::*;

#[test]
fn worker_count_out_of_range_is_refused() {
    for found in [0, WORKER_COUNT_MAX + 1] {
        let error = Builder::new()
            .workers(found)
            .build()
            .expect_err("no such runtime");
        assert!(error.to_string().starts_with(&format!(
            "{found} workers: expected a number from 1 to 4096"
        )));
    }
}

#[test]
fn invalid_settings_are_refused_with_an_error_that_names_them() {
    let error = |builder: Builder| builder.workers(1).build().expect_err("an invalid setting");
    let name = error(Builder::new().thread_name("a\0b"));
    assert!(matches!(name, BuildError::ThreadName { .. }), "{name}");
    let nowhere = Affinity::Explicit(vec![CpuId(u32::MAX)]);
    let plan = error(Builder::new().affinity(nowhere));
    assert!(matches!(plan, BuildError::Plan(_)), "{plan}");
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

/// Checks that rules of the program and of the environment go before `unbound_by_default`.
#[test]
fn workers_are_unbound_by_default_only_without_a_rule() {
    let plan = |builder: Builder| builder.workers(1).plan().expect("it can be planned");
    let bound = plan(
        Builder::new()
            .affinity(Affinity::Compact)
            .unbound_by_default(),
    );
    assert_eq!(bound.cpus().count(), 1);
    let expected = match std::env::var_os("RADDLE_AFFINITY") {
        None => Plan::unbound(1),
        Some(_) => plan(Builder::new()),
    };
    assert_eq!(plan(Builder::new().unbound_by_default()), expected);
}
