//! Synthetic descriptions: what is wrong is named before hwloc sees it, what is right loads.

use proptest::prelude::*;

use super::*;

fn error_of(description: &str) -> String {
    Topology::synthetic(description)
        .expect_err(description)
        .to_string()
}

#[test]
fn the_wrong_word_of_a_description_is_named() {
    let cases = [
        ("", "found nothing, expected levels such as"),
        ("  ", "found nothing"),
        (
            "foo:2 pu:2",
            "found the unknown level \"foo\", expected package, die",
        ),
        (
            "numa:2 core pu:2",
            "found \"core\" without a count, expected a count behind it",
        ),
        (
            "numa:0 pu:2",
            "found \"0\" as the count of \"numa:0\", expected a whole number from 1",
        ),
        ("numa:-1 pu:2", "found \"-1\" as the count"),
        ("numa:x pu:2", "found \"x\" as the count"),
        ("numa: 2 pu:2", "found \"\" as the count of \"numa:\""),
        (
            "numa:2 core:4",
            "found \"core:4\" as the last level, expected the CPUs as the last level",
        ),
        ("pu:2 core:2", "found \"core:2\" below \"pu:2\""),
        (
            "core:2(size=1 pu:2",
            "found '(' that is not closed, expected ')' behind it",
        ),
        (
            "core:2) pu:2",
            "found ')' that closes nothing, expected '(' before it",
        ),
        (
            "core:4000000000 pu:2",
            "found more than 65536 objects at \"core:4000000000\"",
        ),
        ("core:300 core:300 pu:2", "found more than 65536 objects"),
        ("core:2 pu:2\0", "found a NUL character"),
    ];
    for (description, expected) in cases {
        let error = error_of(description);
        assert!(
            error.starts_with(&format!("synthetic topology {description:?}: "))
                && error.contains(expected),
            "{error}"
        );
        assert!(!error.contains('\n'), "{error:?} is more than one line");
    }
}

#[test]
fn what_only_hwloc_can_refuse_is_an_error_too() {
    let error = error_of("core:2 core:2 pu:1");
    assert!(
        error.contains("core:2 core:2 pu:1") && error.contains("refuses"),
        "{error}"
    );
}

#[test]
fn what_hwloc_accepts_is_accepted() {
    let cases = [
        ("4 2", 8),
        ("pack:2 nu:2 pu:1", 4),
        ("Socket:1 CORE:2 Pu:2", 4),
        ("node:2 pu:2", 4),
        ("l3:2 l2:1 l1d:1 core:2 pu:1", 4),
        ("core:2(indexes=3,4) pu:2", 4),
        ("[numa(memory=1GB)] pu:2", 2),
        ("(memory=1048576) pu:2", 2),
        ("  package:1\tdie:2 pu:2 ", 4),
    ];
    for (description, cpu_count) in cases {
        let topology = Topology::synthetic(description).expect(description);
        assert_eq!(topology.cpu_count(), cpu_count, "{description}");
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn no_description_panics(description in "[a-z0-9:()\\[\\]= ]{0,24}") {
        if let Err(error) = Topology::synthetic(&description) {
            let quoted = format!("{:?}", description);
            prop_assert!(error.to_string().contains(&quoted));
        }
    }
}
