//! Recordings of events that the tests make themselves. One at a time: recordings are of the whole
//! process.

use std::sync::{Mutex, MutexGuard};
use std::thread;
use std::time::Duration;

use raddle_sync::prim::{AtomicBool, Relaxed};

use super::*;
use crate::events::{Events, Thread, Track};
use crate::record::kind::{Idling, Kind};
use crate::record::{self, Name, ObjectId, Scope, TaskId};

static ONE: Mutex<()> = Mutex::new(());

fn one_at_a_time() -> MutexGuard<'static, ()> {
    ONE.lock()
        .unwrap_or_else(std::sync::PoisonError::into_inner)
}

/// Begins a recording of all events.
fn begin(buffer_bytes: usize) -> Result<Recording, BeginError> {
    let detail = Detail::All;
    Recording::begin(&Options {
        buffer_bytes,
        detail,
    })
}

fn of_thread<'a>(events: &'a Events, name: &str) -> &'a Track {
    let is_it = |track: &&Track| track.thread == Thread::Other(name.to_owned());
    events
        .tracks
        .iter()
        .find(is_it)
        .expect("it has recorded events")
}

/// Calls `call` on a thread with this name.
fn on_thread(name: &str, call: impl FnOnce() + Send + 'static) {
    let thread = thread::Builder::new().name(name.to_owned()).spawn(call);
    thread.expect("a thread").join().expect("no panic");
}

// Regression: a long time was spread over the events without a time before it, so that each of them
// seemed to take long, and a thread seemed to be off the CPU for longer than its function.
#[test]
fn a_long_time_is_that_since_the_event_before() {
    let _one = one_at_a_time();
    let recording = begin(1 << 20).expect("no other");
    on_thread("late", || {
        for _ in 0..1_000 {
            record::run_message();
            let name = Name::of_member("Cell", "receive");
            record::entry(name, ObjectId::new(3, 5));
            record::send(name, ObjectId::new(3, 6), 2, 100);
        }
        thread::sleep(Duration::from_millis(20));
        // The first event of its kind always has a time.
        record::idle(Idling::Searches);
    });
    let events = recording.events();
    drop(recording);
    let track = of_thread(&events, "late");
    let [events @ .., late] = &track.events[..] else {
        panic!("{track:?}");
    };
    let last_ns = events.last().expect("an event").at_ns;
    let timed = events.iter().rfind(|event| event.is_timed);
    let timed_ns = timed.expect("an event with a time").at_ns;
    // The events without a time lie where the time before the sleep ends, not in the sleep.
    let before_ns = last_ns - timed_ns;
    assert!(before_ns < (late.at_ns - timed_ns) / 2, "{before_ns}");
}

#[test]
fn events_come_back_with_their_arguments_and_times() {
    let _one = one_at_a_time();
    let recording = begin(1 << 20).expect("no other");
    on_thread("maker", || {
        record::run_task(TaskId::at(64 * 17));
        record::send(
            Name::of_member("Cell", "receive"),
            ObjectId::new(3, 5),
            2,
            100,
        );
        let _scope = Scope::begin("phase");
        record::idle(Idling::Sleeps);
    });
    let events = recording.events();
    drop(recording);
    let track = of_thread(&events, "maker");
    let kinds: Vec<Kind> = track.events.iter().map(|event| event.kind).collect();
    let expected = [
        Kind::RunTask,
        Kind::Send,
        Kind::Scope,
        Kind::Idle,
        Kind::EndScope,
    ];
    assert_eq!(kinds, expected);
    assert_eq!(track.events[0].argument, 17);
    let send = track.events[1];
    assert_eq!(events.names[send.argument as usize], "Cell::receive");
    assert_eq!(ObjectId::unpack(send.more[0]), (3, 5));
    assert_eq!(send.more[1], 2 << 40 | 100);
    assert!(track.events.is_sorted_by_key(|event| event.at_ns));
    let ended_ns = track.ended_ns.expect("the thread has ended");
    assert!(track.events.iter().all(|event| event.at_ns <= ended_ns));
    let range = events.from_ns..=events.until_ns;
    assert!(
        track
            .events
            .iter()
            .all(|event| range.contains(&event.at_ns))
    );
}

