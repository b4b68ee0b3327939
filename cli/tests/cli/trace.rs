//! `--trace` and `RADDLE_TRACE`: the files of commands, also of those that end early.

use std::collections::BTreeMap;
use std::fs::File;
use std::path::Path;
use std::process::{Command, Stdio};
use std::thread;
use std::time::Duration;

use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;
use raddle_timeline::{EventKind, Timeline, Value, read};

use crate::common::{Folder, Outcome, json, raddle, run_badly};

/// Runs the program with a recording of all events, and returns its outcome and the recording.
#[track_caller]
fn record(file: &Path, arguments: &[&str]) -> (Outcome, Timeline) {
    let outcome: Outcome = raddle()
        .args(arguments)
        .arg("--trace")
        .arg(file)
        .env("RADDLE_TRACE_DETAIL", "all")
        .env("RADDLE_TRACE_BUFFER", "512")
        .output()
        .expect("the program starts")
        .into();
    assert_eq!(outcome.code, Some(0), "{outcome:?}");
    (outcome, timeline(file))
}

#[track_caller]
fn timeline(file: &Path) -> Timeline {
    let timeline = read(File::open(file).expect("the file is there")).expect("a timeline");
    assert_eq!(timeline.warnings(), [""; 0]);
    timeline
}

/// Returns the number of slices and instants of each category.
fn counts(timeline: &Timeline) -> BTreeMap<String, u64> {
    let mut counts = BTreeMap::new();
    for event in timeline.events() {
        let category = timeline.text(event.category()).to_owned();
        *counts.entry(category).or_default() += 1;
    }
    counts
}

/// Returns the counters that the recording of a runtime has as a fact.
fn counters(timeline: &Timeline) -> serde_json::Value {
    let is_facts = |index: &usize| {
        timeline.text(timeline.events()[*index].category()) == raddle_trace::export::FACTS
    };
    let facts = (0..timeline.events().len()).find(is_facts).expect("facts");
    let mut arguments = timeline.arguments(facts);
    let found = arguments.find(|(name, _)| *name == "runtime 0");
    let Some((_, Value::Text(text))) = found else {
        panic!("no facts about the runtime");
    };
    let facts: serde_json::Value = serde_json::from_str(text).expect("JSON");
    facts["report"]["total"].clone()
}

#[test]
fn tasks_messages_and_sections_are_as_many_as_the_counters_say() {
    let folder = Folder::new("trace-counts");
    let picture = folder.path("o.png").display().to_string();
    let kdtree = "kdtree --scene flake:5000 --builder messages";
    let kdtree: Vec<&str> = kdtree.split(' ').collect();
    let calls: [&[&str]; 5] = [
        &[
            "render",
            "--scene",
            "flake:5000",
            "--size",
            "80x60",
            "-o",
            &picture,
        ],
        &kdtree,
        &["sort", "3e5"],
        &["kneighbor", "--iterations", "200", "--repeat", "2"],
        &["lk23", "--size", "128", "--repeat", "1"],
    ];
    for call in calls {
        let (_, timeline) = record(&folder.path("t.pftrace"), call);
        let (counts, counters) = (counts(&timeline), counters(&timeline));
        let of = |category: &str| counts.get(category).copied().unwrap_or(0);
        let counted = |name: &str| counters[name].as_u64().expect("a counter");
        assert_eq!(of("message"), counted("messages"), "{call:?}: {counts:?}");
        // A task is counted at its end, and the last one ends the command.
        let tasks = of("task") + of("fork") + of("message");
        let difference = tasks.abs_diff(counted("tasks"));
        assert!(difference <= 2, "{call:?}: {counts:?} {counters}");
        let (published, steals) = (of("publish"), of("steal"));
        assert_eq!(published, counted("forks_published"), "{call:?}");
        assert_eq!(steals, counted("steals_done"), "{call:?}");
        assert!(of("join") > 0 || call[0] != "sort", "{call:?}");
        assert_eq!(of("section") > 0, call[0] == "lk23", "{call:?}");
        let sends = matches!(call[0], "kneighbor" | "kdtree");
        assert_eq!(of("send") > 0, sends, "{call:?}");
    }
}

