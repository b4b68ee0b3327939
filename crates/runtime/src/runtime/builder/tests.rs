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
fn errors_show_whether_a_setting_caused_them() {
    let of_settings = |builder: Builder| builder.build().is_err_and(|it| it.is_of_the_settings());
    assert!(of_settings(Builder::new().workers(0)));
    assert!(of_settings(Builder::new().workers(1).thread_name("a\0b")));
    let nowhere = Affinity::Explicit(vec![CpuId(u32::MAX)]);
    assert!(of_settings(Builder::new().workers(1).affinity(nowhere)));
    // The errors for `RADDLE_WORKERS=0`, and for a number that is out of range.
    for text in ["0", "5000"] {
        let name = "RADDLE_WORKERS";
        let reason = text.to_owned();
        assert!(BuildError::Environment { name, reason }.is_of_the_settings());
    }
    let no_thread = BuildError::Thread {
        worker_index: 0,
        source: std::io::Error::other("none"),
    };
    assert!(!no_thread.is_of_the_settings());
    assert!(!BuildError::DefaultIsUp.is_of_the_settings());
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
