//! Recordings of programs that end in unusual ways, or have very many events or threads.
//!
//! A recording is of a whole process. So each test starts this program again, for one test alone,
//! which does the work that is recorded.

use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::process::{Command, ExitStatus};
use std::thread;

use raddle::Runtime;
use raddle::trace::export::FACTS;
use raddle::trace::record;
use raddle_timeline::{Timeline, Value, read};

/// The variable by which a test knows that it is the recorded program.
const RECORDED: &str = "RADDLE_TEST_RECORDED";

/// Returns true in the recorded program.
fn is_recorded() -> bool {
    std::env::var_os(RECORDED).is_some()
}

/// A folder that is removed when the test ends.
struct Folder(PathBuf);

impl Drop for Folder {
    fn drop(&mut self) {
        let _gone = fs::remove_dir_all(&self.0);
    }
}

/// Runs this program for `test` alone, recorded with these variables. Returns how it has ended, and
/// the recording, unless there is none.
fn record(test: &str, variables: &[(&str, &str)]) -> (ExitStatus, Option<Timeline>) {
    let name = format!("raddle-trace-{}-{test}", std::process::id());
    let folder = Folder(std::env::temp_dir().join(name));
    fs::create_dir_all(&folder.0).expect("a temporary folder");
    let file = folder.0.join("t.pftrace");
    let output = Command::new(std::env::current_exe().expect("this program is a file"))
        .args(["--exact", test, "--nocapture"])
        .env(RECORDED, "1")
        .env("RADDLE_TRACE", &file)
        .envs(variables.iter().copied())
        .output()
        .expect("this program starts");
    let timeline = File::open(&file).ok();
    let timeline = timeline.map(|file| read(file).expect("a timeline"));
    assert_eq!(others(&folder.0, &file), [""; 0]);
    (output.status, timeline)
}

/// Returns the names of the files in a folder, except for one.
fn others(folder: &Path, file: &Path) -> Vec<String> {
    let files = fs::read_dir(folder).expect("the folder is there");
    let paths = files.map(|entry| entry.expect("an entry").path());
    let others = paths.filter(|path| path != file);
    others.map(|path| path.display().to_string()).collect()
}

fn has_name(timeline: &Timeline, name: &str) -> bool {
    let mut events = timeline.events().iter();
    events.any(|event| timeline.text(event.name()) == name)
}

/// Returns a number of the facts about the process.
fn fact(timeline: &Timeline, name: &str) -> u64 {
    let is_facts = |index: &usize| timeline.text(timeline.events()[*index].category()) == FACTS;
    let index = (0..timeline.events().len()).find(is_facts).expect("facts");
    let mut arguments = timeline.arguments(index);
    match arguments.find(|(argument, _)| *argument == name) {
        Some((_, Value::Unsigned(number))) => number,
        other => panic!("{name}: {other:?}"),
    }
}

fn runtime(workers: usize) -> Runtime {
    Runtime::builder()
        .workers(workers)
        .build()
        .expect("a runtime")
}

#[test]
fn a_program_that_panics_leaves_its_file() {
    if is_recorded() {
        let runtime = runtime(2);
        raddle::scope!("before the panic");
        runtime.install(|| panic!("as planned"));
    }
    let (status, timeline) = record("a_program_that_panics_leaves_its_file", &[]);
    assert_eq!(status.code(), Some(101));
    assert!(has_name(&timeline.expect("a file"), "before the panic"));
}

#[test]
fn a_task_that_ends_the_process_leaves_its_file() {
    if is_recorded() {
        runtime(2).install(|| {
            raddle::scope!("last words");
            std::process::exit(3)
        })
    }
    let (status, timeline) = record("a_task_that_ends_the_process_leaves_its_file", &[]);
    assert_eq!(status.code(), Some(3));
    assert!(has_name(&timeline.expect("a file"), "last words"));
}

#[test]
fn a_program_that_is_killed_leaves_nothing() {
    if is_recorded() {
        runtime(2).install(|| {
            let this = rustix::process::getpid();
            rustix::process::kill_process(this, rustix::process::Signal::KILL).expect("allowed");
        });
    }
    let (status, timeline) = record("a_program_that_is_killed_leaves_nothing", &[]);
    assert_eq!(status.code(), None);
    assert!(timeline.is_none());
}

#[test]
fn sixty_four_workers_are_recorded_on_any_machine() {
    if is_recorded() {
        let runtime = runtime(64);
        for _ in 0..20 {
            runtime.install(|| raddle::for_each(0..256, |_| thread::yield_now()));
        }
        return;
    }
    let (status, timeline) = record("sixty_four_workers_are_recorded_on_any_machine", &[]);
    assert!(status.success());
    let timeline = timeline.expect("a file");
    let tracks = timeline.tracks().iter();
    let workers = tracks.filter(|track| timeline.text(track.name).starts_with("worker"));
    assert_eq!(workers.count(), 64);
    assert!(has_name(
        &timeline,
        "trace::sixty_four_workers_are_recorded_on_any_machine"
    ));
}

#[test]
fn a_hundred_million_events_keep_the_newest() {
    const EVENTS: u64 = 100_000_000;
    if is_recorded() {
        let runtime = runtime(1);
        runtime.install(|| {
            for index in 0..EVENTS {
                record::note(record::Name::of("tick"), index);
            }
        });
        return;
    }
    let test = "a_hundred_million_events_keep_the_newest";
    let variables = [("RADDLE_TRACE_DETAIL", "all"), ("RADDLE_TRACE_BUFFER", "2")];
    let (status, timeline) = record(test, &variables);
    assert!(status.success());
    let timeline = timeline.expect("a file");
    let is_tick = |index: &usize| timeline.text(timeline.events()[*index].name()) == "tick";
    let ticks: Vec<usize> = (0..timeline.events().len()).filter(is_tick).collect();
    let last = ticks.last().expect("the newest events are here");
    let value = timeline.arguments(*last).next();
    assert_eq!(value, Some(("value", Value::Unsigned(EVENTS - 1))));
    let total = fact(&timeline, "dropped_events") + ticks.len() as u64;
    assert!(total.abs_diff(EVENTS) < EVENTS / 100, "{total}");
}

#[test]
fn threads_beyond_the_limit_are_counted() {
    if is_recorded() {
        let _runtime = runtime(1);
        for _ in 0..5_000 {
            thread::spawn(|| {
                raddle::scope!("short");
            })
            .join()
            .expect("no panic");
        }
        return;
    }
    let (status, timeline) = record("threads_beyond_the_limit_are_counted", &[]);
    assert!(status.success());
    let timeline = timeline.expect("a file");
    let refused = fact(&timeline, "refused_threads");
    assert!((904..1_000).contains(&refused), "{refused}");
}

#[test]
fn a_recording_in_code_is_refused_during_that_of_the_process() {
    if is_recorded() {
        let refused = runtime(1).trace();
        assert!(refused.is_err(), "{refused:?}");
        return;
    }
    let (status, _) = record(
        "a_recording_in_code_is_refused_during_that_of_the_process",
        &[],
    );
    assert!(status.success());
}
