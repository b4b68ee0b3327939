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
            "found 4000000000 objects at \"core:4000000000\", expected at most 5120 CPUs",
        ),
        (
            "numa:64 core:81 pu:1",
            "found 5184 objects at \"core:81\", expected at most 5120 CPUs",
        ),
        (
            "5120 1 1 1 1 1 1 1",
            "found 40961 objects down to \"1\", expected at most 40960 objects",
        ),
        (
            "numa:5120(memorysidecachesize=1MB) [numa] [numa] [numa] [numa] [numa] pu:1",
            "found 40961 objects down to \"pu:1\"",
        ),
        (
            "core:010 pu:1",
            "found \"010\" as the count of \"core:010\"",
        ),
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
fn a_size_hides_behind_no_bracket() {
    let huge = "core:1000000 pu:1";
    for before in [
        "(memory=1)",
        "[numa]",
        "[numa(memory=1)]",
        "package:1(memory=1)",
    ] {
        let error = error_of(&format!("{before}{huge}"));
        assert!(error.contains("found 1000000 objects at"), "{error}");
    }
    let error = error_of(&format!("pu:2{}", " ".repeat(1 << 16)));
    assert!(error.contains("expected at most 65536 bytes"), "{error}");
}

#[test]
fn indexes_that_hwloc_would_ignore_or_fail_at_are_named() {
    let cases = [
        (
            "pu:2(indexes=0,4000000000)",
            "found \"4000000000\" as an index, expected a whole number below 65536",
        ),
        ("pu:2(indexes=0,)", "found \"\" as an index"),
        ("pu:2(indexes=1,1)", "found the index 1 for the second time"),
        (
            "numa:2 pu:2(memory=1 indexes=1,2)",
            "found 2 indexes of 4 objects",
        ),
        ("pu:2(indexes=2*)", "found \"2*\" as a loop of indexes"),
        (
            "pu:2(indexes=1*65536:1*65536:1*65536:1*65536)",
            "found loops of 18446744073709551615 indexes for 2 objects",
        ),
        ("pu:2(indexes=banana)", "found the unknown level \"banana\""),
        ("[numa(indexes=70000)] pu:2", "found \"70000\" as an index"),
    ];
    for (description, expected) in cases {
        let error = error_of(description);
        assert!(error.contains(expected), "{error}");
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
        ("(memory=1)[numa]core:2(indexes=5,9)pu:2", 4),
        ("core:4 pu:2(indexes=4*2:1*4)", 8),
        ("numa:2 core:2 pu:2(indexes=numa:core)", 8),
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