#[test]
fn sections_of_a_stencil_are_all_there() {
    let folder = Folder::new("trace-sections");
    let (outcome, timeline) = record(
        &folder.path("t.json"),
        &["lk23", "--size", "128", "--repeat", "1", "--json"],
    );
    assert!(outcome.errors.starts_with("trace: "), "{outcome:?}");
    json(&outcome.output);
    let sections: Vec<_> = timeline
        .events()
        .iter()
        .filter(|event| timeline.text(event.category()) == "section")
        .collect();
    assert!(
        sections
            .iter()
            .all(|event| event.kind() == EventKind::Slice)
    );
    let mut of_location = BTreeMap::new();
    for section in &sections {
        *of_location
            .entry(timeline.text(section.name()))
            .or_insert(0) += 1;
    }
    // In each sweep, a block is written by its own task and read by those of its neighbours.
    let blocks: Vec<(usize, usize, u64)> = of_location
        .iter()
        .filter_map(|(name, number)| {
            let (row, column) = name.strip_prefix("block ")?.split_once(',')?;
            Some((row.parse().ok()?, column.parse().ok()?, *number))
        })
        .collect();
    let last = blocks
        .iter()
        .map(|block| block.0.max(block.1))
        .max()
        .expect("blocks");
    let beside = |at: usize| 3 - u64::from(at == 0) - u64::from(at == last);
    let sweeps = blocks[0].2 / 4;
    assert!(sweeps > 1);
    for (row, column, number) in blocks {
        assert_eq!(
            number,
            sweeps * beside(row) * beside(column),
            "block {row},{column}"
        );
    }
}

#[test]
fn nodes_write_one_file() {
    let folder = Folder::new("trace-nodes");
    let file = folder.path("t.pftrace");
    let call = [
        "kneighbor",
        "--mode",
        "shm",
        "--iterations",
        "100",
        "--repeat",
        "1",
    ];
    let (outcome, timeline) = record(&file, &call);
    assert_eq!(outcome.errors.matches("trace: ").count(), 1, "{outcome:?}");
    assert_eq!(folder.names(), ["t.pftrace"], "no parts are left");
    let names: Vec<&str> = timeline
        .processes()
        .iter()
        .map(|process| timeline.text(process.name))
        .collect();
    assert_eq!(names, ["node 0", "node 1"]);
    // All that one node sends to the other arrives there, and later.
    let of = |name: &str, node: usize| -> Vec<u64> {
        let is_it = |event: &&raddle_timeline::EventRecord| {
            let track = &timeline.tracks()[event.track()];
            timeline.text(event.name()) == name && track.process == Some(node)
        };
        timeline
            .events()
            .iter()
            .filter(is_it)
            .map(|event| event.from_ns())
            .collect()
    };
    for (sender, receiver) in [(0, 1), (1, 0)] {
        let (mut sent, mut received) = (
            of("send to node", sender),
            of("receive from node", receiver),
        );
        // The last messages may arrive after the receiver has written its part.
        let in_flight = sent.len().checked_sub(received.len());
        assert!(!sent.is_empty());
        assert!(in_flight.is_some_and(|count| count <= 3), "{in_flight:?}");
        sent.sort_unstable();
        received.sort_unstable();
        // The times of two processes are on one clock. A sender may be interrupted between the
        // sending of a message and its record, but not often.
        let pairs = sent.iter().zip(&received);
        let late = pairs.filter(|(sent, received)| **sent > **received + 20_000);
        assert!(
            late.count() * 4 < sent.len(),
            "messages arrive before they are sent"
        );
    }
}

