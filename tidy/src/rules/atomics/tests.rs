//! Atomics that come from elsewhere, and orderings without a reason.

use super::*;

fn beside_prim(path: &str, text: &str) -> usize {
    check_source(&Tree::made_up(&[(path, text)])).len()
}

fn reasons(text: &str) -> usize {
    check_reasons(&Tree::made_up(&[("crates/sync/src/wait.rs", text)])).len()
}

#[test]
fn the_standard_librarys_atomics_are_found_however_they_are_named() {
    for text in [
        "use std::sync::atomic::AtomicU32;",
        "use core::sync::atomic;",
        "use std::sync::{Arc, atomic::AtomicU32};",
        "let x = std::sync::atomic::AtomicU32::new(0);",
    ] {
        assert_eq!(beside_prim("apps/graphics/src/a.rs", text), 1, "{text}");
    }
}

#[test]
fn prim_may_name_them() {
    assert_eq!(
        beside_prim(
            "crates/sync/src/prim/real.rs",
            "use std::sync::atomic::AtomicU32;"
        ),
        0
    );
    assert_eq!(
        beside_prim(
            "crates/sync/src/wait.rs",
            "use crate::prim::AtomicU32; // std::sync::atomic"
        ),
        0
    );
}

#[test]
fn an_ordering_without_a_reason_is_found() {
    assert_eq!(reasons("x.load(Acquire);"), 1);
    assert_eq!(reasons("x.load(Ordering::SeqCst);"), 1);
}

#[test]
fn a_label_or_a_reason_for_relaxed_near_the_use_passes() {
    assert_eq!(reasons("// ORDERING(O1): pairs.\nx.load(Acquire);"), 0);
    assert_eq!(reasons("// ORDERING: Acquire, pairs.\nx.load(Acquire);"), 0);
    assert_eq!(reasons("x.load(Relaxed); // Relaxed: only a hint."), 0);
    assert_eq!(
        reasons("// ORDERING(O1): pairs.\n\n\n\n\n\nx.load(Acquire);"),
        0
    );
}

#[test]
fn a_reason_too_far_away_does_not_count() {
    assert_eq!(
        reasons("// ORDERING(O1): pairs.\n\n\n\n\n\n\nx.load(Acquire);"),
        1
    );
}

#[test]
fn imports_need_no_reason_and_end_with_their_semicolon() {
    assert_eq!(
        reasons("use crate::prim::{\n    Acquire,\n    Relaxed,\n};\n"),
        0
    );
    assert_eq!(
        reasons("use crate::prim::{\n    Acquire,\n};\nx.load(Acquire);"),
        1
    );
}

#[test]
fn every_crate_gives_reasons_and_tests_need_none() {
    let found = |path: &str| check_reasons(&Tree::made_up(&[(path, "x.load(Acquire);")])).len();
    for path in [
        "crates/sync/tests/a.rs",
        "crates/sync/src/wait/tests.rs",
        "crates/sync/src/prim/real.rs",
        "fuzz/fuzz_targets/a.rs",
    ] {
        assert_eq!(found(path), 0, "{path}");
    }
    for path in [
        "crates/net/src/mapped/memory.rs",
        "crates/topology/src/claims.rs",
        "crates/orwl/src/handle.rs",
        "apps/graphics/src/render.rs",
        "cli/src/main.rs",
        "bench/src/suites/forks.rs",
    ] {
        assert_eq!(found(path), 1, "{path}");
    }
}

#[test]
fn a_reason_for_all_relaxed_below_covers_no_other_ordering_and_nothing_above() {
    let reason = "// Relaxed in all accessors below: a statistic.\n";
    let distance = "\n".repeat(REASON_DISTANCE + 1);
    assert_eq!(reasons(&format!("{reason}{distance}x.load(Relaxed);")), 0);
    assert_eq!(reasons(&format!("{reason}{distance}x.load(Acquire);")), 1);
    assert_eq!(reasons(&format!("x.load(Relaxed);{distance}{reason}")), 1);
}

#[test]
fn threads_locks_and_clocks_that_no_model_sees_are_found() {
    let models = |path: &str, text: &str| check_models(&Tree::made_up(&[(path, text)])).len();
    for text in [
        "use std::thread;",
        "use std::{ptr, thread};",
        "use std::sync::{Arc, Mutex};",
        "let now = std::time::Instant::now();",
        "born: quanta::Instant,",
    ] {
        assert_eq!(models("crates/runtime/src/worker.rs", text), 1, "{text}");
        assert_eq!(
            models("crates/runtime/src/pool/tests.rs", text),
            0,
            "{text}"
        );
        assert_eq!(models("crates/sync/src/prim/real.rs", text), 0, "{text}");
        assert_eq!(models("crates/topology/src/load.rs", text), 0, "{text}");
    }
    for text in [
        "use raddle_sync::prim::{Mutex, thread};",
        "use raddle_sync::clock::Instant;",
        "use std::sync::Arc;",
        "result: std::thread::Result<R>,",
    ] {
        assert_eq!(models("crates/runtime/src/worker.rs", text), 0, "{text}");
    }
}
