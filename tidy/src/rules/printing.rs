//! Libraries return, programs print.

use crate::code::has_word;
use crate::tree::{Finding, SourceFile, Tree};

const MACROS: [&str; 5] = ["print", "println", "eprint", "eprintln", "dbg"];
/// Programs, which print what they find.
const MAY_PRINT: [&str; 6] = [
    "cli/",
    "bench/",
    "examples/",
    "fuzz/",
    // A build script.
    "crates/rayon-core/suite/",
    "tidy/src/main.rs",
];

/// Checks every Rust file that is neither a program, an example nor a test.
#[must_use]
pub fn check(tree: &Tree) -> Vec<Finding> {
    tree.rust_files()
        .filter(|file| !may_print(file))
        .flat_map(|file| {
            file.code
                .lines()
                .enumerate()
                .filter_map(|(index, line)| {
                    let found = MACROS
                        .iter()
                        .find(|name| has_word(line, name) && line.contains(&format!("{name}!")))?;
                    let what = format!("a library that calls {found}!; expected a returned value");
                    Some(Finding::new(&file.path, index + 1, what))
                })
                .collect::<Vec<_>>()
        })
        .collect()
}

fn may_print(file: &SourceFile) -> bool {
    file.is_test()
        || file.path.contains("/examples/")
        || file.path.contains("/benches/")
        // What cargo reads.
        || file.path.ends_with("/build.rs")
        || MAY_PRINT.iter().any(|prefix| file.path.starts_with(prefix))
}

#[cfg(test)]
mod tests;
