//! `raddle predict` and `raddle simulate`: the figures of the study, parameters from files,
//! pictures, timelines, and errors.

use std::fs;

use serde_json::Value;

use crate::common::{Folder, has, json, run, run_badly, run_well};

fn number(value: &Value, name: &str) -> f64 {
    let found = value.get(name).and_then(Value::as_f64);
    found.unwrap_or_else(|| panic!("{name} in {value}"))
}

#[track_caller]
fn near(found: f64, expected: f64, tolerance: f64) {
    assert!(
        (found - expected).abs() <= tolerance,
        "{found}, expected {expected}"
    );
}

#[test]
fn a_prediction_has_the_quantities_of_the_study() {
    let found = json(&run_well([
        "predict",
        "--nodes",
        "32",
        "--renderers",
        "3",
        "--json",
    ]));
    near(number(&found, "mean_frame_ms"), 23.8885, 5e-5);
    near(number(&found, "renderer_speed"), 0.806_591_762, 1e-9);
    near(number(&found, "handler_speed"), 0.743_591_340, 1e-9);
    near(number(&found, "render_ns"), 11_777.541_714, 1e-6);
    near(number(&found, "handle_ns"), 768.311_031, 1e-6);
    near(number(&found, "miss_wait_ns"), 10_124.622_015, 1e-6);
    near(number(&found, "handler_idle_ns"), 7_208.835_087, 1e-6);
    near(number(&found, "cycle_ns"), 24_726.236_215, 1e-6);
    has(
        &found,
        &[
            "misses",
            "frame_ms",
            "transfer_ns",
            "round_trip_ns",
            "service_ns",
            "queue_load",
            "arrivals_per_us",
            "largest_expected",
            "without_handler_shares",
            "with_handler_shares",
            "queue.response_ns",
        ],
    );
    let text = run_well(["predict"]);
    assert!(text.contains("23.8885 ms"), "{text}");
}

#[test]
fn questions_change_the_answer_as_in_the_study() {
    let frame = |arguments: &[&str]| {
        let all = ["predict", "--json"].iter().chain(arguments);
        number(&json(&run_well(all)), "mean_frame_ms")
    };
    let plain = frame(&[]);
    near(
        frame(&["--slower", "notification=1us"]) / plain,
        1.0529,
        5e-5,
    );
    near(frame(&["--slower", "system=1us"]) / plain, 1.509, 5e-4);
    near(frame(&["--slower", "wire=13909ns"]) / plain, 2.0, 1e-4);
    near(
        frame(&["--slower", "wake=1us,sleep=1.5us"]) / plain,
        1.0419,
        5e-5,
    );
    near(frame(&["--brick", "7"]) / plain, 1.0 / 1.2185, 1e-4);
    assert!(frame(&["--waits", "all-poll"]) > plain);
    assert!(frame(&["--inline", "0.25"]) > plain);
    assert!(frame(&["--answers", "bold"]) > plain);
    assert!(frame(&["--set", "network.wire_ns=1000"]) > plain);
}

#[test]
fn figures_are_tables_json_and_pictures() {
    let folder = Folder::new("figures");
    let at = folder.path("svg");
    let asked = ["predict", "--figure", "wire,53", "--svg"].map(str::to_owned);
    let path = at.display().to_string();
    let text = run_well(asked.iter().map(String::as_str).chain([path.as_str()]));
    assert!(
        text.contains("3 renderers: a frame takes twice as long at 13.909 µs"),
        "{text}"
    );
    let mut names: Vec<_> = fs::read_dir(&at)
        .expect("the folder is made")
        .map(|entry| {
            entry
                .expect("an entry")
                .file_name()
                .into_string()
                .expect("a name")
        })
        .collect();
    names.sort();
    assert_eq!(names, ["53-renderers.svg", "58-wire.svg"]);
    let svg = fs::read_to_string(at.join("58-wire.svg")).expect("a picture");
    assert!(svg.starts_with("<svg") && svg.contains("added wire latency"));

    let found = json(&run_well(["predict", "--figure", "all", "--json"]));
    let figures = found["figures"].as_array().expect("a list");
    for number in 51..=70 {
        assert!(
            figures.iter().any(|figure| figure["figure"] == number),
            "{number}"
        );
    }
}

#[test]
fn parameters_that_are_shown_can_be_read_again() {
    let folder = Folder::new("parameters");
    let text = run_well([
        "predict",
        "--show-parameters",
        "--set",
        "network.wire_ns=1000",
    ]);
    let path = folder.file("mine.toml", text);
    let path = path.to_str().expect("a path");
    let one = run_well(["predict", "--parameters", path, "--json"]);
    let other = run_well(["predict", "--set", "network.wire_ns=1000", "--json"]);
    assert_eq!(one, other);
    let shown = json(&run_well(["predict", "--show-parameters", "--json"]));
    has(
        &shown["values"][0],
        &["key", "value", "expected", "about", "origin"],
    );
    let named = run_well(["predict", "--parameters", "parker-2013", "--json"]);
    assert_eq!(named, run_well(["predict", "--json"]));
}

