//! The rules, one module each: a function from a [`Tree`] to its findings.

pub mod atomics;
pub mod cycles;
pub mod files;
pub mod layers;
pub mod printing;
pub mod shipped;
pub mod testing;
pub mod text;
pub mod unsafety;
pub mod variables;
pub mod words;

use crate::tree::{Finding, Tree};

/// Checks a tree by every rule that needs nothing but the tree.
#[must_use]
pub fn check_all(tree: &Tree) -> Vec<Finding> {
    let rules: [fn(&Tree) -> Vec<Finding>; 16] = [
        layers::check,
        layers::check_crates,
        cycles::check,
        unsafety::check,
        atomics::check_source,
        atomics::check_models,
        atomics::check_reasons,
        files::check_headers,
        files::check_lengths,
        testing::check_times,
        testing::check_real_data,
        testing::check_ignored,
        text::check,
        printing::check,
        words::check,
        variables::check,
    ];
    rules.iter().flat_map(|rule| rule(tree)).collect()
}