/// Starts a command that takes long, lets it run, and ends it by a signal.
#[test]
fn a_command_that_is_interrupted_leaves_its_file() {
    let folder = Folder::new("trace-signal");
    for signal in [Signal::SIGINT, Signal::SIGTERM] {
        let file = folder.path(signal.as_str());
        // Tests that were started in the background of a shell inherit that SIGINT is ignored.
        let mut child = Command::new("env")
            .args(["--default-signal=INT,TERM", env!("CARGO_BIN_EXE_raddle")])
            .args(["sort", "2e8", "--trace"])
            .arg(&file)
            .env_remove("RADDLE_TRACE")
            .env("RADDLE_TRACE_BUFFER", "4")
            .stdout(Stdio::null())
            .spawn()
            .expect("the program starts");
        // The workers have names of their own once they run.
        let tasks = format!("/proc/{}/task", child.id());
        let runs = || std::fs::read_dir(&tasks).is_ok_and(|tasks| tasks.count() > 3);
        while !runs() {
            thread::sleep(Duration::from_millis(5));
        }
        let process = Pid::from_raw(i32::try_from(child.id()).expect("a process id"));
        kill(process, signal).expect("it is a child of this process");
        let status = child.wait().expect("it is a child of this process");
        let ended_by = std::os::unix::process::ExitStatusExt::signal(&status);
        assert_eq!(ended_by, Some(signal as i32), "{status:?}");
        let timeline = timeline(&file);
        assert!(!timeline.tracks().is_empty());
    }
    assert_eq!(
        folder.names(),
        ["SIGINT", "SIGTERM"],
        "nothing else is left"
    );
}

#[test]
fn a_signal_that_is_ignored_stays_ignored() {
    let folder = Folder::new("trace-ignored");
    let file = folder.path("t.pftrace");
    let script = "trap '' INT; \"$1\" sort 1e6 --trace \"$2\" & kill -INT $!; wait $!";
    let outcome: Outcome = Command::new("sh")
        .args(["-c", script, "sh", env!("CARGO_BIN_EXE_raddle")])
        .arg(&file)
        .env_remove("RADDLE_TRACE")
        .output()
        .expect("the shell starts")
        .into();
    assert_eq!(outcome.code, Some(0), "{outcome:?}");
    timeline(&file);
}

#[test]
fn a_file_that_cannot_be_written_is_an_error() {
    let before = run_badly(["sort", "1000", "--trace", "/nonexistent/folder/t"]);
    assert!(before.contains("/nonexistent/folder/t: "), "{before}");
    // The disk is full at the end: the result was printed before.
    let outcome: Outcome = raddle()
        .args(["sort", "100000", "--trace", "/dev/full"])
        .output()
        .expect("the program starts")
        .into();
    assert_eq!(outcome.code, Some(1), "{outcome:?}");
    assert!(outcome.output.contains("in order"), "{outcome:?}");
    assert!(
        outcome.errors.contains("/dev/full: No space left"),
        "{outcome:?}"
    );
    let folder = Folder::new("trace-variables");
    for (variable, value) in [
        ("RADDLE_TRACE_BUFFER", "0"),
        ("RADDLE_TRACE_DETAIL", "most"),
    ] {
        let outcome: Outcome = raddle()
            .args(["sort", "1000", "--trace"])
            .arg(folder.path("t"))
            .env(variable, value)
            .output()
            .expect("the program starts")
            .into();
        assert_eq!(outcome.code, Some(2), "{outcome:?}");
        assert!(outcome.errors.contains(variable), "{outcome:?}");
        assert_eq!(outcome.output, "");
    }
    // A call that is wrong runs nothing, and writes nothing.
    let call = ["kneighbor", "--mode", "all", "--stats", "--trace"];
    let outcome: Outcome = raddle()
        .args(call)
        .arg(folder.path("t"))
        .output()
        .expect("the program starts")
        .into();
    assert_eq!(outcome.code, Some(2), "{outcome:?}");
    assert!(!outcome.errors.contains("trace: "), "{outcome:?}");
    assert_eq!(folder.names(), [""; 0]);
}

