//! Manifests that break the layer rule, and one that keeps it.

use super::*;

fn findings(manifest: &str) -> Vec<String> {
    check(&Tree::made_up(&[("crate/Cargo.toml", manifest)]))
        .iter()
        .map(ToString::to_string)
        .collect()
}

const GOOD: &str = "[package]\nname = \"raddle-runtime\"\n[lints]\nworkspace = true\n\
                    [dependencies]\nraddle-sync.workspace = true\n\
                    serde = { workspace = true, optional = true }\n";

#[test]
fn a_crate_that_uses_what_stands_below_passes() {
    assert!(findings(GOOD).is_empty(), "{:?}", findings(GOOD));
}

#[test]
fn an_arrow_up_is_found_in_every_kind_of_dependency() {
    for kind in [
        "dependencies",
        "dev-dependencies",
        "build-dependencies",
        "target.'cfg(unix)'.dependencies",
    ] {
        let bad = format!("{GOOD}[{kind}]\nraddle.workspace = true\n").replace(
            "[dependencies]\nraddle-sync.workspace = true\n\
             serde = { workspace = true, optional = true }\n",
            "",
        );
        let found = findings(&bad);
        assert_eq!(found.len(), 1, "{kind}: {found:?}");
        assert!(found[0].contains("raddle-runtime uses raddle"), "{found:?}");
    }
}

#[test]
fn two_crates_of_one_layer_may_not_use_each_other() {
    let bad = GOOD
        .replace("\"raddle-runtime\"", "\"raddle-numerics\"")
        .replace("raddle-sync", "raddle-graphics");
    assert!(findings(&bad)[0].contains("does not stand below"));
}

#[test]
fn a_crate_without_a_layer_is_found() {
    assert!(findings(&GOOD.replace("raddle-runtime", "raddle-novel"))[0].contains("no layer"));
    assert!(findings(&GOOD.replace("raddle-sync", "raddle-novel"))[0].contains("no layer"));
}

#[test]
fn a_crate_under_another_name_is_found() {
    let root = "[workspace.dependencies]\nserde = \"1\"\n\
                chan = { package = \"crossbeam-channel\", version = \"0.5\" }\n";
    let found = check(&Tree::made_up(&[("Cargo.toml", root)]));
    assert_eq!(found.len(), 1);
    assert!(
        found[0]
            .to_string()
            .contains("another name for crossbeam-channel")
    );
}

#[test]
fn a_layer_without_a_crate_is_found() {
    let manifest = |name: &str| {
        (
            format!("crates/{name}/Cargo.toml"),
            format!("[package]\nname = \"{name}\"\n"),
        )
    };
    let manifests = LAYERS.map(|(name, _)| manifest(name));
    let tree = |count: usize| {
        let files: Vec<_> = manifests[..count]
            .iter()
            .map(|(path, text)| (path.as_str(), text.as_str()))
            .collect();
        Tree::made_up(&files)
    };
    assert!(check_crates(&tree(LAYERS.len())).is_empty());
    let found = check_crates(&tree(LAYERS.len() - 1));
    assert_eq!(found.len(), 1);
    assert!(
        found[0].to_string().contains("no crate raddle-macros"),
        "{}",
        found[0]
    );
}

#[test]
fn a_peer_outside_the_benchmark_is_found() {
    let found = findings(&GOOD.replace("raddle-sync", "rayon"));
    assert!(found[0].contains("peer"), "{found:?}");
}

#[test]
fn a_version_and_missing_lints_are_found() {
    let bad = GOOD
        .replace("raddle-sync.workspace = true", "libc = \"0.2\"")
        .replace("[lints]\nworkspace = true\n", "");
    let found = findings(&bad);
    assert!(
        found[0].contains("crate/Cargo.toml:4: libc has its version here"),
        "{found:?}"
    );
    assert!(found[1].contains("lints"), "{found:?}");
}

#[test]
fn a_manifest_that_is_no_toml_is_found() {
    assert!(findings("[package")[0].contains("no TOML"));
}
