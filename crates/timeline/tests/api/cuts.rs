//! A file that is cut off has the events before the cut, and a damaged file never causes a panic.

use proptest::prelude::*;
use raddle_timeline::{Format, read};

use super::program::{Seen, SeenEvent, programs};

/// Returns true if the events of a cut file can be those before the cut.
fn is_prefix(cut: &[SeenEvent], whole: &[SeenEvent]) -> bool {
    let is_same = |(cut, whole): (&SeenEvent, &SeenEvent)| {
        cut.name == whole.name
            && cut.category == whole.category
            && cut.from_ns == whole.from_ns
            && cut.parent == whole.parent
            && cut.arguments == whole.arguments
    };
    cut.len() <= whole.len() && cut.iter().zip(whole).all(is_same)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(32))]

    #[test]
    fn a_cut_file_has_the_events_before_the_cut(program in programs(0)) {
        for format in [Format::Perfetto, Format::Chrome] {
            let bytes = program.write(format, 0).expect("memory");
            let whole = program.expected(format, program.last_ns());
            let mut found = 0;
            for len in (0..bytes.len()).step_by(1 + bytes.len() / 60) {
                let timeline = read(&bytes[..len]).expect("a timeline");
                if let Some(byte) = timeline.cut_at() {
                    prop_assert_eq!(byte, len as u64);
                    prop_assert!(timeline.warnings()[0].contains("cut off"));
                }
                prop_assert!(timeline.events().len() >= found);
                found = timeline.events().len();
                for track in &Seen::of(&timeline).tracks {
                    let same = whole.tracks.iter().find(|other| other.thread == track.thread);
                    let same = &same.expect("the same track").events;
                    prop_assert!(is_prefix(&track.events, same), "{track:#?} {same:#?}");
                }
            }
        }
    }

    #[test]
    fn a_damaged_file_is_a_timeline_or_an_error(
        program in programs(0),
        damages in proptest::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 1..4),
    ) {
        for format in [Format::Perfetto, Format::Chrome] {
            let mut bytes = program.write(format, 0).expect("memory");
            for (index, byte) in &damages {
                let index = index.index(bytes.len());
                bytes[index] = *byte;
            }
            if let Err(error) = read(&bytes[..]) {
                let text = error.to_string();
                prop_assert!(text.contains("; expected "), "{text}");
                prop_assert_eq!(text.lines().count(), 1);
            }
        }
    }

    #[test]
    fn any_bytes_are_a_timeline_or_an_error(
        first in prop_oneof![Just(0x0a), Just(b'['), Just(b'{'), Just(0x1f)],
        mut bytes in any::<Vec<u8>>(),
    ) {
        bytes.insert(0, first);
        let _outcome = read(&bytes[..]);
    }
}
