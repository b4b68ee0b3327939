//! Tests of unknown variables, and of the suggested names.

use super::*;

fn check(name: &str) -> Option<(String, Option<&'static str>)> {
    let unknown = unknown_among([name.to_owned()].into_iter());
    let one = unknown.into_iter().next();
    one.map(|unknown| (unknown.name, unknown.nearest))
}

#[test]
fn names_that_are_read_are_known() {
    for name in KNOWN {
        assert_eq!(check(name), None);
    }
    for name in ["RADDLE_TEST_CHILD", "PATH", "RAYON_NUM_THREADS", "raddle"] {
        assert_eq!(check(name), None, "{name}");
    }
    assert!(KNOWN.is_sorted());
}

#[test]
fn misspelt_names_come_with_a_suggestion() {
    for (name, nearest) in [
        ("RADDLE_WORKER", Some("RADDLE_WORKERS")),
        ("RADDLE_WROKERS", Some("RADDLE_WORKERS")),
        ("RADDLE_THREADS", Some("RADDLE_WORKERS")),
        ("RADDLE_NUM_THREADS", Some("RADDLE_WORKERS")),
        ("RADDLE_AFINITY", Some("RADDLE_AFFINITY")),
        ("RADDLE_TASKMEMORY", Some("RADDLE_TASK_MEMORY")),
        ("RADDLE_POOLS", Some("RADDLE_POOL")),
        ("RADDLE_WACTH", Some("RADDLE_WATCH")),
        ("RADDLE_COLOUR_OF_THE_SKY", None),
        ("RADDLE_", None),
        // In lower case, only a name that is close to a known one is reported.
        ("raddle_workers", Some("RADDLE_WORKERS")),
    ] {
        assert_eq!(check(name), Some((name.to_owned(), nearest)));
    }
    assert_eq!(check("raddle_colour_of_the_sky"), None);
}

#[test]
fn unknown_names_are_in_alphabetical_order_and_have_messages() {
    let names = ["RADDLE_WORKRES", "HOME", "RADDLE_X", "RADDLE_POOL"];
    let unknown = unknown_among(names.into_iter().map(str::to_owned));
    let texts: Vec<String> = unknown.iter().map(UnknownVariable::to_string).collect();
    assert_eq!(
        texts,
        [
            "environment variable RADDLE_WORKRES has no effect; did you mean RADDLE_WORKERS?",
            "environment variable RADDLE_X has no effect",
        ]
    );
}

#[test]
fn distance_counts_edited_characters() {
    for (a, b, distance) in [
        ("", "", 0),
        ("", "abc", 3),
        ("abc", "", 3),
        ("abc", "abc", 0),
        ("abc", "acb", 1),
        ("abc", "abd", 1),
        ("abc", "bc", 1),
        ("abcd", "badc", 2),
        ("kitten", "sitting", 3),
    ] {
        assert_eq!(edit_distance(a, b), distance, "{a} {b}");
    }
}
