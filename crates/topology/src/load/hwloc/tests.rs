//! Synthetic descriptions: invalid ones are refused before hwloc reads them, and valid ones load.

use proptest::prelude::*;

use super::*;

fn error_of(description: &str) -> String {
    Topology::synthetic(description)
        .expect_err(description)
        .to_string()
}

#[test]
fn errors_name_the_wrong_word_of_a_description() {
    let cases = [
        ("", "found nothing, expected levels such as"),
        ("  ", "found nothing"),
        (
            "foo:2 pu:2",
            "found the unknown level \"foo\", expected package, die",
        ),
        (
            "numa:2 core pu:2",
            "found \"core\" without a count, expected a count after it",
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
            "found '(' that is not closed, expected ')' after it",
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
fn sizes_after_brackets_are_limited_too() {
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
fn indexes_that_hwloc_would_ignore_or_crash_on_are_refused() {
    let cases = [
        (
            "pu:2(indexes=0,4000000000)",
            "found \"4000000000\" as an index, expected a whole number below 65536",
        ),
        ("pu:2(indexes=0,)", "found \"\" as an index"),
        ("pu:2(indexes=1,1)", "found the index 1 a second time"),
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
        (
            "package:2 [numa(indexes=0,1)] core:2 [numa] pu:2",
            "found 2 indexes of 6 objects",
        ),
        (
            "package:2 [numa(indexes=0,1)] [numa(indexes=1,0)] pu:2",
            "found indexes at \"[numa(indexes=1,0)]\" that differ from the previous ones",
        ),
        (
            "package:2 [numa(indexes=package)] core:2 [numa] pu:2",
            "found \"package\" among the indexes \"package\", expected kinds of enclosing levels",
        ),
        (
            "numa:2(indexes=core) core:4 pu:2",
            "found \"core\" among the indexes \"core\"",
        ),
        (
            "numa:2 pu:2(indexes=numa:numa)",
            "found \"numa\" among the indexes \"numa:numa\"",
        ),
        (
            "core:4 pu:2(indexes=1*4:1*2)",
            "found loops \"1*4:1*2\" that produce the index",
        ),
        (
            "core:4 pu:2(indexes=2*3)",
            "found loops of 3 indexes for 8 objects",
        ),
        ("3 3(indexes=2*2)", "found loops of 2 indexes for 9 objects"),
    ];
    for (description, expected) in cases {
        let error = error_of(description);
        assert!(error.contains(expected), "{error}");
    }
}

#[test]
fn levels_that_cannot_be_combined_are_refused() {
    let cases = [
        (
            "core:2 core:3 pu:1",
            "found \"core:3\" below \"core:2\", expected one level of the kind core",
        ),
        ("socket:2 pack:2 2", "found \"pack:2\" below \"socket:2\""),
        (
            "4 7 core:2 4",
            "found \"4\" without a kind beside \"core:2\", expected a kind for each level",
        ),
        (
            "numa:2 [node(memory=1GB)] pu:2",
            "found \"[node(memory=1GB)]\" beside \"numa:2\", \
             expected memories as a level, or in brackets",
        ),
        ("[core] pu:2", "found \"core\" in brackets, expected numa"),
        ("[numa]", "found no level, expected levels such as"),
        ("core:2 (size=1)pu:2", "found \"\" without a count"),
        ("l9:2 pu:2", "found the unknown level \"l9\""),
        ("l4i:2 pu:2", "found the unknown level \"l4i\""),
        ("l2d:2 l2x:2 pu:2", "found the unknown level \"l2x\""),
    ];
    for (description, expected) in cases {
        let error = error_of(description);
        assert!(error.contains(expected), "{error}");
    }
    let deep = format!("{}pu:1", "group:1 ".repeat(64));
    let error = error_of(&deep);
    assert!(error.contains("expected at most 64 levels"), "{error}");
    let topology = Topology::synthetic(&deep["group:1 ".len()..]).expect("the maximum depth");
    assert_eq!(topology.cpu_count(), 1);
}

#[test]
fn attributes_that_hwloc_would_refuse_or_misread_are_refused() {
    let cases = [
        (
            "l2:1(memory=1) pu:2",
            "found the unknown attribute \"memory=1\", expected size= or indexes=",
        ),
        (
            "numa:1(colour=red) pu:2",
            "found the unknown attribute \"colour=red\", expected memory=, memorysidecachesize=",
        ),
        (
            "[numa(memory=1 memory=2)] pu:2",
            "found a second memory=, \"memory=2\", expected each attribute once",
        ),
        (
            "l2:1(size=12XB) pu:2",
            "found \"12XB\" as the size of \"size=12XB\", expected 1 to",
        ),
        ("l2:1(size=0) pu:2", "found \"0\" as the size"),
        ("l2:1(size) pu:2", "found \"\" as the size"),
        ("l2:1(size=-1) pu:2", "found \"-1\" as the size"),
        ("[numa(memory=300TiB)] 2", "found \"300TiB\" as the size"),
        (
            "[numa(memory=99999999999999999TiB)] 2",
            "found \"99999999999999999TiB\" as the size",
        ),
    ];
    for (description, expected) in cases {
        let error = error_of(description);
        assert!(error.contains(expected), "{error}");
    }
}

#[test]
fn sizes_may_have_si_and_iec_units() {
    for (size, bytes) in [
        ("65536", 65_536),
        ("64kB", 64_000),
        ("64KiB", 65_536),
        ("3MB", 3_000_000),
        ("3mib", 3 << 20),
        ("1GB", 1_000_000_000),
        ("1GiB", 1 << 30),
        ("1TB", 1_000_000_000_000),
        ("1TiB", 1 << 40),
    ] {
        for description in [
            format!("[numa(memory={size})] pu:2"),
            format!("numa:1(memory={size}) pu:2"),
        ] {
            let topology = Topology::synthetic(&description).expect(&description);
            let memory = topology.numa_nodes()[0].memory_bytes;
            assert_eq!(memory, Some(bytes), "{description}");
        }
    }
}

#[test]
fn lists_of_indexes_number_the_objects() {
    let cases = [
        ("core:2 pu:2(indexes=7,9,3,4)", "7,9,3,4"),
        // Four cores of two threads: the first threads of all cores, then the second ones.
        ("core:4 pu:2(indexes=2*4:1*2)", "0,4,1,5,2,6,3,7"),
        ("core:4 pu:2(indexes=2*4)", "0,4,1,5,2,6,3,7"),
        ("core:4 pu:2(indexes=core)", "0,4,1,5,2,6,3,7"),
        ("core:4 pu:2(indexes=4*2:1*4)", "0,2,4,6,1,3,5,7"),
        ("numa:2 core:2 pu:2(indexes=numa:core)", "0,4,2,6,1,5,3,7"),
        ("numa:2 core:2 pu:2(indexes=core:numa)", "0,4,1,5,2,6,3,7"),
        ("numa:2 core:2 pu:2(indexes=numa)", "0,2,4,6,1,3,5,7"),
        ("package:2 [numa(indexes=3,1)] pu:2", "3,1"),
        // One list for all memories in brackets, which each of them may repeat.
        (
            "[numa(indexes=0,2,1)] die:2 [numa(indexes=0,2,1)] pu:2",
            "0,2,1",
        ),
        ("package:2 [numa(indexes=package)] [numa] pu:2", "0,2,1,3"),
    ];
    for (description, numbers) in cases {
        let written = synthetic::for_hwloc(description, || true).expect(description);
        let list = format!("(indexes={numbers})");
        assert_eq!(written.matches(&list).count(), 1, "{written}");
        assert_eq!(written.matches("indexes").count(), 1, "{written}");
    }
}

#[test]
fn memory_side_caches_need_support_of_hwloc() {
    let description = "package:2 [numa(memory=1kB memorysidecachesize=4kB)] pu:2";
    let written = synthetic::for_hwloc(description, || true).expect(description);
    assert_eq!(
        written.trim(),
        "package:2 [numa(memory=1000 memorysidecachesize=4000)] pu:2"
    );
    let problem = synthetic::for_hwloc(description, || false).expect_err(description);
    assert!(
        problem
            .found
            .contains("which the installed hwloc does not know")
    );
    let known = knows_side_caches();
    assert_eq!(Topology::synthetic(description).is_ok(), known);
}

/// Loads `description` through hwloc without rewriting it.
fn read_by_hwloc(description: &str) -> Topology {
    let loaded = builder()
        .expect("a builder")
        .from_synthetic(description)
        .expect(description);
    let loaded = build(loaded).expect(description);
    let limits = imagined_limits(&loaded);
    assemble(&loaded, Source::Synthetic(description.to_owned()), limits)
}

#[test]
fn rewritten_descriptions_load_like_the_original_ones() {
    for description in [
        "4 2",
        "3 2 2 2 2 1 2 2",
        "4 [numa(memory=3GB)] 2 2(indexes=2*8)",
        "pack:2 nu:2 pu:1",
        "Package:2 NUMANode:2(memory=17179869184) L3Cache:1(size=32MB) PU:4",
        "group:2 group:2 l2:1 l1d:2(size=48kB) l1icache:1 core:1 pu:2(indexes=core:group)",
        "core:4 pu:2(indexes=4*2:1*4)",
        "numa:2(indexes=5,3) core:2 pu:2(indexes=numa:core)",
        "package:2 [numa(indexes=package)] [numa(memory=1TB)] pu:2",
        "[numa(indexes=4,3,2,1,0)] package:2 [numa] [numa] pu:2",
        "(memory=1048576) die:2 pu:2",
    ] {
        let ours = Topology::synthetic(description).expect(description);
        let theirs = read_by_hwloc(description);
        let [ours, theirs] = [ours, theirs].map(|topology| crate::format::json(&topology));
        assert_eq!(ours, theirs, "{description}");
    }
}

#[test]
fn descriptions_that_hwloc_accepts_are_accepted() {
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
