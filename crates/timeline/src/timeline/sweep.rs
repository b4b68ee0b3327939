//! Matches the begins and ends of a track, and finds the slice around each event.
//!
//! The events are in the order of their start, and the ends in the order of time. A stack has the
//! slices that have begun and not ended.

use super::{EventKind, EventRecord, NONE, Problems};

/// An end of the innermost slice of a track.
#[derive(Clone, Copy, Debug)]
pub(super) struct End {
    pub(super) at_ns: u64,
    pub(super) track: u32,
    /// The number of events that the file has before.
    pub(super) position: u32,
}

/// Matches the begins of a track with its ends, and finds the parent of each event. `first` is the
/// index of the first event.
pub(super) fn sweep(
    events: &mut [EventRecord],
    ends: &[End],
    first: usize,
    last_ns: u64,
    problems: &mut Problems,
) {
    let mut ends = ends.iter().peekable();
    let mut open = OpenSlices::default();
    for index in 0..events.len() {
        let (at_ns, position) = (events[index].from_ns, events[index].parent);
        let is_before = |end: &&End| (end.at_ns, end.position) <= (at_ns, position);
        while let Some(end) = ends.next_if(is_before) {
            open.end(end.at_ns, events, problems);
        }
        open.pass(at_ns, events);
        events[index].parent = open
            .stack
            .last()
            .map_or(NONE, |&parent| (first + parent) as u32);
        match events[index].kind {
            EventKind::Instant => {}
            kind => {
                open.stack.push(index);
                open.waiting += usize::from(kind == EventKind::Unfinished);
            }
        }
    }
    for end in ends {
        open.end(end.at_ns, events, problems);
    }
    for index in open.stack {
        let event = &mut events[index];
        if event.kind == EventKind::Unfinished {
            event.duration_ns = last_ns.saturating_sub(event.from_ns);
            problems.unfinished += 1;
        }
    }
}

/// The slices of a track that have begun and not ended, the innermost last.
#[derive(Default)]
struct OpenSlices {
    stack: Vec<usize>,
    /// The number of them that wait for an end.
    waiting: usize,
}

impl OpenSlices {
    /// Removes innermost slices that have a known end up to this time.
    fn pass(&mut self, at_ns: u64, events: &[EventRecord]) {
        let has_ended = |&mut index: &mut usize| {
            let event = &events[index];
            event.kind == EventKind::Slice && event.to_ns() <= at_ns
        };
        while self.stack.pop_if(has_ended).is_some() {}
    }

    /// Ends the innermost slice that waits for an end.
    fn end(&mut self, at_ns: u64, events: &mut [EventRecord], problems: &mut Problems) {
        if self.waiting == 0 {
            problems.ends_without_slice += 1;
            return;
        }
        // Slices with a known end that reach beyond this one no longer matter.
        while let Some(index) = self.stack.pop() {
            let event = &mut events[index];
            if event.kind == EventKind::Unfinished {
                event.kind = EventKind::Slice;
                event.duration_ns = at_ns.saturating_sub(event.from_ns);
                self.waiting -= 1;
                break;
            }
        }
    }
}
