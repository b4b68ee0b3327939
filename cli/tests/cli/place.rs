//! `raddle place`: its text, its pictures and its errors.

use crate::common::{Folder, has, json, run, run_badly, run_well};

const MACHINE: &str = "package:2 core:2 pu:2";

/// Four parties: 0 exchanges data with 3, and 1 with 2.
const PAIRS: &str = "zero,one,two,three\n0,0,0,9\n0,0,9,0\n0,9,0,0\n9,0,0,0\n";

fn place(folder: &Folder, content: &str, more: &[&str]) -> Vec<std::ffi::OsString> {
    let file = folder.file("traffic.csv", content);
    let mut arguments = vec!["place".into(), file.into_os_string()];
    arguments.extend(["--topology", MACHINE].map(Into::into));
    arguments.extend(more.iter().map(Into::into));
    arguments
}

#[test]
fn the_text_of_a_placement_has_names_and_costs() {
    let folder = Folder::new("place-text");
    let text = run_well(place(&folder, PAIRS, &[]));
    for part in [
        "three",
        "treematch   |          360 |       1.00\n",
        "compact     |          720 |       2.00\n",
        "4 parties on 4 of 8 CPUs",
    ] {
        assert!(text.contains(part), "{part:?} is missing in: {text}");
    }
}

#[test]
fn the_json_of_a_placement_has_all_parties() {
    let folder = Folder::new("place-json");
    let found = json(&run_well(place(&folder, PAIRS, &["--json", "--control"])));
    has(
        &found,
        &[
            "strategy",
            "reason",
            "cost_hop_bytes",
            "baselines",
            "parties",
        ],
    );
    let party = |index: usize, key: &str| found["parties"][index][key].as_u64();
    assert_eq!(found["cost_hop_bytes"], 360.0);
    assert_eq!(party(0, "numa_node"), Some(0));
    for index in 0..4 {
        assert_eq!(
            party(index, "control_cpu"),
            party(index, "cpu").map(|cpu| cpu + 1)
        );
    }
}

#[test]
fn a_placement_is_drawn() {
    let folder = Folder::new("place-svg");
    let path = folder.path("placed.svg");
    let output = path.to_str().expect("a path in UTF-8");
    let outcome = run_well(place(
        &folder,
        PAIRS,
        &["--format", "svg", "--output", output],
    ));
    assert_eq!(outcome, "");
    let svg = std::fs::read_to_string(&path).expect("the picture");
    for part in [
        "<svg xmlns=",
        "3 three",
        "class=\"party\"",
        "class=\"idle\"",
        "</svg>",
    ] {
        assert!(svg.contains(part), "{part:?} is missing in: {svg}");
    }
}

#[test]
fn errors_of_matrices_name_file_line_and_column() {
    let folder = Folder::new("place-bad");
    for (content, part) in [
        (
            "0,1\n2,NaN\n",
            "traffic.csv:2:3: found \"NaN\", expected a number",
        ),
        (
            "0,-1\n2,0\n",
            "traffic.csv:1:3: found \"-1\", expected a number",
        ),
        (
            "0,1\n2\n",
            "traffic.csv:2:1: found a row of 1 number, expected 2 numbers",
        ),
        (
            "",
            "traffic.csv:1:1: found the end of the file, expected a matrix",
        ),
    ] {
        let line = run_badly(place(&folder, content, &[]));
        assert!(line.contains(part), "{part:?} is missing in: {line}");
    }
    let line = run_badly(["place", "no-such-file.csv"]);
    assert!(line.contains("no-such-file.csv: "), "{line}");
}

#[test]
fn parties_that_cannot_be_placed_are_an_error() {
    let folder = Folder::new("place-refused");
    let rows = "0,0,0,0,0,0,0,0,0,0,0\n".repeat(11);
    let line = run_badly(place(&folder, &rows, &["--no-sharing"]));
    assert!(
        line.contains("11 parties need a CPU each, and 8 may be used"),
        "{line}"
    );
    for (more, part) in [
        (
            &["--strategy", "exact"][..],
            "found 11 parties, expected at most 10",
        ),
        (
            &["--cpus", "0,77"],
            "there is no CPU 77; expected some of 0-7",
        ),
        (&["--cpus", "compact"], "expected a list of CPUs"),
        (&["--strategy", "best"], "expected treematch, compact"),
    ] {
        let outcome = run(place(&folder, &rows, more));
        assert_eq!(outcome.code, Some(2), "{outcome:?}");
        assert!(
            outcome.errors.contains(part),
            "{part:?} is missing in: {outcome:?}"
        );
    }
}

