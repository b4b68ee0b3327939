//! Only the files that the architecture allows contain `unsafe`, and every other crate forbids it.

use crate::code::lines_with_word;
use crate::tree::{Finding, SourceFile, Tree};

/// Path prefixes of files that may contain `unsafe`; `ARCHITECTURE.md` says why.
pub const ALLOWED: [&str; 15] = [
    "crates/sync/",
    "crates/collections/src/shared_vec",
    "crates/collections/src/two_lists",
    "crates/net/src/mapped/",
    "crates/net/src/transport/mpi/sending.rs",
    "crates/runtime/src/task",
    "crates/runtime/src/fork",
    "crates/runtime/src/enter.rs",
    "crates/runtime/src/open.rs",
    "crates/runtime/src/scope.rs",
    "crates/runtime/src/worker/current.rs",
    "crates/runtime/src/worker/run.rs",
    "crates/runtime/src/origin/tests.rs",
    "crates/rayon-core/src/scope.rs",
    "crates/rayon-core/tests/forks.rs",
];

const FORBID: &str = "#![forbid(unsafe_code)]";

/// Checks every Rust file.
#[must_use]
pub fn check(tree: &Tree) -> Vec<Finding> {
    tree.rust_files().flat_map(check_file).collect()
}

fn check_file(file: &SourceFile) -> Vec<Finding> {
    let mut findings: Vec<Finding> = Vec::new();
    if !ALLOWED.iter().any(|prefix| file.path.starts_with(prefix)) {
        findings.extend(
            lines_with_word(&file.code, "unsafe")
                .map(|line| Finding::new(&file.path, line, "`unsafe` has no place here")),
        );
    }
    if is_crate_root(&file.path) && !may_hold_unsafe(&file.path) && !file.code.contains(FORBID) {
        findings.push(Finding::new(&file.path, 1, format!("expected {FORBID}")));
    }
    findings
}

fn is_crate_root(path: &str) -> bool {
    path.ends_with("/src/lib.rs") || path.ends_with("/src/main.rs")
}

/// Returns true if something in the crate of this root may be unsafe.
fn may_hold_unsafe(root: &str) -> bool {
    let folder = root.rsplit_once('/').map_or("", |(folder, _)| folder);
    ALLOWED
        .iter()
        .any(|prefix| prefix.starts_with(folder) || folder.starts_with(prefix))
}

#[cfg(test)]
mod tests;
