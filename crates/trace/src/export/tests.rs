//! Timelines of events that the tests make themselves, read back.

use raddle_timeline::{EventKind, Format, Timeline, read};

use super::*;
use crate::events::Event;
use crate::record::kind::Kind;
use crate::record::{ObjectId, TaskId};

fn event(at_ns: u64, kind: Kind, argument: u32, more: [u64; 2]) -> Event {
    Event {
        at_ns,
        is_timed: true,
        kind,
        argument,
        more,
    }
}

fn track(thread: Thread, events: Vec<Event>) -> Track {
    Track {
        thread,
        events,
        dropped: 0,
        ended_ns: None,
    }
}

/// Returns the events of a worker that puts a task and sends a message, and of one that runs both.
fn two_workers() -> Events {
    let worker = |index| Thread::Worker {
        runtime: 0,
        index,
        is_compensating: false,
    };
    let to = ObjectId::new(2, 5).word();
    Events {
        from_ns: 1_000,
        until_ns: 9_000_000,
        names: vec![
            "app::make::{{closure}}".to_owned(),
            "Cell::receive".to_owned(),
        ],
        tracks: vec![
            track(
                worker(0),
                vec![
                    event(2_000, Kind::RunCall, 0, [0; 2]),
                    event(3_000, Kind::Put, TaskId::at(64).number(), [0, 0]),
                    event(4_000, Kind::Send, 1, [to, 1 << 40 | 100]),
                    event(5_000, Kind::Idle, 1, [0; 2]),
                ],
            ),
            track(
                worker(1),
                vec![
                    event(1_000_000, Kind::RunTask, TaskId::at(64).number(), [0; 2]),
                    event(1_200_000, Kind::Idle, 0, [0; 2]),
                    event(2_000_000, Kind::RunMessage, 0, [0; 2]),
                    event(2_000_010, Kind::Entry, 1, [to, 0]),
                    event(2_500_000, Kind::Idle, 0, [0; 2]),
                ],
            ),
        ],
        ..Events::default()
    }
}

fn timeline(events: &Events, format: Format) -> Timeline {
    let facts = Facts {
        process: 3,
        name: "node 3".to_owned(),
        values: vec![("runtime 0".to_owned(), "{}".to_owned())],
    };
    let mut writer = Writer::new(format, Vec::new()).expect("memory");
    write(events, &facts, &mut writer).expect("memory");
    let bytes = writer.finish().expect("memory");
    read(&bytes[..]).expect("a timeline")
}

#[test]
fn tasks_and_messages_are_slices_with_flows_from_their_causes() {
    for format in [Format::Perfetto, Format::Chrome] {
        let timeline = timeline(&two_workers(), format);
        let texts = |category: &str| -> Vec<(&str, EventKind, u64)> {
            let events = timeline.events().iter();
            events
                .filter(|event| timeline.text(event.category()) == category)
                .map(|event| {
                    (
                        timeline.text(event.name()),
                        event.kind(),
                        event.duration_ns(),
                    )
                })
                .collect()
        };
        assert_eq!(texts("task"), [("app::make", EventKind::Slice, 200_000)]);
        assert_eq!(
            texts("message"),
            [("Cell::receive", EventKind::Slice, 500_000)]
        );
        assert_eq!(texts("put"), [("app::make", EventKind::Instant, 0)]);
        assert_eq!(texts("idle").len(), 3);
        let arrows: Vec<(String, String)> = timeline
            .arrows()
            .iter()
            .map(|arrow| {
                let category = |index: usize| {
                    timeline
                        .text(timeline.events()[index].category())
                        .to_owned()
                };
                (category(arrow.from), category(arrow.to))
            })
            .collect();
        let expected = [("put", "task"), ("send", "message")];
        assert_eq!(
            arrows,
            expected.map(|(from, to)| (from.to_owned(), to.to_owned()))
        );
    }
}

#[test]
fn the_type_of_a_closure_is_shown_as_its_place_in_the_program() {
    let cases = [
        ("app::scene::render::{{closure}}", "app::scene::render"),
        (
            "raddle_runtime::enter::run_root<(), app::main::{{closure}}>::{{closure}}",
            "app::main",
        ),
        (
            "raddle_runtime::loops::each<T, app::a::{{closure}}::{{closure}}>",
            "app::a",
        ),
        (
            "raddle_runtime::enter::run_root<()>::{{closure}}",
            "raddle_runtime::enter::run_root",
        ),
        ("raddle_chare::f::{{closure}}", "raddle_chare::f"),
        ("app::function", "app::function"),
        ("Cell::receive", "Cell::receive"),
    ];
    for (name, expected) in cases {
        assert_eq!(shorten(name), expected, "{name}");
    }
}