#[test]
fn programs_are_placed_and_their_run_times_predicted() {
    for (program, more, operations) in [
        (
            "lk23",
            &["--size", "256", "--tasks", "4", "--turns", "3"][..],
            4 + 12,
        ),
        ("matmul", &["--size", "256", "--tasks", "4"], 4 + 3),
        ("pipeline", &["--size", "90", "--turns", "5"], 30),
    ] {
        let arguments = [
            "place",
            "--program",
            program,
            "--topology",
            "numa:2 core:2 pu:1",
        ];
        let arguments: Vec<&str> = arguments.iter().chain(more).copied().collect();
        let text = run_well(&arguments);
        // The run time comes first, without exponents.
        let first = text.lines().next().unwrap_or_default();
        assert!(
            first.contains(&format!("of {program} placed by treematch: "))
                && first.ends_with("s (predicted)"),
            "{first}"
        );
        let numbers = text.split("\n\n").take(2);
        assert!(
            numbers
                .clone()
                .all(|part| !part.contains("e0") && !part.contains("e-")),
            "{text}"
        );
        for part in [
            "with threads that are not bound: ",
            "treematch",
            "round-robin",
            "wandering",
            "migrations",
        ] {
            assert!(text.contains(part), "{part:?} is missing in: {text}");
        }
        let found = json(&run_well(arguments.iter().chain(&["--json"])));
        assert_eq!(found["program"]["operations"], operations, "{program}");
        assert_eq!(found["parties"].as_array().map(Vec::len), Some(operations));
        assert_eq!(found["predicted"]["migrations"], 0);
        assert!(found["predicted"]["time_s"].as_f64() > Some(0.0));
        assert!(found["baselines"][0]["predicted"]["remote_bytes"].is_u64());
        assert!(found["program"]["wandering"]["migrations"].as_u64() > Some(0));
    }
}

#[test]
fn a_slower_link_is_a_longer_time() {
    let seconds = |link: &str| {
        let arguments = [
            "place",
            "--program",
            "pipeline",
            "--json",
            "--topology",
            "numa:4 core:8 pu:1",
        ];
        let found = json(&run_well(arguments.iter().chain(&["--link-gbs", link])));
        found["program"]["wandering"]["time_s"]
            .as_f64()
            .expect("a number")
    };
    assert!(seconds("2") > 1.5 * seconds("20"));
}

#[test]
fn wrong_programs_are_an_error() {
    for (arguments, part) in [
        (&["place"][..], "a matrix"),
        (
            &["place", "a.csv", "--program", "lk23"],
            "cannot be used with",
        ),
        (&["place", "a.csv", "--size", "8"], "MATRIX"),
        (&["place", "--program", "ring"], "pipeline"),
        (
            &["place", "--program", "lk23", "--tasks", "0"],
            "from 1 to 4096",
        ),
        (
            &["place", "--program", "lk23", "--link-gbs", "-1"],
            "expected",
        ),
        (
            &["place", "--program", "lk23", "--node-gbs", "NaN"],
            "expected a rate",
        ),
        (
            &[
                "place",
                "--program",
                "lk23",
                "--size",
                "4",
                "--tasks",
                "100",
            ],
            "expected a point in each",
        ),
        (
            &[
                "place",
                "--program",
                "matmul",
                "--size",
                "4",
                "--tasks",
                "5",
            ],
            "expected at most one task for each row",
        ),
    ] {
        let outcome = run(arguments);
        assert_eq!(outcome.code, Some(2), "{arguments:?}: {outcome:?}");
        assert!(
            outcome.errors.contains(part),
            "{part:?} is missing in: {outcome:?}"
        );
    }
}
