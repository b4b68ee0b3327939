//! `raddle report`: text, JSON, CSV and pages, from a recording of each model.

use std::path::Path;
use std::process::{Command, Stdio};
use std::thread;
use std::time::Duration;

use serde_json::Value;

use crate::browser::Browser;
use crate::common::{Folder, Outcome, has, json, raddle, run_badly, run_well};

/// Records a command. Returns the path of the recording, and the outcome of the command.
#[track_caller]
fn record_with(folder: &Folder, name: &str, call: &str) -> (String, Outcome) {
    let file = folder.path(name);
    let outcome: Outcome = raddle()
        .args(call.split(' '))
        .arg("--trace")
        .arg(&file)
        .env("RADDLE_TRACE_DETAIL", "all")
        .env("RADDLE_TRACE_BUFFER", "256")
        .output()
        .expect("the program starts")
        .into();
    assert_eq!(outcome.code, Some(0), "{outcome:?}");
    (file.display().to_string(), outcome)
}

/// Records a command, and returns the path of the recording.
#[track_caller]
fn record(folder: &Folder, name: &str, call: &str) -> String {
    record_with(folder, name, call).0
}

#[test]
fn text_json_and_csv_say_the_same() {
    let folder = Folder::new("report-forms");
    let file = record(&folder, "sort.pftrace", "sort 3e5 --repeat 1 --workers 2");
    let text = run_well(["report", &file, "--quiet", "--rows", "3"]);
    let value = json(&run_well(["report", &file, "--json", "--quiet"]));
    let overview = value["findings"][0]["text"].as_str().expect("a sentence");
    let words: Vec<&str> = text.split_whitespace().collect();
    assert!(words.join(" ").contains(overview), "{overview}\n{text}");
    has(
        &value,
        &[
            "command",
            "length_ns",
            "utilisation.threads.0.state_ns",
            "forecast.span.span_ns",
            "forecast.points.0.speedup",
            "places.workers.1.reason",
            "profile.lines.0.exclusive_ns",
        ],
    );
    let csv = run_well(["report", &file, "--csv", "profile", "--quiet"]);
    let lines = value["profile"]["lines"].as_array().expect("lines");
    assert_eq!(csv.lines().count(), lines.len() + 1);
    assert!(csv.starts_with("function,kind,caller,calls,"), "{csv}");
    for table in raddle_analysis::summary::TABLES {
        run_well(["report", &file, "--csv", table, "--quiet"]);
    }
}

#[test]
fn messages_of_all_nodes_are_recorded_as_they_are_counted() {
    let folder = Folder::new("report-counts");
    let call = "kneighbor --mode shm --nodes 2 --workers 2 --iterations 50 --repeat 2 --json \
                --stats";
    let (file, outcome) = record_with(&folder, "nodes.pftrace", call);
    let nodes = json(&outcome.output)["stats_of_nodes"].clone();
    let nodes = nodes.as_array().expect("a list");
    assert_eq!(nodes.len(), 2);
    let counted: u64 = nodes
        .iter()
        .filter_map(|node| node["total"]["messages"].as_u64())
        .sum();
    let value = json(&run_well(["report", &file, "--json", "--quiet"]));
    let kinds = value["durations"]["kinds"].as_array().expect("a list");
    let messages = kinds.iter().filter(|kind| kind["category"] == "message");
    let recorded: u64 = messages.filter_map(|kind| kind["count"].as_u64()).sum();
    // The answers to the question for the counters, and the end of the arrays, come afterwards.
    let later = recorded - counted;
    assert!(later <= 16, "{recorded} recorded, {counted} counted");
    // Regression: a message to another node was recorded as sent twice.
    let entries = value["messages"]["entries"].as_array().expect("a list");
    let receive = entries
        .iter()
        .find(|entry| entry["entry"] == "Element::receive");
    let sent = receive.and_then(|entry| entry["traffic"]["messages"].as_u64());
    let runs = kinds
        .iter()
        .filter(|kind| kind["name"] == "Element::receive");
    let runs: u64 = runs.filter_map(|kind| kind["count"].as_u64()).sum();
    assert_eq!(sent, Some(runs));
    // A message to all elements is one to each worker.
    let begin = entries
        .iter()
        .find(|entry| entry["entry"] == "Element::begin")
        .expect("a message");
    let begun = begin["traffic"]["messages"].as_u64();
    assert!(
        begun.is_some_and(|begun| begun > 0 && begun % 2 == 0),
        "{begin}"
    );
    // They have arrows to their runs, also to another node. A few may have none: the time of an
    // event without a reading is estimated, and a sender without a CPU meanwhile seems to be late.
    let linked = receive.and_then(|entry| entry["run"][0].as_u64());
    assert!(
        linked
            .zip(sent)
            .is_some_and(|(linked, sent)| 100 * linked >= 99 * sent)
    );
}

