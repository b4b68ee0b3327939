//! Medians, and the JSON format that other programs read.

use super::*;

fn record(ratio: Option<f64>) -> Record {
    Record {
        suite: "forks".into(),
        case: "fib38".into(),
        contender: "rayon".into(),
        workers: 2,
        unit: "ms".into(),
        median: 2.0,
        min: 1.0,
        max: 3.0,
        pairs: 5,
        ratio,
        ratio_range: ratio.map(|ratio| (ratio, ratio)),
        machine: "a machine".into(),
        mode: "near".into(),
        commit: "0123".into(),
    }
}

#[test]
fn the_median_of_an_even_count_is_the_mean_of_the_middle_two() {
    assert_eq!(median(&[5.0, 1.0, 3.0]), 3.0);
    assert_eq!(median(&[4.0, 1.0, 3.0, 2.0]), 2.5);
}

#[test]
fn the_json_has_exactly_the_documented_fields() {
    let fields = |record: &Record| -> Vec<String> {
        let line = record.json().expect("a record serialises");
        let value: serde_json::Value = serde_json::from_str(&line).expect("JSON");
        assert_eq!(value["schema"], 2);
        value
            .as_object()
            .expect("as an object")
            .keys()
            .cloned()
            .collect()
    };
    let mut expected = vec![
        "suite",
        "case",
        "contender",
        "workers",
        "unit",
        "median",
        "min",
        "max",
        "pairs",
        "machine",
        "mode",
        "commit",
        "schema",
    ];
    expected.sort_unstable();
    let mut own = fields(&record(None));
    own.sort_unstable();
    assert_eq!(own, expected);
    expected.push("ratio");
    expected.sort_unstable();
    let mut peer = fields(&record(Some(0.4)));
    peer.sort_unstable();
    assert_eq!(peer, expected);
}

#[test]
fn records_are_read_back_from_their_lines() {
    let name = format!("raddle-bench-record-{}.jsonl", std::process::id());
    let path = std::env::temp_dir().join(name);
    let of_case = |case: &str| Record {
        case: case.into(),
        ratio_range: None,
        ..record(Some(0.4))
    };
    let (first, second) = (of_case("fib38"), of_case("tree24/7"));
    let other = Record {
        suite: "loops".into(),
        ..of_case("loop1e6")
    };
    let lines = [&first, &second, &other].map(|record| record.json().expect("a record"));
    std::fs::write(&path, lines.join("\n") + "\n\n").expect("a new file");
    let found = |case| read(&path, "forks", case).expect("the records");
    assert_eq!(found(None), [first, second.clone()]);
    assert_eq!(found(Some("tree24")), [second]);

    let refusal = |suite, case| {
        let refused = read(&path, suite, case).expect_err("no such records");
        refused.to_string()
    };
    assert!(refusal("pools", None).contains("no record of the suite pools"));
    assert!(refusal("forks", Some("queens12")).contains("its case queens12"));
    std::fs::write(&path, lines[0].replace("\"schema\":2", "\"schema\":1")).expect("a file");
    assert!(refusal("forks", None).contains("line 1: schema 1; expected"));
    std::fs::write(&path, format!("{}\n{{", lines[0])).expect("a file");
    assert!(refusal("forks", None).contains("line 2: "));
    std::fs::remove_file(&path).expect("the file still exists");
    assert!(refusal("forks", None).contains("--from "));
}

#[test]
fn the_processor_name_comes_from_its_line() {
    let text = "processor\t: 0\nmodel name\t: Some CPU @ 2 GHz\n";
    assert_eq!(processor_name(text).as_deref(), Some("Some CPU @ 2 GHz"));
    assert_eq!(processor_name("flags: x"), None);
}

#[test]
fn a_row_of_a_peer_shows_its_ratio() {
    assert!(table_row(&record(Some(0.4))).contains("0.400"));
    assert!(!table_row(&record(None)).contains('–'));
}