#[test]
fn the_variable_records_every_command_with_workers() {
    let folder = Folder::new("trace-variable");
    let outcome: Outcome = raddle()
        .args(["sort", "100000", "--json"])
        .env("RADDLE_TRACE", folder.path("t-%p.pftrace"))
        .output()
        .expect("the program starts")
        .into();
    assert_eq!(
        (outcome.code, &*outcome.errors),
        (Some(0), ""),
        "{outcome:?}"
    );
    let names = folder.names();
    let [name] = &names[..] else {
        panic!("{names:?}");
    };
    let timeline = timeline(&folder.path(name));
    assert!(counts(&timeline).contains_key("join"));
}

#[test]
fn a_signal_during_the_writing_waits_for_the_file() {
    let folder = Folder::new("trace-twice");
    let file = folder.path("t.pftrace");
    let mut program = raddle()
        .args([
            "kneighbor",
            "--iterations",
            "1e9",
            "--workers",
            "2",
            "--quiet",
            "--trace",
        ])
        .arg(&file)
        .env("RADDLE_TRACE_DETAIL", "all")
        .stdout(Stdio::null())
        .spawn()
        .expect("the program starts");
    let process = Pid::from_raw(program.id() as i32);
    // Many events, so that the writing takes some time.
    thread::sleep(Duration::from_millis(2_500));
    kill(process, Signal::SIGTERM).expect("it runs");
    while folder.names().is_empty() {
        thread::sleep(Duration::from_millis(1));
    }
    kill(process, Signal::SIGTERM).expect("it has not been waited for");
    assert_eq!(program.wait().expect("it ends").code(), None);
    assert_eq!(folder.names(), ["t.pftrace"]);
    assert!(!timeline(&file).events().is_empty());
}

#[test]
fn a_pipe_gets_the_recording() {
    let folder = Folder::new("trace-pipe");
    let pipe = folder.path("pipe");
    let made = Command::new("mkfifo").arg(&pipe).status();
    assert!(made.expect("mkfifo runs").success());
    let reader = {
        let pipe = pipe.clone();
        thread::spawn(move || read(File::open(pipe).expect("a pipe")).expect("a timeline"))
    };
    let outcome: Outcome = raddle()
        .args(["sort", "1000", "--quiet", "--trace"])
        .arg(&pipe)
        .output()
        .expect("the program starts")
        .into();
    assert_eq!(outcome.code, Some(0), "{outcome:?}");
    let timeline = reader.join().expect("the reader ends");
    assert!(!timeline.events().is_empty());
}

#[test]
fn all_nodes_of_all_jobs_replace_the_numbers_in_the_name_alike() {
    let folder = Folder::new("trace-names");
    let call = |mode: &str| -> (u32, Outcome) {
        let program = raddle()
            .args([
                "kneighbor",
                "--iterations",
                "20",
                "--repeat",
                "1",
                "--mode",
                mode,
                "--trace",
            ])
            .arg(folder.path("%p-%n.pftrace"))
            .stdout(Stdio::null())
            .stderr(Stdio::piped())
            .spawn()
            .expect("the program starts");
        (
            program.id(),
            program.wait_with_output().expect("it ends").into(),
        )
    };
    let (process, outcome) = call("shm");
    assert_eq!(outcome.code, Some(0), "{outcome:?}");
    let name = format!("{process}-0.pftrace");
    assert_eq!(folder.names(), [&*name]);
    assert_eq!(timeline(&folder.path(&name)).processes().len(), 2);
    let (process, outcome) = call("all");
    assert_eq!(outcome.code, Some(0), "{outcome:?}");
    let name = format!("{process}-0.pftrace");
    assert_eq!(folder.names().len(), 2);
    assert!(timeline(&folder.path(&name)).processes().len() > 2);
}
