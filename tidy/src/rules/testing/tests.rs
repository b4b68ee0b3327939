//! Tests that assert a time, and tests that are ignored.

use super::*;

fn times(text: &str) -> Vec<usize> {
    check_times(&Tree::made_up(&[("a/tests/b.rs", text)]))
        .iter()
        .map(|finding| finding.line)
        .collect()
}

#[test]
fn a_clock_inside_an_assertion_is_found() {
    assert_eq!(times("x\nassert!(began.elapsed() < limit);"), [2]);
    assert_eq!(
        times("assert_eq!(f(now.duration_since(then)),\n  g());"),
        [1]
    );
    assert_eq!(times("prop_assert!(began.elapsed() < limit);"), [1]);
}

#[test]
fn a_variable_from_a_clock_inside_an_assertion_is_found() {
    assert_eq!(
        times("let took = began.elapsed();\nassert!(took < limit);"),
        [2]
    );
    assert_eq!(
        times("let mut took: Duration = b.elapsed();\nassert!(took < limit);"),
        [2]
    );
}

#[test]
fn a_clock_outside_assertions_and_other_variables_pass() {
    assert!(times("while began.elapsed() < limit {}\nassert!(done);").is_empty());
    assert!(times("let took = began.elapsed();\nassert!(mistook < limit);").is_empty());
}

#[test]
fn code_that_is_no_test_is_left_alone() {
    let tree = Tree::made_up(&[("a/src/b.rs", "assert!(began.elapsed() < limit);")]);
    assert!(check_times(&tree).is_empty());
}

#[test]
fn an_ignored_test_is_found() {
    for text in ["#[ignore]\nfn a() {}", "#[ignore = \"slow\"]\nfn a() {}"] {
        assert_eq!(check_ignored(&Tree::made_up(&[("a.rs", text)])).len(), 1);
    }
    assert!(check_ignored(&Tree::made_up(&[("a.rs", "// #[ignore]\n")])).is_empty());
}

#[test]
fn a_unit_test_on_real_data_is_found_and_an_integration_test_is_not() {
    let text = "x\nenv::var_os(\"RADDLE_DATA\")";
    let found = check_real_data(&Tree::made_up(&[("a/src/b/tests.rs", text)]));
    assert_eq!(found[0].line, 2);
    assert!(check_real_data(&Tree::made_up(&[("a/tests/b_data.rs", text)])).is_empty());
}

#[test]
fn a_program_of_several_modules_on_real_data_is_found() {
    let reads = "env::var_os(\"RADDLE_DATA\")";
    for (main, module) in [
        ("mod data;\n", "a/tests/api/data.rs"),
        (
            "#[path = \"../common/mod.rs\"]\nmod common;\n",
            "a/tests/common/mod.rs",
        ),
    ] {
        let tree = Tree::made_up(&[("a/tests/api/main.rs", main), (module, reads)]);
        assert_eq!(check_real_data(&tree).len(), 1, "{module}");
    }
    let tree = Tree::made_up(&[
        ("a/tests/api/main.rs", ""),
        ("a/tests/common/mod.rs", reads),
    ]);
    assert!(check_real_data(&tree).is_empty());
}