#[test]
fn a_command_with_several_jobs_has_the_nodes_of_all_of_them() {
    let folder = Folder::new("report-jobs");
    let call = "kneighbor --mode shm --nodes 2 --progress all --iterations 50 --repeat 1";
    let (file, outcome) = record_with(&folder, "jobs.pftrace", call);
    assert!(!outcome.errors.contains("warning"), "{outcome:?}");
    assert_eq!(folder.names(), ["jobs.pftrace"]);
    let value = json(&run_well(["report", &file, "--json", "--quiet"]));
    let nodes = value["messages"]["nodes"].as_array().expect("a list");
    assert_eq!(
        nodes[..3],
        ["node 0", "node 1", "job 2, node 1"],
        "{nodes:?}"
    );
    // The first node and the other one of each job send to each other. A node also wakes itself.
    let flows = value["messages"]["between_nodes"].as_array();
    let flows = flows.expect("a list").iter();
    let pairs: Vec<_> = flows
        .filter_map(|flow| Some((flow["from"].as_u64()?, flow["to"].as_u64()?)))
        .filter(|(from, to)| from != to)
        .collect();
    let others = 1..nodes.len() as u64;
    let forth = others.clone().map(|node| (0, node));
    let back = others.map(|node| (node, 0));
    assert_eq!(pairs, forth.chain(back).collect::<Vec<_>>());
    let threads = value["utilisation"]["threads"].as_array().expect("a list");
    let is_there = |name: &str| threads.iter().any(|thread| thread["name"] == name);
    assert!(is_there("job 2, node 1, worker 0"), "{threads:?}");
}

#[test]
fn one_file_twice_is_an_error() {
    let folder = Folder::new("report-twice");
    let file = record(&folder, "sort.pftrace", "sort 1e5");
    let error = run_badly(["report", &file, &file]);
    assert!(error.contains("two recordings of the process 0"), "{error}");
}

#[test]
fn a_table_that_a_recording_does_not_have_is_an_error_and_no_empty_file() {
    let folder = Folder::new("report-no-table");
    let file = folder.path("short.pftrace");
    // The buffer is too small for all events.
    let outcome = raddle()
        .args([
            "kneighbor",
            "--iterations",
            "5000",
            "--workers",
            "2",
            "--trace",
        ])
        .arg(&file)
        .env("RADDLE_TRACE_DETAIL", "all")
        .env("RADDLE_TRACE_BUFFER", "1")
        .output();
    assert!(outcome.expect("the program starts").status.success());
    let file = file.display().to_string();
    let output = folder.file("t.csv", "kept").display().to_string();
    let error = run_badly(["report", &file, "--csv", "path", "-o", &output]);
    assert!(error.contains("no table path: "), "{error}");
    assert_eq!(std::fs::read_to_string(output).expect("a file"), "kept");
}

#[test]
fn a_job_with_a_killed_node_leaves_parts_that_can_be_reported_together() {
    let folder = Folder::new("report-parts");
    let file = folder.path("job.pftrace");
    let mut job = raddle()
        .args([
            "kneighbor",
            "--mode",
            "shm",
            "--nodes",
            "3",
            "--iterations",
            "1e9",
        ])
        .arg("--trace")
        .arg(&file)
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .expect("the program starts");
    let nodes = || {
        let children = Command::new("pgrep")
            .args(["-P", &job.id().to_string()])
            .output()
            .expect("pgrep runs");
        let text = String::from_utf8(children.stdout).expect("numbers");
        text.lines().map(str::to_owned).collect::<Vec<_>>()
    };
    while nodes().len() < 2 {
        thread::sleep(Duration::from_millis(20));
    }
    // Let them exchange messages.
    thread::sleep(Duration::from_millis(1_000));
    let killed = nodes().pop().expect("two nodes");
    let kill = Command::new("kill").args(["-s", "KILL", &killed]).status();
    assert!(kill.expect("kill runs").success());
    assert_eq!(job.wait().expect("it ends").code(), Some(1));
    // The other node ends when it finds that the first one has gone.
    let parts = || {
        folder
            .names()
            .into_iter()
            .filter(|name| name.contains(".node-"))
    };
    while parts().count() < 2 {
        thread::sleep(Duration::from_millis(20));
    }
    let mut call = vec![
        "report".to_owned(),
        "--json".to_owned(),
        "--quiet".to_owned(),
    ];
    call.extend(parts().map(|name| folder.path(&name).display().to_string()));
    let value = json(&run_well(call));
    assert_eq!(value["programs"].as_array().map(Vec::len), Some(2));
    assert_ne!(
        value["messages"]["between_nodes"].as_array().map(Vec::len),
        Some(0)
    );
}

#[test]
fn work_span_and_the_simulated_time_of_one_worker_agree() {
    let folder = Folder::new("report-forecast");
    let file = record(
        &folder,
        "lk23.pftrace",
        "lk23 --size 128 --repeat 1 --workers 1",
    );
    let value = json(&run_well(["report", &file, "--json", "--quiet"]));
    let forecast = &value["forecast"];
    let number = |value: &Value| value.as_f64().expect("a number");
    let work = number(&forecast["span"]["work_ns"]);
    let busy = work + number(&forecast["span"]["outside_ns"]);
    let one = number(&forecast["points"][0]["run"]["ns"]);
    // The thread outside may work beside the worker, if that was interrupted at its end.
    assert!(
        one <= 1.01 * busy && work <= 1.01 * one,
        "{work} {busy} {one}"
    );
    let recorded = number(&forecast["recorded_ns"]);
    assert!(one <= 1.01 * recorded, "{one} {recorded}");
    assert!(number(&forecast["span"]["span_ns"]) <= one, "{forecast}");
}

