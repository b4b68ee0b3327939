//! `raddle lk23` and `raddle matmul`: programs of ordered locations, their checks and their
//! reports.

use std::fs;
use std::process::Command;

use serde_json::Value;

use crate::common::{Folder, has, json, run, run_badly, run_well};

#[test]
fn a_stencil_is_right_in_both_forms() {
    for form in [&[][..], &["--threads"]] {
        let call = [
            "lk23",
            "--rows",
            "70",
            "--columns",
            "53",
            "--turns",
            "9",
            "--block",
            "20x16",
            "--depth",
            "3",
            "--check",
            "--workers",
            "2",
        ];
        let text = run_well(call.iter().chain(form));
        assert!(
            text.contains("3 × 3, of about 23 × 17 points, up to 3 sweeps"),
            "{text}"
        );
        assert!(text.contains("bit for bit"), "{text}");
    }
}

#[test]
fn the_checksum_depends_only_on_the_numbers() {
    let sum = |options: &[&str]| {
        let call = ["lk23", "--size", "60", "--turns", "7", "--json"];
        let result = json(&run_well(call.iter().chain(options)));
        result["checksum"].as_str().expect("a checksum").to_owned()
    };
    let plain = sum(&["--workers", "1"]);
    assert_eq!(
        sum(&["--workers", "3", "--block", "7", "--repeat", "2"]),
        plain
    );
    assert_ne!(sum(&["--seed", "2"]), plain);
}

#[test]
fn a_product_is_right_in_both_forms() {
    for form in [&[][..], &["--threads"]] {
        let call = [
            "matmul",
            "--rows",
            "90",
            "--inner",
            "61",
            "--columns",
            "77",
            "--tasks",
            "5",
            "--check",
            "--workers",
            "2",
        ];
        let text = run_well(call.iter().chain(form));
        assert!(text.contains("5 row tasks, 9 operations"), "{text}");
        assert!(text.contains("is allowed"), "{text}");
    }
}

#[test]
fn the_json_has_all_results() {
    let result = json(&run_well([
        "lk23",
        "--size",
        "64",
        "--turns",
        "4",
        "--block",
        "16",
        "--workers",
        "2",
        "--stats",
        "--show-binding",
        "--json",
    ]));
    has(
        &result,
        &[
            "blocks",
            "depth",
            "run_s",
            "points_per_s",
            "gflops",
            "operations",
            "sections",
            "placement",
            "system",
            "binding",
            "stats",
        ],
    );
    has(
        &result["system"],
        &[
            "context_switches_voluntary",
            "context_switches_involuntary",
            "cpu_migrations",
            "page_faults_minor",
            "page_faults_major",
            "runs",
            "cache_misses",
            "l1_data_cache_misses",
        ],
    );
    // Sixteen blocks: four have eight borders each, eight have five, and four have three.
    assert_eq!(result["operations"], 16 + 4 * 8 + 8 * 5 + 4 * 3);
    let result = json(&run_well([
        "matmul",
        "--size",
        "64",
        "--workers",
        "1",
        "--json",
    ]));
    has(
        &result,
        &["tasks", "block_product", "run_s", "gflops", "checked"],
    );
}

#[test]
fn the_text_has_the_counts_of_the_system() {
    let text = run_well(["matmul", "--size", "64", "--stats"]);
    for part in [
        "context switches",
        "CPU migrations",
        "page faults",
        "cache misses",
    ] {
        assert!(text.contains(part), "{part}: {text}");
    }
}

#[test]
fn the_extension_selects_the_format_of_the_matrix() {
    let folder = Folder::new("program-matrix");
    for (name, begin) in [
        ("m.csv", "\"row 0/product\","),
        ("m.mtx", "%%MatrixMarket"),
        ("m.svg", "<svg"),
    ] {
        let path = folder.path(name);
        let call = ["matmul", "--size", "64", "--tasks", "3", "--show-matrix"];
        run_well(call.iter().map(AsRef::as_ref).chain([path.as_os_str()]));
        let text = fs::read_to_string(&path).expect("a matrix");
        assert!(text.starts_with(begin), "{name}: {text}");
        if name != "m.svg" {
            let placed = run_well(["place".as_ref(), path.as_os_str()]);
            assert!(placed.contains("party"), "{placed}");
        }
    }
}

// Regression: the picture showed operations placed by the data that they exchange, but kernel 23
// places its operations itself.
#[test]
fn the_picture_shows_where_operations_run() {
    let folder = Folder::new("program-picture");
    let path = folder.path("m.svg");
    let call = ["lk23", "--size", "200", "--show-matrix"];
    run_well(call.iter().map(AsRef::as_ref).chain([path.as_os_str()]));
    let text = fs::read_to_string(&path).expect("a picture");
    for part in ["rows of blocks dealt out", "0 block 0,0/main, 1 block 0,0/"] {
        assert!(text.contains(part), "{part}: {text}");
    }
}

// With two workers on one CPU, one worker is not bound. Regression: all operations went to the
// other worker, the cost of dealt rows was unknown, and there was no picture.
#[test]
#[cfg(target_os = "linux")]
fn workers_that_are_not_bound_run_operations() {
    let folder = Folder::new("program-one-cpu");
    let path = folder.path("m.svg");
    let run = |call: &[&str]| {
        let output = Command::new("taskset")
            .args(["--cpu-list", "0", env!("CARGO_BIN_EXE_raddle")])
            .args(["--workers", "2", "--show-binding", "--json"])
            .args(call)
            .arg("--show-matrix")
            .arg(&path)
            .output()
            .expect("taskset, which is part of util-linux");
        assert!(output.status.success(), "{output:?}");
        serde_json::from_slice::<Value>(&output.stdout).expect("an object")
    };
    for call in [&["matmul", "--size", "200"][..], &["lk23", "--size", "100"]] {
        let placement = &run(call)["placement"];
        let places = placement["places"].as_array().expect("places");
        for worker in 0..2 {
            let has_part = |place: &Value| place["worker_index"] == worker;
            assert!(places.iter().any(has_part), "{placement}");
        }
        assert!(
            placement["cost_hop_bytes"].as_f64() > Some(0.0),
            "{placement}"
        );
    }
    let text = fs::read_to_string(&path).expect("a picture");
    assert!(text.contains("rows of blocks dealt out"), "{text}");
}

#[test]
fn impossible_calls_are_an_error() {
    for (call, part) in [
        (
            &["lk23", "--size", "20", "--block", "30"][..],
            "expected at most 20",
        ),
        (
            &["lk23", "--size", "20", "--block", "5", "--depth", "6"],
            "--depth 6",
        ),
        (&["lk23", "--size", "0"], "0"),
        (&["lk23", "--block", "0"], "expected rows and columns"),
        (
            &["matmul", "--size", "4", "--tasks", "5"],
            "expected at most 4 tasks",
        ),
        (
            &["matmul", "--show-matrix", "matrix.png"],
            ".csv, .mtx or .svg",
        ),
    ] {
        let outcome = run(call);
        assert_eq!(outcome.code, Some(2), "{call:?}: {}", outcome.errors);
        assert!(
            outcome.errors.contains(part),
            "{call:?}: {}",
            outcome.errors
        );
    }
    let huge = ["matmul", "--size", "1000000", "--check"];
    let line = run_badly(&huge[..3]);
    let expected = "no memory for 32000000000000 bytes";
    assert!(line.contains(expected), "{line}");
    // The check needs a matrix of its own.
    let line = run_badly(huge);
    let expected = "no memory for 40000000000000 bytes";
    assert!(line.contains(expected), "{line}");
}
