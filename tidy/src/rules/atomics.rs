//! Atomics, threads and the clock come from one module, and every memory ordering has a reason.

use crate::code::has_word;
use crate::tree::{Finding, SourceFile, Tree};

/// The module that atomics come from; no other module names those of the standard library.
pub const PRIM: &str = "crates/sync/src/prim";
/// The code that models and seeded schedules run: threads, locks and the clock come from [`PRIM`],
/// too.
pub const MODELLED: [&str; 4] = [
    "crates/sync/src/",
    "crates/runtime/src/",
    "crates/chare/src/",
    "crates/orwl/src/",
];
/// Files with locks of the standard library, which outlive models and schedules: the numbers of
/// runtimes, and the end of a process.
pub const OUTLIVING: [&str; 2] = [
    "crates/chare/src/engine/system/registry.rs",
    "crates/sync/src/exit.rs",
];
/// The largest number of lines between a use and its reason above.
pub const REASON_DISTANCE: usize = 6;

const BESIDE_PRIM: [&str; 7] = [
    "thread", "Mutex", "RwLock", "Condvar", "Barrier", "mpsc", "Instant",
];
const PATHS_BESIDE: [&str; 4] = ["std::thread", "std::sync::", "std::time::", "quanta::"];
const ORDERINGS: [&str; 5] = ["Relaxed", "Acquire", "Release", "AcqRel", "SeqCst"];

/// Checks that no module but [`PRIM`] names the standard library's atomics.
#[must_use]
pub fn check_source(tree: &Tree) -> Vec<Finding> {
    tree.rust_files()
        .filter(|file| !file.path.starts_with(PRIM))
        .flat_map(|file| {
            file.code
                .lines()
                .enumerate()
                .filter(|(_, line)| line.contains("atomic::") || line.contains("::atomic"))
                .map(|(index, _)| {
                    Finding::new(
                        &file.path,
                        index + 1,
                        "names `atomic`; expected raddle_sync::prim",
                    )
                })
                .collect::<Vec<_>>()
        })
        .collect()
}

/// Checks that the code that models run takes threads, locks and the clock from [`PRIM`], not from
/// `std`.
///
/// Imports from `std` and longer paths are found. The result of a thread is allowed: it is only a
/// type.
#[must_use]
pub fn check_models(tree: &Tree) -> Vec<Finding> {
    tree.rust_files()
        .filter(|file| MODELLED.iter().any(|prefix| file.path.starts_with(prefix)))
        .filter(|file| {
            !file.path.starts_with(PRIM) && !OUTLIVING.contains(&&*file.path) && !file.is_test()
        })
        .flat_map(|file| {
            file.code
                .lines()
                .enumerate()
                .filter_map(|(index, line)| {
                    let line = line.replace("std::thread::Result", "");
                    let from_outside = line.trim_start().starts_with("use std::")
                        || PATHS_BESIDE.iter().any(|path| line.contains(path));
                    let name = BESIDE_PRIM.iter().find(|name| has_word(&line, name))?;
                    let what = format!("{name} that no model sees; expected that of raddle_sync");
                    from_outside.then(|| Finding::new(&file.path, index + 1, what))
                })
                .collect::<Vec<_>>()
        })
        .collect()
}

/// Checks that each use of a memory ordering carries its label or its reason, in every crate.
///
/// A reason is a comment with `ORDERING(label)`, `ORDERING:` or the word "Relaxed" on the same line
/// or on one of the [`REASON_DISTANCE`] lines above. A comment with both "Relaxed" and "below"
/// covers every Relaxed in the rest of its file.
#[must_use]
pub fn check_reasons(tree: &Tree) -> Vec<Finding> {
    tree.rust_files()
        .filter(|file| !file.path.starts_with(PRIM) && !file.is_test())
        .flat_map(check_reasons_of)
        .collect()
}

fn check_reasons_of(file: &SourceFile) -> Vec<Finding> {
    let code = without_imports(&file.code);
    let comments: Vec<&str> = file.text.lines().map(comment_of).collect();
    let relaxed_from = comments
        .iter()
        .position(|comment| has_word(comment, "Relaxed") && has_word(comment, "below"))
        .unwrap_or(usize::MAX);
    code.lines()
        .enumerate()
        .filter(|&(index, line)| {
            ORDERINGS
                .iter()
                .filter(|&&ordering| ordering != "Relaxed" || index < relaxed_from)
                .any(|ordering| has_word(line, ordering))
        })
        .filter(|&(index, _)| {
            let near = &comments[index.saturating_sub(REASON_DISTANCE)..=index];
            !near.iter().any(|comment| is_reason(comment))
        })
        .map(|(index, _)| {
            Finding::new(
                &file.path,
                index + 1,
                "a memory ordering without `ORDERING(label)` or a reason for Relaxed nearby",
            )
        })
        .collect()
}

fn is_reason(comment: &str) -> bool {
    comment.contains("ORDERING(")
        || comment.contains("ORDERING:")
        || has_word(comment, "Relaxed")
        || has_word(comment, "relaxed")
}

fn comment_of(line: &str) -> &str {
    line.find("//").map_or("", |at| &line[at..])
}

/// Blanks out `use` declarations: to import a name is not to use it.
fn without_imports(code: &str) -> String {
    let mut inside = false;
    let mut kept = String::with_capacity(code.len());
    for line in code.lines() {
        let start = line.trim_start();
        inside = inside || start.starts_with("use ") || start.starts_with("pub use ");
        if !inside {
            kept.push_str(line);
        }
        kept.push('\n');
        if inside && line.contains(';') {
            inside = false;
        }
    }
    kept
}

#[cfg(test)]
mod tests;
