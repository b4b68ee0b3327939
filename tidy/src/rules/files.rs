//! A Rust file begins by saying what it is, and is short enough to be one concept.

use crate::tree::{Finding, SourceFile, Tree};

/// The largest number of lines of a file.
pub const LINES_MAX: usize = 800;

/// Checks that every Rust file begins with a `//!` header; inner attributes may stand before it.
#[must_use]
pub fn check_headers(tree: &Tree) -> Vec<Finding> {
    tree.rust_files()
        .filter(|file| !has_header(file))
        .map(|file| Finding::new(&file.path, 1, "expected a `//!` header: what this file is"))
        .collect()
}

fn has_header(file: &SourceFile) -> bool {
    file.text
        .lines()
        .map(str::trim)
        .find(|line| !line.is_empty() && !line.starts_with("#!["))
        .and_then(|line| line.strip_prefix("//!"))
        .is_some_and(|header| !header.trim().is_empty())
}

/// Checks that no Rust file has more than [`LINES_MAX`] lines.
#[must_use]
pub fn check_lengths(tree: &Tree) -> Vec<Finding> {
    tree.rust_files()
        .filter_map(|file| {
            let lines = file.text.lines().count();
            (lines > LINES_MAX).then(|| {
                let what = format!("{lines} lines; expected at most {LINES_MAX}");
                Finding::new(&file.path, LINES_MAX + 1, what)
            })
        })
        .collect()
}

#[cfg(test)]
mod tests;