/// Opens the page about a recording.
fn open(name: &str, recording: &str, page: &Path) -> Browser {
    run_well([
        "report",
        recording,
        "-o",
        &page.display().to_string(),
        "--quiet",
    ]);
    let mut browser = Browser::open(name, &format!("file://{}", page.display()), [1_000, 700]);
    browser.until("document.querySelectorAll('section').length === 8");
    browser
}

#[test]
fn a_page_shows_a_recording_of_each_model() {
    let folder = Folder::new("report-pages");
    // A command of each model, and a part of the page that only this model has.
    let models = [
        ("tasks", "sort 3e5 --repeat 1 --workers 2", "#grain", "fork"),
        (
            "chares",
            "kneighbor --iterations 50 --repeat 1 --workers 2",
            "#messages table[data-key=messages]",
            "Element::receive",
        ),
        (
            "locations",
            "lk23 --size 128 --block 32 --repeat 1 --workers 2",
            "#profile",
            "section",
        ),
        (
            "nodes",
            "kneighbor --mode shm --nodes 2 --iterations 50 --repeat 1",
            "#utilisation",
            "node 1, worker 0",
        ),
    ];
    for (name, call, part, words) in models {
        let recording = record(&folder, &format!("{name}.pftrace"), call);
        let page = folder.path(&format!("{name}.html"));
        let mut browser = open(&format!("report-{name}"), &recording, &page);
        let shown = browser.evaluate(&format!("document.querySelector('{part}').textContent"));
        let shown = shown.as_str().expect("text");
        assert!(shown.contains(words), "{name}: {shown}");
        let bars = browser.evaluate("document.querySelectorAll('#over-time rect').length");
        assert!(bars.as_u64() > Some(50), "{name}: {bars}");
        let requests = browser.evaluate("performance.getEntriesByType('resource').length");
        assert_eq!(requests, 0, "{name}");
        let overview = browser.evaluate("document.querySelector('.overview').textContent");
        let overview = overview.as_str().expect("text");
        assert!(overview.contains("worked"), "{name}: {overview}");
    }
}

#[test]
fn a_click_on_a_heading_sorts_a_table() {
    let folder = Folder::new("report-sort");
    let recording = record(&folder, "sort.pftrace", "sort 3e5 --repeat 1 --workers 2");
    let mut browser = open("report-click", &recording, &folder.path("sort.html"));
    let cells = "[...document.querySelectorAll('#profile tbody tr')]\
                 .map(row => Number(row.cells[3].textContent))";
    browser.evaluate("document.querySelectorAll('#profile th button')[3].click()");
    let calls = browser.evaluate(cells);
    let calls: Vec<u64> = serde_json::from_value(calls).expect("numbers");
    assert!(
        calls.len() > 2 && calls.is_sorted_by(|one, next| one >= next),
        "{calls:?}"
    );
    browser.evaluate("document.querySelectorAll('#profile th button')[3].click()");
    let calls: Vec<u64> = serde_json::from_value(browser.evaluate(cells)).expect("numbers");
    assert!(calls.is_sorted(), "{calls:?}");
}

#[test]
fn files_that_are_no_recordings_are_refused() {
    let folder = Folder::new("report-wrong");
    let other = folder.file(
        "other.json",
        "[{\"ph\":\"X\",\"ts\":1,\"dur\":2,\"name\":\"a\"}]",
    );
    let garbage = folder.file("garbage.pftrace", "not a timeline");
    let missing = folder.path("missing.pftrace");
    let empty = folder.file("empty.pftrace", "");
    for (file, words) in [
        (&other, "found no facts of a recording"),
        (&garbage, "expected"),
        (&missing, "No such file"),
        (&empty, "found no facts of a recording"),
    ] {
        let outcome = run_badly(["report", &file.display().to_string()]);
        assert!(outcome.contains(words), "{outcome}");
        assert!(outcome.contains(&file.display().to_string()), "{outcome}");
    }
    let same = other.display().to_string();
    let outcome = run_badly(["report", &same, "-o", &same]);
    assert!(outcome.contains("found the input"), "{outcome}");
}

#[test]
fn a_recording_that_is_cut_off_is_reported_as_far_as_it_goes() {
    let folder = Folder::new("report-cut");
    let file = record(&folder, "sort.pftrace", "sort 3e5 --repeat 1 --workers 2");
    let bytes = std::fs::read(&file).expect("the file");
    let cut = folder.file("cut.pftrace", &bytes[..bytes.len() * 3 / 4]);
    let outcome: Outcome = raddle()
        .arg("report")
        .arg(&cut)
        .output()
        .expect("the program starts")
        .into();
    assert_eq!(outcome.code, Some(0), "{outcome:?}");
    assert!(outcome.errors.contains("cut off at byte"), "{outcome:?}");
    assert!(outcome.output.contains("Utilisation"), "{outcome:?}");
}