#[test]
fn the_cost_of_a_scope_is_measured() {
    let _one = one_at_a_time();
    let recording = begin(1 << 20).expect("no other");
    let cost = recording.events().scope_cost;
    let range = 1.0..5_000.0;
    assert!(range.contains(&cost.interior_ns), "{cost:?}");
    assert!(
        range.contains(&(cost.interior_ns + cost.exterior_ns)),
        "{cost:?}"
    );
}

#[test]
fn a_full_buffer_drops_the_oldest_events_and_says_how_many() {
    let _one = one_at_a_time();
    let recording = begin(4 << 16).expect("no other");
    let count = 200_000_u32;
    on_thread("many", move || {
        for index in 0..count {
            record::fork(index as usize);
        }
    });
    let events = recording.events();
    let track = of_thread(&events, "many");
    let last = track.events.last().expect("the newest events are here");
    assert_eq!(last.argument, count - 1);
    let arguments = track.events.iter().map(|event| event.argument);
    assert!(arguments.is_sorted_by(|one, next| one + 1 == *next));
    let total = track.dropped + track.events.len() as u64;
    assert!(total.abs_diff(u64::from(count)) < 10_000, "{total}");
}

#[test]
fn two_recordings_at_a_time_are_refused_and_the_next_one_begins_empty() {
    let _one = one_at_a_time();
    let first = begin(1 << 20).expect("no other");
    assert_eq!(begin(1 << 20).err(), Some(BeginError::UnderWay));
    on_thread("first", || record::fork(1));
    drop(first);
    assert!(!record::is_on());
    on_thread("between", || record::fork(2));
    let second = begin(1 << 20).expect("no other");
    on_thread("second", || record::fork(3));
    let events = second.events();
    let names: Vec<_> = events.tracks.iter().map(|track| &track.thread).collect();
    assert_eq!(names, [&Thread::Other("second".to_owned())]);
}

#[test]
fn events_are_read_while_threads_record_more() {
    let _one = one_at_a_time();
    let recording = begin(1 << 18).expect("no other");
    let stop = std::sync::Arc::new(AtomicBool::new(false));
    let stopped = std::sync::Arc::clone(&stop);
    let thread = thread::Builder::new()
        .name("busy".to_owned())
        .spawn(move || {
            let mut index = 0_usize;
            // Relaxed, here and below: only a flag.
            while !stopped.load(Relaxed) {
                record::publish(TaskId::at(index << 6), index & 7, index);
                index += 1;
            }
        });
    let mut seen = 0;
    while seen < 20 {
        let events = recording.events();
        let Some(track) = events.tracks.first() else {
            continue;
        };
        seen += 1;
        for event in &track.events {
            let [word, _] = event.more;
            assert_eq!(event.kind, Kind::Publish);
            assert_eq!(word & 0xffff_ffff, u64::from(event.argument) & 0xffff_ffff);
            assert_eq!(word >> 32, u64::from(event.argument) & 7);
        }
    }
    stop.store(true, Relaxed);
    thread.expect("a thread").join().expect("no panic");
}

#[test]
fn a_recording_of_short_events_pauses_and_counts_what_it_leaves_out() {
    let _one = one_at_a_time();
    let recording = Recording::begin(&Options::default()).expect("no other");
    on_thread("short", || {
        let start = std::time::Instant::now();
        while start.elapsed() < std::time::Duration::from_millis(100) {
            for index in 0..1_000 {
                record::fork(index);
            }
        }
    });
    let events = recording.events();
    assert!(!events.pauses.is_empty());
    assert!(
        events
            .pauses
            .iter()
            .all(|pause| pause.from_ns <= pause.until_ns)
    );
    let track = of_thread(&events, "short");
    assert!(track.events.iter().any(|event| event.kind == Kind::Resume));
    assert!(track.events.is_sorted_by_key(|event| event.at_ns));
    let is_in_pause = |at_ns: u64| {
        // The thread that pauses records a few events until the others notice.
        let mut pauses = events.pauses.iter();
        pauses.any(|pause| pause.from_ns + 50_000 < at_ns && at_ns < pause.until_ns)
    };
    assert!(!track.events.iter().any(|event| is_in_pause(event.at_ns)));
}
