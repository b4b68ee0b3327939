//! Unsafe code in the wrong place, and crates that do not forbid it.

use super::*;

fn findings(path: &str, text: &str) -> Vec<String> {
    check(&Tree::made_up(&[(path, text)]))
        .iter()
        .map(ToString::to_string)
        .collect()
}

#[test]
fn unsafe_in_the_wrong_file_is_found_with_its_line() {
    let found = findings(
        "crates/runtime/src/pool.rs",
        "//! x\nfn f() { unsafe { } }\n",
    );
    assert_eq!(
        found,
        ["crates/runtime/src/pool.rs:2: `unsafe` has no place here"]
    );
}

#[test]
fn unsafe_where_it_is_allowed_passes() {
    for path in [
        "crates/sync/src/wait.rs",
        "crates/runtime/src/task/cell.rs",
        "crates/runtime/src/fork.rs",
    ] {
        assert!(findings(path, "unsafe fn f() {}").is_empty(), "{path}");
    }
}

#[test]
fn unsafe_in_a_comment_or_a_string_passes() {
    assert!(findings("cli/src/a.rs", "// unsafe\nlet x = \"unsafe\";\n").is_empty());
}

#[test]
fn a_crate_that_does_not_forbid_unsafe_is_found() {
    assert_eq!(findings("cli/src/main.rs", "fn main() {}").len(), 1);
    assert!(findings("cli/src/main.rs", "#![forbid(unsafe_code)]\nfn main() {}").is_empty());
    assert_eq!(
        findings("cli/src/main.rs", "// #![forbid(unsafe_code)]").len(),
        1
    );
}

#[test]
fn a_crate_that_may_hold_unsafe_need_not_forbid_it() {
    assert!(findings("crates/runtime/src/lib.rs", "").is_empty());
    assert!(findings("crates/sync/src/lib.rs", "").is_empty());
}
