//! A timeline that was read: compact tables of tracks, events, arguments, flows and counters.
//!
//! An [`EventRecord`] takes 40 bytes, an argument 16, a value of a counter 24 and an end of a flow
//! 16. All texts are stored once and have a [`NameId`].

mod builder;
mod names;
mod sweep;

pub(crate) use self::builder::{Builder, RawTrack, TooMany};
pub(crate) use self::names::Names;

use std::ops::Range;
use std::sync::Arc;

use crate::event::Value;

/// A timeline, as [`read`](crate::read) returns it.
#[derive(Debug, Default)]
pub struct Timeline {
    texts: Vec<Arc<str>>,
    processes: Vec<ProcessRecord>,
    tracks: Vec<TrackRecord>,
    events: Vec<EventRecord>,
    arguments: Vec<Packed>,
    flows: Vec<FlowMark>,
    samples: Vec<Sample>,
    span_ns: (u64, u64),
    cut_at: Option<u64>,
    problems: Problems,
}

/// A text of a timeline: equal texts have equal ids.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct NameId(u32);

/// A process of a timeline.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct ProcessRecord {
    /// The number that the file has.
    pub number: u32,
    /// The name. It is empty if the file has none.
    pub name: NameId,
}

/// A track or counter of a timeline.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct TrackRecord {
    /// The index of the process; `None` for a track that belongs to none.
    pub process: Option<usize>,
    /// The number of the thread, if the track is one.
    pub thread: Option<u32>,
    /// The name. It is empty if the file has none.
    pub name: NameId,
    /// The position among the tracks of the process.
    pub rank: i32,
    /// The unit of a counter; `None` for a track of events.
    pub unit: Option<NameId>,
    /// The indexes of the events.
    pub events: Range<usize>,
    /// The indexes of the values of the counter.
    pub samples: Range<usize>,
}

/// The kind of an event.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum EventKind {
    /// An event with a start and an end.
    Slice,
    /// A slice of which the file has no end, for example because the program was killed. It ends at
    /// the last time of the timeline.
    Unfinished,
    /// An event at one point in time.
    Instant,
}

/// An event of a timeline.
#[derive(Clone, Copy, Debug)]
pub struct EventRecord {
    from_ns: u64,
    duration_ns: u64,
    track: u32,
    name: NameId,
    category: NameId,
    /// The index of the parent, or [`NONE`].
    parent: u32,
    /// The index of the first argument.
    arguments: u32,
    argument_count: u16,
    kind: EventKind,
}

/// The value of [`EventRecord::parent`] of an event without a parent.
const NONE: u32 = u32::MAX;

/// A named number, truth value or text.
#[derive(Clone, Copy, Debug)]
struct Packed {
    bits: u64,
    name: NameId,
    kind: PackedKind,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum PackedKind {
    Text,
    Unsigned,
    Signed,
    Float,
    Flag,
}

/// An event at which a flow begins, continues or ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
#[non_exhaustive]
pub struct FlowMark {
    event: u32,
    /// True if the flow ends here.
    pub is_end: bool,
    /// The number of the flow.
    pub flow: u64,
}

/// An arrow between two events.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Arrow {
    /// The number of the flow.
    pub flow: u64,
    /// The index of the event at which the arrow begins.
    pub from: usize,
    /// The index of the event at which it ends.
    pub to: usize,
}

/// A value of a counter, from one point in time on.
#[derive(Clone, Copy, Debug)]
pub struct Sample {
    at_ns: u64,
    bits: u64,
    track: u32,
    is_float: bool,
}

/// A number of a counter.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Number {
    /// A whole number.
    Whole(i64),
    /// A floating-point number.
    Float(f64),
}

/// The numbers of the parts of a file that a timeline does not have, or has only in part.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Problems {
    /// Slices without an end.
    pub unfinished: u64,
    /// Ends without a slice.
    pub ends_without_slice: u64,
    /// Flows that do not touch an event.
    pub flows_without_event: u64,
    /// Names that the file uses without saying what they are.
    pub unknown_names: u64,
    /// Events, values and arguments of kinds that a timeline does not have.
    pub ignored: u64,
}

impl Timeline {
    /// Returns the processes, in the order of their numbers.
    #[must_use]
    pub fn processes(&self) -> &[ProcessRecord] {
        &self.processes
    }

    /// Returns the tracks: those without a process first, then by process, and in a process by
    /// rank. Counters follow the other tracks of their process.
    #[must_use]
    pub fn tracks(&self) -> &[TrackRecord] {
        &self.tracks
    }

    /// Returns the events, in the order of tracks. In a track they are in the order of their start,
    /// and a slice comes before those inside of it.
    #[must_use]
    pub fn events(&self) -> &[EventRecord] {
        &self.events
    }

    /// Returns the values of all counters, in the order of tracks and times.
    #[must_use]
    pub fn samples(&self) -> &[Sample] {
        &self.samples
    }

    /// Returns a text.
    ///
    /// # Panics
    /// If the id is from another timeline that has more texts.
    #[must_use]
    pub fn text(&self, id: NameId) -> &str {
        &self.texts[id.0 as usize]
    }

