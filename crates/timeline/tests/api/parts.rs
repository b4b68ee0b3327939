//! Parts of several processes form one timeline.

use proptest::prelude::*;
use raddle_timeline::{Format, concatenate, read};

use super::program::{Seen, programs};

proptest! {
    #[test]
    fn joined_parts_have_the_events_of_both(one in programs(0), other in programs(10)) {
        let last_ns = one.last_ns().max(other.last_ns());
        for format in [Format::Perfetto, Format::Chrome] {
            let parts = [one.write(format, 4), other.write(format, 5)];
            let parts = parts.map(|part| part.expect("memory"));
            let parts = parts.iter().map(|part| &part[..]);
            let bytes = concatenate(format, parts, Vec::new()).expect("memory");
            if format == Format::Chrome {
                let events: Vec<serde_json::Value> =
                    serde_json::from_slice(&bytes).expect("JSON");
                prop_assert!(!events.is_empty());
            }
            let timeline = read(&bytes[..]).expect("a timeline");
            let expected = one.expected(format, last_ns).and(other.expected(format, last_ns));
            prop_assert_eq!(Seen::of(&timeline), expected);
        }
    }
}
