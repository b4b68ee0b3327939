//! Files that a tree reads, and files that it leaves out.

use super::*;

#[test]
fn the_checkout_has_this_file_and_no_build_results() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
    let tree = Tree::of_checkout(&root).expect("the checkout is readable");
    let paths: Vec<&str> = tree.files().iter().map(|file| file.path.as_str()).collect();
    assert!(paths.contains(&"tidy/src/tree/tests.rs"), "{paths:?}");
    assert!(paths.contains(&"run") && paths.contains(&".ci/run"));
    assert!(!paths.iter().any(|path| path.starts_with("target/")));
    assert!(!paths.iter().any(|path| path.starts_with(".git/")));
}

#[test]
fn scripts_count_as_text_and_pictures_do_not() {
    assert!(is_text("run") && is_text("lib.rs") && is_text(".gitignore"));
    assert!(!is_text("dragon.png"));
}

#[test]
fn unit_tests_integration_tests_and_fuzz_targets_are_tests() {
    let tree = Tree::made_up(&[
        ("a/src/b/tests.rs", ""),
        ("a/tests/c.rs", ""),
        ("fuzz/fuzz_targets/d.rs", ""),
        ("a/src/tests_of_strength.rs", ""),
    ]);
    let found: Vec<bool> = tree.files().iter().map(SourceFile::is_test).collect();
    assert_eq!(found, [true, true, true, false]);
}

#[test]
fn a_finding_reads_like_a_compilers() {
    let finding = Finding::new("a.rs", 7, "no header");
    assert_eq!(finding.to_string(), "a.rs:7: no header");
}
