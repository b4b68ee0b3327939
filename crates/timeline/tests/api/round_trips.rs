//! A reader finds what was written.

use std::path::Path;

use proptest::prelude::*;
use raddle_timeline::{CounterTrack, Event, Format, Track, Writer, read};

use super::program::{Seen, programs};

proptest! {
    #[test]
    fn a_reader_finds_what_was_written(program in programs(0)) {
        for format in [Format::Perfetto, Format::Chrome] {
            let bytes = program.write(format, 0).expect("memory");
            let timeline = read(&bytes[..]).expect("a timeline");
            let expected = program.expected(format, program.last_ns());
            prop_assert_eq!(Seen::of(&timeline), expected);
            prop_assert_eq!(timeline.cut_at(), None);
        }
    }
}

#[test]
fn large_timelines_have_several_batches() {
    for format in [Format::Perfetto, Format::Chrome] {
        let mut writer = Writer::new(format, Vec::new()).expect("memory");
        writer.process(1, "one").expect("memory");
        for thread in 0..3 {
            let track = Track {
                id: thread.into(),
                process: 1,
                thread,
                name: "",
                rank: 0,
            };
            writer.track(&track).expect("memory");
        }
        let names: Vec<String> = (0..1_000).map(|number| format!("name {number}")).collect();
        let count = 60_000_u64;
        for number in 0..count {
            // Names appear for the first time in later batches, too.
            let name = &names[(number / 60) as usize];
            let event = Event::named(name);
            let from = 10 * number;
            writer
                .slice(number % 3, from, from + 7, &event)
                .expect("memory");
        }
        let timeline = read(&writer.finish().expect("memory")[..]).expect("a timeline");
        assert_eq!(timeline.events().len() as u64, count);
        for event in timeline.events() {
            let number = event.from_ns() / 10;
            assert_eq!(event.duration_ns(), 7);
            assert_eq!(timeline.text(event.name()), names[(number / 60) as usize]);
            assert_eq!(
                timeline.tracks()[event.track()].thread,
                Some((number % 3) as u32)
            );
        }
        assert!(timeline.warnings().is_empty());
    }
}

#[test]
fn calls_with_undeclared_tracks_are_refused() {
    for format in [Format::Perfetto, Format::Chrome] {
        let mut writer = Writer::new(format, Vec::new()).expect("memory");
        let track = Track {
            id: 1,
            process: 9,
            thread: 0,
            name: "",
            rank: 0,
        };
        let counter = CounterTrack {
            id: 2,
            process: 9,
            name: "",
            unit: "",
        };
        let failures = [
            writer.track(&track),
            writer.counter_track(&counter),
            writer.begin(1, 0, &Event::named("a")),
            writer.end(1, 0),
            writer.instant(1, 0, &Event::named("a")),
            writer.count(2, 0, 0),
        ];
        for failure in failures {
            let error = failure.expect_err("nothing is declared");
            assert!(error.to_string().contains("is not declared"), "{error}");
        }
    }
}

#[test]
fn the_name_of_a_file_decides_its_format() {
    let of = |name: &str| Format::of_path(Path::new(name));
    assert_eq!(of("a.json"), Format::Chrome);
    assert_eq!(of("a.JSON"), Format::Chrome);
    assert_eq!(of("a.pftrace"), Format::Perfetto);
    assert_eq!(of("json"), Format::Perfetto);
}