#[test]
fn errors_of_parameters_name_file_line_and_range() {
    let folder = Folder::new("wrong");
    let error_of = |text: &str| {
        let path = folder.file("node.toml", text);
        run_badly(["predict", "--parameters", path.to_str().expect("a path")])
    };
    for (text, parts) in [
        (
            "[network]\nwire_ns = -1\n",
            &["node.toml: line 2", "network.wire_ns is -1", "from 0"][..],
        ),
        (
            "[core]\ncontexts = 0\n",
            &["line 2", "core.contexts is 0", "from 2 to 1024"],
        ),
        (
            "[network]\nwire = 1\n",
            &["line 2", "network.wire is no parameter", "network.wire_ns"],
        ),
        (
            "[tracer]\n\nother_requests_per_us = 2\n",
            &["line 3", "tracer.other_requests_per_us is 2", "below 1.30"],
        ),
        ("[network\n", &["line 1", "TOML"]),
        (
            "[core]\ncontexts = 3\n",
            &["line 2", "core.contexts is 3", "4 or more"],
        ),
    ] {
        let line = error_of(text);
        for part in parts.iter().chain(&["expected"]) {
            assert!(line.contains(part), "{part:?} is missing in {line}");
        }
    }
    let line = run_badly(["predict", "--parameters", "nowhere.toml"]);
    assert!(
        line.contains("nowhere.toml") && line.contains("parker-2013"),
        "{line}"
    );
    let outcome = run(["predict", "--set", "network.wire_ns=-1"]);
    assert_eq!(outcome.code, Some(2), "{outcome:?}");
    assert!(
        outcome.errors.contains("--set network.wire_ns=-1"),
        "{outcome:?}"
    );
}

#[test]
fn earlier_measurements_are_converted_to_parameters() {
    let folder = Folder::new("calibrate");
    let row = |name: &str, ns: f64| format!("{{\"quantity\":\"{name}\",\"time_s\":{}e-9}}", ns);
    let rows = [
        row("send overhead", 43.0),
        row("wire", 52.0),
        row("polling receive overhead (message waiting)", 20.0),
        row("polling period (no message waiting)", 4.0),
        row("notified receive overhead (message waiting)", 30.0),
        row("thread wake overhead", 1.0),
        row("thread wake latency (in its wait)", 50.0),
        row("round trip, polling", 240.0),
        row("round trip, notified", 262.0),
    ];
    let whole = folder.file(
        "run.json",
        format!("{{\"overheads\":[{}]}}", rows.join(",")),
    );
    let part = folder.file(
        "part.json",
        format!("{{\"overheads\":[{}]}}", rows[1..].join(",")),
    );
    let toml = folder.path("here.toml");
    let arguments = [
        "predict".as_ref(),
        "--calibrate-from".as_ref(),
        whole.as_os_str(),
        "--json".as_ref(),
        "-o".as_ref(),
        toml.as_os_str(),
    ];
    let found = json(&run_well(arguments));
    near(number(&found["measured"], "poll_trip_ns"), 240.0, 1e-9);
    let simulated = [
        "simulate".as_ref(),
        "pingpong".as_ref(),
        "--json".as_ref(),
        "--parameters".as_ref(),
        toml.as_os_str(),
    ];
    let trips = json(&run_well(simulated));
    near(number(&trips["round_trips"][0], "mean_ns"), 240.0, 2.0);
    near(number(&trips["round_trips"][1], "mean_ns"), 262.0, 2.0);
    let line = run_badly([
        "predict".as_ref(),
        "--calibrate-from".as_ref(),
        part.as_os_str(),
    ]);
    assert!(
        line.contains("part.json") && line.contains("send overhead"),
        "{line}"
    );
    let line = run_badly(["predict", "--calibrate-from", "nowhere.json"]);
    assert!(
        line.contains("nowhere.json") && line.contains("expected"),
        "{line}"
    );
}

