//! Tests that each example runs on any number of workers, prints what its header says, and is
//! recorded as it is counted.
//!
//! `cargo test` builds the examples as separate programs, because their harness is disabled in
//! `Cargo.toml`, but it does not report their paths. They are in a folder beside that of this
//! program. Their file names are their names, optionally followed by a hash; the newest file is
//! that of this build.

#[cfg(feature = "mpi")]
#[path = "../../net/tests/mpirun/mod.rs"]
mod mpirun;

mod recorded;

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use std::time::SystemTime;

use raddle_analysis::Recording;

/// Returns the text block of an example's header.
fn promised(source: &str) -> String {
    let header = source
        .lines()
        .map_while(|line| line.strip_prefix("//!"))
        .map(|line| line.strip_prefix(' ').unwrap_or(line));
    header
        .skip_while(|line| *line != "```text")
        .skip(1)
        .take_while(|line| *line != "```")
        .flat_map(|line| [line, "\n"])
        .collect()
}

fn modified(path: &Path) -> SystemTime {
    let metadata = fs::metadata(path).expect("the file exists");
    metadata.modified().expect("the system stores times")
}

/// Returns the newest program that was built of an example.
fn program(name: &str) -> Option<PathBuf> {
    let own = std::env::current_exe().expect("this program is a file");
    let folder = own.parent()?.parent()?.join("examples");
    let files = fs::read_dir(folder).ok()?;
    let is_program = |path: &PathBuf| {
        let file = path.file_name().and_then(|file| file.to_str());
        let rest = file.and_then(|file| file.strip_prefix(name));
        rest.is_some_and(|rest| rest.is_empty() || rest.starts_with('-') && !rest.contains('.'))
    };
    files
        .filter_map(|file| Some(file.ok()?.path()))
        .filter(is_program)
        .max_by_key(|path| modified(path))
}

fn check(source: &Path) {
    let name = source.file_stem().and_then(|name| name.to_str());
    let name = name.expect("an example has a name");
    let promised = promised(&fs::read_to_string(source).expect("a source file is text"));
    assert!(!promised.is_empty(), "{name} does not say what it prints");
    let program = program(name).filter(|program| modified(program) >= modified(source));
    let Some(program) = program else {
        panic!("{name} was not built since it was changed: `cargo test -p raddle` builds it");
    };
    let runs_on_nodes = fs::read_to_string(source).is_ok_and(|text| text.contains("RADDLE_NODES"));
    let ways = [
        ("1", "shm"),
        ("2", "shm"),
        ("4", "shm"),
        ("2", "socket"),
        ("4", "socket"),
    ];
    let ways = if runs_on_nodes { &ways } else { &ways[..1] };
    for workers in ["1", "2", "3"] {
        for (nodes, transport) in ways {
            // Twelve workers that share two CPUs receive so seldom between tasks that the program
            // takes ten seconds. A receiving thread is woken by each message.
            let is_oversubscribed = (workers, *nodes) == ("3", "4");
            let progress = if is_oversubscribed {
                "thread"
            } else {
                "pending"
            };
            let output = Command::new(&program)
                .env("RADDLE_WORKERS", workers)
                .env("RADDLE_PROGRESS", progress)
                .env("RADDLE_NODES", nodes)
                .env("RADDLE_TRANSPORT", transport)
                .output();
            let how = format!("{name} on {nodes} nodes of {workers} workers by {transport}");
            expect(&how, output.expect("a program starts"), &promised);
        }
    }
    check_recording(name, &program);
    #[cfg(feature = "mpi")]
    for ranks in [2, 4].into_iter().filter(|_| runs_on_nodes) {
        let output = mpirun::mpirun(ranks, &program, &[], [("RADDLE_WORKERS", "1")]);
        let how = format!("{name} as {ranks} processes that MPI has started");
        expect(&how, output, &promised);
    }
}

/// Asserts that the recording of a program has as many events as its counters say.
fn check_recording(name: &str, program: &Path) {
    let variables = [
        ("RADDLE_WORKERS", "2"),
        ("RADDLE_NODES", "2"),
        ("RADDLE_TRACE_DETAIL", "all"),
    ];
    let (status, timeline) = recorded::record_command(Command::new(program), name, &variables);
    assert!(status.success(), "{name}: {status}");
    let recording = Recording::new(timeline.expect("a file")).expect("a recording");
    let counted = |counter: &str| -> u64 {
        let runtimes = recording.facts().iter().flat_map(|facts| &facts.runtimes);
        let counts = runtimes.map(|runtime| runtime["report"]["total"][counter].as_u64());
        counts.map(|count| count.expect("a counter")).sum()
    };
    let timeline = recording.timeline();
    let recorded = |categories: &[&str]| {
        let events = timeline.events().iter();
        let is_it = |category: &str| categories.contains(&category);
        events
            .filter(|event| is_it(timeline.text(event.category())))
            .count() as u64
    };
    let mut counts = vec![
        ("messages", recorded(&["message"])),
        ("forks_published", recorded(&["publish"])),
        ("steals_done", recorded(&["steal"])),
    ];
    // An example may end before its last tasks have been counted.
    let tasks = recorded(&["task", "fork", "message"]);
    if tasks.abs_diff(counted("tasks")) > 4 {
        counts.push(("tasks", tasks));
    }
    for (counter, recorded) in counts {
        assert_eq!(recorded, counted(counter), "{counter} of {name}");
    }
    // A program of locations may have sections only.
    assert!(tasks + recorded(&["section"]) > 0, "{name}");
}

/// Asserts that a program has ended successfully, and has printed the promised text.
fn expect(how: &str, output: Output, promised: &str) {
    let stderr = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{how}: {stderr}");
    let printed = String::from_utf8(output.stdout).expect("an example prints text");
    assert_eq!(printed, promised, "{how}");
}

#[test]
fn each_example_prints_what_its_header_says() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("examples");
    let sources: Vec<PathBuf> = fs::read_dir(folder)
        .expect("there are examples")
        .map(|file| file.expect("the folder is readable").path())
        .collect();
    assert!(!sources.is_empty());
    sources.iter().for_each(|source| check(source));
}
