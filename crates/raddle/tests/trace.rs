//! Recordings of programs that end in unusual ways, or have very many events or threads.
//!
//! A recording is of a whole process. So each test starts this program again, for one test alone,
//! which does the work that is recorded.

mod recorded;

use std::thread;

use raddle::trace::export::FACTS;
use raddle::trace::record;
use raddle_timeline::{Timeline, Value};

use recorded::{is_recorded, record, runtime};

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
fn a_relative_name_is_that_of_the_folder_in_which_the_program_began() {
    if is_recorded() {
        runtime(1).install(|| std::env::set_current_dir("/").expect("a folder"));
        return;
    }
    let name = format!("relative-{}.pftrace", std::process::id());
    let test = "a_relative_name_is_that_of_the_folder_in_which_the_program_began";
    let (status, _) = record(test, &[("RADDLE_TRACE", &name)]);
    assert!(status.success());
    std::fs::remove_file(&name).expect("the file is here");
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
