//! Checks for the reader of timelines.

use raddle_timeline::{EventKind, Timeline, read};

/// Reads `bytes` as a timeline of any format, and checks the result.
///
/// # Panics
/// If a timeline violates a promise of [`Timeline`], or if an error takes more than one line or
/// does not say what was expected.
pub fn read_timeline(bytes: &[u8]) {
    match read(bytes) {
        Ok(timeline) => check(&timeline, bytes.len()),
        Err(error) => {
            let message = error.to_string();
            assert!(message.contains("; expected "), "{message}");
            assert_eq!(message.lines().count(), 1, "{message}");
            assert!(!message.contains(char::is_control), "{message:?}");
        }
    }
}

fn check(timeline: &Timeline, len: usize) {
    let events = timeline.events();
    let (first_ns, last_ns) = timeline.span_ns();
    for (index, event) in events.iter().enumerate() {
        let track = &timeline.tracks()[event.track()];
        assert!(track.events.contains(&index));
        assert!(first_ns <= event.from_ns() && event.to_ns() <= last_ns);
        assert!(event.kind() != EventKind::Instant || event.duration_ns() == 0);
        if let Some(parent) = event.parent() {
            let outer = &events[parent];
            assert!(parent < index && outer.track() == event.track());
            assert!(outer.kind() != EventKind::Instant && outer.from_ns() <= event.from_ns());
        }
        let _texts = (timeline.text(event.name()), timeline.text(event.category()));
        let _arguments = timeline.arguments(index).count();
    }
    let mut next = (0, 0);
    for track in timeline.tracks() {
        assert_eq!((track.events.start, track.samples.start), next);
        next = (track.events.end, track.samples.end);
        let times = events[track.events.clone()]
            .iter()
            .map(|event| event.from_ns());
        assert!(times.is_sorted());
        let samples = &timeline.samples()[track.samples.clone()];
        assert!(samples.is_sorted_by_key(|sample| sample.at_ns()));
        assert!(
            track
                .process
                .is_none_or(|process| process < timeline.processes().len())
        );
        let _name = timeline.text(track.name);
    }
    assert_eq!(next, (events.len(), timeline.samples().len()));
    assert!(
        timeline
            .all_flows()
            .iter()
            .all(|flow| flow.event() < events.len())
    );
    for arrow in timeline.arrows() {
        assert!(arrow.from != arrow.to && arrow.from.max(arrow.to) < events.len());
    }
    assert!(
        timeline
            .cut_at()
            .is_none_or(|byte| byte <= 300 * len as u64 + (2 << 20))
    );
    let _lines = timeline.warnings();
}
