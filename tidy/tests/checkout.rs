//! The checkout keeps every house rule.

use std::path::Path;
use std::process::Command;
use std::sync::OnceLock;

use raddle_tidy::rules::{
    atomics, cycles, files, layers, printing, shipped, testing, text, unsafety, variables, words,
};
use raddle_tidy::{Finding, Tree};

fn checkout() -> &'static Tree {
    static CHECKOUT: OnceLock<Tree> = OnceLock::new();
    CHECKOUT.get_or_init(|| {
        let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
        let tree = Tree::of_checkout(&root).expect("the checkout is readable");
        // A rule that looks at nothing finds nothing.
        assert!(tree.rust_files().count() > 50, "this is no checkout");
        tree
    })
}

#[track_caller]
fn expect_none(findings: &[Finding]) {
    let lines: Vec<String> = findings.iter().map(ToString::to_string).collect();
    assert!(
        lines.is_empty(),
        "{} findings:\n{}",
        lines.len(),
        lines.join("\n")
    );
}

#[test]
fn dependency_arrows_point_down() {
    expect_none(&layers::check(checkout()));
}

// Regression: the default features of a picture format brought rayon, which only the benchmarks
// use, into the shipped program.
#[test]
fn shipped_crates_depend_on_no_peer() {
    let listing = |name: &str| {
        let output = Command::new(env!("CARGO"))
            .args(["tree", "--offline", "--package", name, "--all-features"])
            .args(["--edges", "normal,build", "--target", "all"])
            .args(["--prefix", "none", "--format", "{p}"])
            .current_dir(env!("CARGO_MANIFEST_DIR"))
            .output()
            .expect("cargo starts");
        let errors = String::from_utf8_lossy(&output.stderr);
        assert!(output.status.success(), "{name}: {errors}");
        let listing = String::from_utf8(output.stdout).expect("UTF-8");
        // A rule that looks at nothing finds nothing.
        assert!(listing.lines().count() > 3, "{name}: {listing}");
        listing
    };
    let found = shipped::SHIPPED.iter();
    let found: Vec<_> = found
        .flat_map(|name| shipped::check(name, &listing(name)))
        .collect();
    expect_none(&found);
}

#[test]
fn crates_with_a_layer_exist() {
    expect_none(&layers::check_crates(checkout()));
}

#[test]
fn modules_import_each_other_in_layers() {
    expect_none(&cycles::check(checkout()));
}

#[test]
fn text_is_plain() {
    expect_none(&text::check(checkout()));
}

#[test]
fn unsafe_stands_only_where_it_is_allowed() {
    expect_none(&unsafety::check(checkout()));
}

#[test]
fn atomics_come_from_one_module() {
    expect_none(&atomics::check_source(checkout()));
}

#[test]
fn models_see_all_threads_locks_and_clocks() {
    expect_none(&atomics::check_models(checkout()));
}

#[test]
fn every_memory_ordering_says_why() {
    expect_none(&atomics::check_reasons(checkout()));
}

#[test]
fn every_file_says_what_it_is() {
    expect_none(&files::check_headers(checkout()));
}

#[test]
fn no_file_is_too_long() {
    expect_none(&files::check_lengths(checkout()));
}

#[test]
fn no_test_asserts_a_time() {
    expect_none(&testing::check_times(checkout()));
}

#[test]
fn only_integration_tests_read_real_data() {
    expect_none(&testing::check_real_data(checkout()));
}

#[test]
fn no_test_is_ignored() {
    expect_none(&testing::check_ignored(checkout()));
}

#[test]
fn libraries_do_not_print() {
    expect_none(&printing::check(checkout()));
}

#[test]
fn no_file_names_a_machine_or_a_registry() {
    expect_none(&words::check(checkout()));
}

#[test]
fn every_variable_that_is_read_is_known() {
    expect_none(&variables::check(checkout()));
}
