//! Checks each `Cargo.toml`: a crate uses only lower layers, only the benchmark uses peers, and
//! versions and lints come from the root `Cargo.toml`.

use toml::{Table, Value};

use crate::tree::{Finding, SourceFile, Tree};

/// Our crates, lowest layer first. A crate may use those of a lower number only.
pub const LAYERS: [(&str, u8); 27] = [
    ("raddle-timeline", 0),
    ("raddle-sync", 0),
    ("raddle-topology", 1),
    ("raddle-trace", 2),
    ("raddle-tracing", 3),
    ("raddle-analysis", 3),
    ("raddle-runtime", 3),
    ("raddle-net", 4),
    ("raddle-collections", 4),
    ("rayon-core", 4),
    ("raddle-chare", 5),
    ("raddle-orwl", 5),
    ("raddle", 6),
    ("raddle-graphics", 7),
    ("raddle-numerics", 7),
    ("raddle-messages", 7),
    ("raddle-cli", 8),
    ("raddle-bench", 9),
    ("raddle-bench-events", 9),
    ("raddle-tidy", 9),
    ("raddle-fuzz", 9),
    ("raddle-drop-in", 9),
    ("raddle-rayon-libraries", 9),
    ("raddle-rayon-loops", 9),
    ("raddle-together", 9),
    // Apart: uses no runtime, and only programs use it.
    ("raddle-model", 1),
    ("raddle-macros", 0),
];

/// Packages outside of the workspace, which are built like programs of users: they state versions
/// themselves.
const OUTSIDE: [&str; 5] = [
    "raddle-fuzz",
    "raddle-drop-in",
    "raddle-rayon-libraries",
    "raddle-rayon-loops",
    "raddle-together",
];

/// Packages that may depend on peers.
const MAY_USE_PEERS: [&str; 5] = [
    "raddle-bench",
    "raddle-drop-in",
    "raddle-rayon-libraries",
    "raddle-rayon-loops",
    "raddle-together",
];

/// A peer that a crate for users needs for another purpose: the live view speaks HTTP through it.
/// No library depends on it.
pub const EXCEPTION: (&str, &str) = ("raddle-cli", "tokio");

/// Crates that only the benchmark may depend on, and programs that show how to use them together
/// with Raddle: no user should pay for a peer.
pub const PEERS: [&str; 6] = [
    "bvh",
    "chili",
    "crossbeam-channel",
    "nalgebra",
    "rayon",
    "tokio",
];

/// Checks every `Cargo.toml`.
#[must_use]
pub fn check(tree: &Tree) -> Vec<Finding> {
    let of_file = |file: &SourceFile| match file.path.as_str() {
        "Cargo.toml" => check_names(file),
        path if path.ends_with("/Cargo.toml") => check_manifest(file),
        _ => Vec::new(),
    };
    tree.files().iter().flat_map(of_file).collect()
}

/// Checks that the workspace uses all crates under their own names, by which the rules know them.
fn check_names(root: &SourceFile) -> Vec<Finding> {
    let manifest: Table = match root.text.parse() {
        Ok(manifest) => manifest,
        Err(error) => return vec![Finding::new(&root.path, 1, format!("no TOML: {error}"))],
    };
    let workspace = manifest.get("workspace").and_then(Value::as_table);
    let dependencies = workspace.and_then(|table| table.get("dependencies")?.as_table());
    let renamed = dependencies
        .into_iter()
        .flatten()
        .filter_map(|(name, value)| {
            let package = value.get("package")?.as_str()?;
            let what = format!("{name} is another name for {package}; use the crate's own name");
            Some(Finding::new(&root.path, line_of(&root.text, name), what))
        });
    renamed.collect()
}

/// Checks that every crate that has a layer exists.
#[must_use]
pub fn check_crates(tree: &Tree) -> Vec<Finding> {
    let manifests = tree
        .files()
        .iter()
        .filter(|file| file.path.ends_with("/Cargo.toml"));
    let texts: Vec<&str> = manifests.map(|file| &*file.text).collect();
    LAYERS
        .iter()
        .filter(|(name, _)| {
            let line = format!("name = \"{name}\"");
            !texts
                .iter()
                .any(|text| text.lines().any(|other| other == line))
        })
        .map(|(name, _)| {
            let what = format!("there is no crate {name}; it has a layer all the same");
            Finding::new("tidy/src/rules/layers.rs", 1, what)
        })
        .collect()
}

fn check_manifest(file: &SourceFile) -> Vec<Finding> {
    let manifest: Table = match file.text.parse() {
        Ok(manifest) => manifest,
        Err(error) => return vec![Finding::new(&file.path, 1, format!("no TOML: {error}"))],
    };
    let name = manifest
        .get("package")
        .and_then(|package| package.get("name"))
        .and_then(Value::as_str)
        .unwrap_or_default();
    let Some(layer) = layer_of(name) else {
        let what = format!("crate {name:?} has no layer; give it one in tidy/src/rules/layers.rs");
        return vec![Finding::new(&file.path, 1, what)];
    };
    let mut findings = Vec::new();
    for (dependency, value) in dependencies(&manifest) {
        let line = line_of(&file.text, dependency);
        let mut report = |what: String| findings.push(Finding::new(&file.path, line, what));
        match layer_of(dependency) {
            Some(other) if other >= layer => report(format!(
                "{name} uses {dependency}, which does not stand below it"
            )),
            None if dependency.starts_with("raddle") => {
                report(format!("{dependency} has no layer"));
            }
            _ => {}
        }
        if is_forbidden(name, dependency) && !MAY_USE_PEERS.contains(&name) {
            report(format!(
                "{dependency} is a peer; only raddle-bench may use it"
            ));
        }
        if !OUTSIDE.contains(&name) && value.get("workspace").is_none() {
            report(format!(
                "{dependency} has its version here; it belongs in the root Cargo.toml"
            ));
        }
    }
    let inherits_lints = manifest
        .get("lints")
        .and_then(|lints| lints.get("workspace"))
        .and_then(Value::as_bool)
        .unwrap_or_default();
    if !OUTSIDE.contains(&name) && !inherits_lints {
        findings.push(Finding::new(&file.path, 1, "no `lints.workspace = true`"));
    }
    findings
}

/// Returns true if a package is a peer, and the crate may not depend on it.
#[must_use]
pub fn is_forbidden(name: &str, package: &str) -> bool {
    PEERS.contains(&package) && (name, package) != EXCEPTION
}

fn layer_of(name: &str) -> Option<u8> {
    LAYERS
        .iter()
        .find(|(layer_name, _)| *layer_name == name)
        .map(|&(_, layer)| layer)
}

/// Returns all dependencies of every kind, including those under `[target.….…]`.
fn dependencies(manifest: &Table) -> Vec<(&str, &Value)> {
    let mut tables = vec![manifest];
    if let Some(targets) = manifest.get("target").and_then(Value::as_table) {
        tables.extend(targets.values().filter_map(Value::as_table));
    }
    tables
        .into_iter()
        .flat_map(|table| {
            ["dependencies", "dev-dependencies", "build-dependencies"]
                .into_iter()
                .filter_map(|kind| table.get(kind).and_then(Value::as_table))
        })
        .flat_map(|table| table.iter().map(|(name, value)| (name.as_str(), value)))
        .collect()
}

fn line_of(text: &str, name: &str) -> usize {
    text.lines()
        .position(|line| {
            line.strip_prefix(name)
                .is_some_and(|rest| rest.starts_with(['.', ' ', '=']))
        })
        .map_or(1, |index| index + 1)
}

#[cfg(test)]
mod tests;
