//! Libraries that print.

use super::*;

fn findings(path: &str, text: &str) -> usize {
    check(&Tree::made_up(&[(path, text)])).len()
}

#[test]
fn every_printing_macro_in_a_library_is_found() {
    for name in MACROS {
        let text = format!("fn f() {{ {name}!(1); }}");
        assert_eq!(findings("crates/trace/src/a.rs", &text), 1, "{name}");
    }
}

#[test]
fn programs_examples_and_tests_may_print() {
    for path in [
        "cli/src/a.rs",
        "apps/graphics/examples/a.rs",
        "apps/graphics/build.rs",
        "crates/sync/tests/a.rs",
    ] {
        assert_eq!(findings(path, "println!(\"x\")"), 0, "{path}");
    }
}

#[test]
fn writing_to_a_writer_and_documentation_pass() {
    assert_eq!(
        findings("crates/trace/src/a.rs", "/// println!(1)\nwriteln!(out, 1)"),
        0
    );
}
