//! Prints what the house rules say of a checkout: `cargo run -p raddle-tidy`, or with the folder of
//! another checkout behind `--`.
//!
//! First a table of all crates, with the layers of their modules; then each place that breaks a
//! rule. Ends with exit code 1 if there is one.
#![forbid(unsafe_code)]

use std::env;
use std::fmt::Write as _;
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use raddle_tidy::rules::cycles::Scope;
use raddle_tidy::rules::{self, cycles, text};
use raddle_tidy::{Finding, Tree};

fn main() -> ExitCode {
    let own = || Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
    let root = env::args_os().nth(1).map_or_else(own, PathBuf::from);
    let tree = match Tree::of_checkout(&root) {
        Ok(tree) => tree,
        Err(error) => {
            eprintln!("error: {}: {error}", root.display());
            return ExitCode::FAILURE;
        }
    };
    let findings = rules::check_all(&tree);
    // A reader that closes the pipe early needs no further lines.
    let _ = io::stdout().write_all(report(&tree, &findings).as_bytes());
    match findings.is_empty() {
        true => ExitCode::SUCCESS,
        false => ExitCode::FAILURE,
    }
}

/// Returns a line for each crate and for each folder of modules that has a cycle, and the findings.
fn report(tree: &Tree, findings: &[Finding]) -> String {
    let mut report = format!(
        "{:32} {:>7} {:>7} {:>6} {:>13}  cycles\n",
        "modules of", "modules", "imports", "layers", "largest cycle"
    );
    for level in cycles::levels(tree) {
        let name = match &level.scope {
            Scope::Files => "  files".to_owned(),
            Scope::Children(parent) if parent.is_empty() => level.package.clone(),
            Scope::Children(_) if level.cycles.is_empty() => continue,
            Scope::Children(parent) => format!("  {parent}"),
        };
        let cycles: Vec<String> = level.cycles.iter().map(|cycle| cycle.join(" ")).collect();
        let _ = writeln!(
            report,
            "{name:32} {:>7} {:>7} {:>6} {:>13}  {}",
            level.module_count,
            level.edge_count,
            level.layer_count,
            level.largest_cycle(),
            cycles.join("; ")
        );
    }
    let left = text::check(tree).len();
    let _ = writeln!(report, "\n{left} places have text that is not plain");
    for finding in findings {
        let _ = writeln!(report, "{finding}");
    }
    report
}
