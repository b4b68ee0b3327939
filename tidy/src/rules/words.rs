//! Words that mean something on one machine only, and hosts of registries.

use crate::tree::{Finding, Tree};

/// Words that no file may have, in two halves, so that this file passes its own rule.
const FORBIDDEN: [(&str, &str, &str); 9] = [
    ("/wo", "rk/", "a path of one machine"),
    (
        "/tm",
        "p/",
        "a path of one machine; expected a temporary folder asked from the system",
    ),
    ("/ho", "me/", "a path of one machine"),
    ("/ro", "ot/", "a path of one machine"),
    ("crates", ".io", "a registry's host"),
    ("pypi", ".org", "a registry's host"),
    ("npmjs", ".", "a registry's host"),
    ("deb.", "debian.org", "a registry's host"),
    ("proxy.", "golang.org", "a registry's host"),
];

/// The files that cargo generates, in which it names registries.
const EXEMPT: [&str; 2] = ["Cargo.lock", "fuzz/Cargo.lock"];

/// Checks every text file.
#[must_use]
pub fn check(tree: &Tree) -> Vec<Finding> {
    let mut findings = Vec::new();
    for file in tree.files() {
        if EXEMPT.contains(&file.path.as_str()) {
            continue;
        }
        for (index, line) in file.text.lines().enumerate() {
            for (first, second, why) in FORBIDDEN {
                let word = format!("{first}{second}");
                if line.contains(&word) {
                    findings.push(Finding::new(
                        &file.path,
                        index + 1,
                        format!("{word:?} is {why}"),
                    ));
                }
            }
        }
    }
    findings
}

#[cfg(test)]
mod tests;
