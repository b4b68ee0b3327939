//! The cases of the suite, and its charts.

use super::*;

#[test]
fn shapes_are_named_as_the_option_writes_them() {
    for (name, shape) in SHAPES {
        assert_eq!(name, shape.to_string());
    }
    assert!(
        SHAPES
            .iter()
            .any(|&(_, shape)| shape == BlockShape::default())
    );
}

#[test]
fn cases_that_run_only_by_name_exist() {
    for name in ONLY_BY_NAME {
        assert!(CASES.contains(&name), "{name}");
    }
}

#[test]
fn pools_can_be_named_for_cases_that_compare_pools() {
    assert!(takes_pool("tree6us") && takes_pool("sort1e8"));
    assert!(!takes_pool("blocks-tree6us") && !takes_pool("simulated1e7"));
}