    /// Returns the arguments of an event: names and values.
    ///
    /// # Panics
    /// If there is no event with this index.
    pub fn arguments(&self, event: usize) -> impl ExactSizeIterator<Item = (&str, Value<'_>)> {
        let event = &self.events[event];
        let first = event.arguments as usize;
        let range = first..first + usize::from(event.argument_count);
        self.arguments[range].iter().map(|packed| {
            let value = match packed.kind {
                PackedKind::Text => Value::Text(self.text(NameId(packed.bits as u32))),
                PackedKind::Unsigned => Value::Unsigned(packed.bits),
                PackedKind::Signed => Value::Signed(packed.bits as i64),
                PackedKind::Float => Value::Float(f64::from_bits(packed.bits)),
                PackedKind::Flag => Value::Flag(packed.bits != 0),
            };
            (self.text(packed.name), value)
        })
    }

    /// Returns the flows that touch an event: those that begin or continue, then those that end,
    /// each in the order of their numbers.
    #[must_use]
    pub fn flows(&self, event: usize) -> &[FlowMark] {
        let first = self.flows.partition_point(|mark| mark.event() < event);
        let count = self.flows[first..].partition_point(|mark| mark.event() == event);
        &self.flows[first..first + count]
    }

    /// Returns the flows of all events, in the order of events.
    #[must_use]
    pub fn all_flows(&self) -> &[FlowMark] {
        &self.flows
    }

    /// Finds all arrows, in the order of flows and times: one from each event of a flow to its
    /// next event. Takes O(n log n) time.
    #[must_use]
    pub fn arrows(&self) -> Vec<Arrow> {
        let mut marks = self.flows.clone();
        let at = |mark: &FlowMark| self.events[mark.event()].from_ns;
        marks.sort_unstable_by_key(|mark| (mark.flow, mark.is_end, at(mark), mark.event));
        let arrow = |pair: &[FlowMark]| {
            let [from, to] = pair else { return None };
            let is_arrow = from.flow == to.flow && !from.is_end && from.event != to.event;
            is_arrow.then(|| Arrow {
                flow: from.flow,
                from: from.event(),
                to: to.event(),
            })
        };
        marks.windows(2).filter_map(arrow).collect()
    }

    /// Returns the first and the last time. Both are 0 in a timeline without events.
    #[must_use]
    pub const fn span_ns(&self) -> (u64, u64) {
        self.span_ns
    }

    /// Returns the byte at which the file ends too early, if it does. The timeline then has what
    /// comes before.
    #[must_use]
    pub const fn cut_at(&self) -> Option<u64> {
        self.cut_at
    }

    /// Returns counts of what the timeline does not have.
    #[must_use]
    pub const fn problems(&self) -> Problems {
        self.problems
    }

    /// Returns a line for each kind of problem, for a user.
    #[must_use]
    pub fn warnings(&self) -> Vec<String> {
        let cut = self
            .cut_at
            .map(|byte| format!("cut off at byte {byte}; the timeline has only the events before"));
        let counts = [
            (self.problems.unfinished, "slices without an end"),
            (self.problems.ends_without_slice, "ends without a slice"),
            (self.problems.flows_without_event, "flows without an event"),
            (self.problems.unknown_names, "unknown names"),
            (
                self.problems.ignored,
                "events, values or arguments of other kinds, which are left out",
            ),
        ];
        let counts = counts.into_iter().filter(|&(count, _)| count > 0);
        let lines = counts.map(|(count, what)| format!("{count} {what}"));
        cut.into_iter().chain(lines).collect()
    }
}

impl EventRecord {
    /// Returns the index of the track.
    #[must_use]
    pub const fn track(&self) -> usize {
        self.track as usize
    }

    /// Returns the name.
    #[must_use]
    pub const fn name(&self) -> NameId {
        self.name
    }

    /// Returns the category. It is empty if the file has none.
    #[must_use]
    pub const fn category(&self) -> NameId {
        self.category
    }

    /// Returns the kind.
    #[must_use]
    pub const fn kind(&self) -> EventKind {
        self.kind
    }

    /// Returns the start, in nanoseconds.
    #[must_use]
    pub const fn from_ns(&self) -> u64 {
        self.from_ns
    }

    /// Returns the time from the start to the end, in nanoseconds; 0 for an instant.
    #[must_use]
    pub const fn duration_ns(&self) -> u64 {
        self.duration_ns
    }

    /// Returns the end, in nanoseconds.
    #[must_use]
    pub const fn to_ns(&self) -> u64 {
        self.from_ns.saturating_add(self.duration_ns)
    }

    /// Returns the index of the innermost slice that the event is inside of.
    #[must_use]
    pub const fn parent(&self) -> Option<usize> {
        match self.parent {
            NONE => None,
            parent => Some(parent as usize),
        }
    }
}

impl FlowMark {
    /// Returns the index of the event.
    #[must_use]
    pub const fn event(&self) -> usize {
        self.event as usize
    }
}

impl Sample {
    /// Returns the index of the track.
    #[must_use]
    pub const fn track(&self) -> usize {
        self.track as usize
    }

    /// Returns the time, in nanoseconds.
    #[must_use]
    pub const fn at_ns(&self) -> u64 {
        self.at_ns
    }

    /// Returns the value.
    #[must_use]
    pub const fn value(&self) -> Number {
        match self.is_float {
            true => Number::Float(f64::from_bits(self.bits)),
            false => Number::Whole(self.bits as i64),
        }
    }
}