#[test]
fn this_machine_can_be_measured() {
    let folder = Folder::new("here");
    let toml = folder.path("here.toml");
    let arguments = [
        "predict".as_ref(),
        "--calibrate".as_ref(),
        "--json".as_ref(),
        "-o".as_ref(),
        toml.as_os_str(),
    ];
    let outcome = run(arguments);
    assert_eq!(outcome.code, Some(0), "{outcome:?}");
    let found = json(&outcome.output);
    // Other work on the machine may make measurements contradict each other.
    let doubts = found["measured"]["doubts"].as_array().expect("a list");
    assert_eq!(outcome.errors.lines().count(), doubts.len(), "{outcome:?}");
    for (line, doubt) in outcome.errors.lines().zip(doubts) {
        let doubt = doubt.as_str().expect("a sentence");
        assert!(
            line.starts_with("warning: ") && line.contains(doubt),
            "{line}"
        );
    }
    has(
        &found,
        &[
            "measured.send_ns",
            "measured.wire_ns",
            "measured.speeds",
            "mean_frame_ms",
        ],
    );
    assert_eq!(found["parameters"], "here");
    let again = json(&run_well([
        "predict".as_ref(),
        "--json".as_ref(),
        "--parameters".as_ref(),
        toml.as_os_str(),
    ]));
    assert_eq!(again["mean_frame_ms"], found["mean_frame_ms"]);
}

#[test]
fn simulated_round_trips_are_those_of_the_study() {
    let found = json(&run_well(["simulate", "pingpong", "--json"]));
    let mean = |place: usize| number(&found["round_trips"][place], "mean_ns");
    near(mean(0), 896.0, 2.0);
    near(mean(1), 916.0, 0.1);
    near(mean(2), 921.0, 0.1);
    let text = run_well([
        "simulate",
        "pingpong",
        "--receive",
        "notify",
        "--trips",
        "10",
    ]);
    assert!(text.contains("916.0 ns"), "{text}");
}

#[test]
fn the_simulated_tracer_is_compared_with_its_prediction() {
    let arguments = [
        "simulate",
        "tracer",
        "--nodes",
        "8",
        "--renderers",
        "2",
        "--steady",
        "--set",
        "network.bytes_per_ns=8",
        "--json",
    ];
    let one = run_well(arguments);
    let found = json(&one);
    let ratio = number(&found["predicted"], "mean_frame_ms") / number(&found, "mean_frame_ms");
    near(ratio, 1.0, 0.03);
    has(
        &found,
        &[
            "renderer_speed",
            "miss_wait_ns",
            "cycle_ns",
            "without_handler_shares",
            "events_per_s",
            "counts.events",
            "counts.messages",
        ],
    );
    let again = json(&run_well(arguments));
    assert_eq!(
        again["counts"], found["counts"],
        "the same seed is the same run"
    );
    let text = run_well([
        "simulate",
        "tracer",
        "--nodes",
        "4",
        "--renderers",
        "1",
        "--brick",
        "6",
    ]);
    assert!(
        text.contains("simulated") && text.contains("predicted"),
        "{text}"
    );
}

#[test]
fn the_symmetric_kernel_reports_both_ways_to_wait() {
    let found = json(&run_well([
        "simulate",
        "symmetric",
        "--rounds",
        "100",
        "--json",
    ]));
    let rows = found["handlers"].as_array().expect("a list");
    assert_eq!(rows.len(), 2);
    assert!(number(&rows[0], "speed") < number(&rows[1], "speed"));
    assert!(number(&rows[0], "round_trip_ns") < number(&rows[1], "round_trip_ns"));
}

#[test]
fn a_timeline_is_written_whole_or_not_at_all() {
    const PROGRAM: [&str; 6] = [
        "simulate",
        "pingpong",
        "--receive",
        "thread",
        "--trips",
        "500",
    ];
    let folder = Folder::new("trace");
    let of = |name: &str| {
        let path = folder.path(name);
        let trace = ["--trace", path.to_str().expect("a path")];
        run_well(PROGRAM.into_iter().chain(trace));
        fs::read(path).expect("a file")
    };
    let json = of("trace.json");
    let events: Vec<Value> = serde_json::from_slice(&json).expect("JSON");
    assert!(events.len() >= 500);
    let binary = of("trace.pftrace");
    assert!(binary.len() < json.len() / 10, "it is compressed");
    let read = |bytes: &[u8]| raddle_timeline::read(bytes).expect("a timeline");
    let (one, other) = (read(&json), read(&binary));
    assert_eq!(one.events().len(), other.events().len());
    assert_eq!(one.arrows(), other.arrows());
    assert_eq!(
        folder.names(),
        ["trace.json", "trace.pftrace"],
        "no temporary file remains"
    );
    let line = run_badly(PROGRAM.into_iter().chain(["--trace", "/dev/full"]));
    assert!(line.contains("/dev/full"), "{line}");
    let line = run_badly(
        PROGRAM
            .into_iter()
            .chain(["--trace", "/nowhere/trace.json"]),
    );
    assert!(line.contains("/nowhere/trace.json"), "{line}");
}
