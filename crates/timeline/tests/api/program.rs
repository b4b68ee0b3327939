//! Random programs: their calls of a writer, and what a reader should find.

use std::io;

use proptest::collection::vec;
use proptest::prelude::*;
use raddle_timeline::{
    CounterTrack, Event, EventKind, Format, Number, Timeline, Track, Value, Writer,
};

/// A program, with two processes that have two tracks each, and two counters.
#[derive(Clone, Debug)]
pub(crate) struct Program {
    pub(crate) first_process: u32,
    pub(crate) names: [String; 4],
    pub(crate) ranks: [i32; 4],
    pub(crate) steps: Vec<Step>,
}

#[derive(Clone, Debug)]
pub(crate) struct Step {
    /// The index of a track, and the time since its last event.
    pub(crate) track: usize,
    pub(crate) wait_ns: u64,
    pub(crate) action: Action,
}

#[derive(Clone, Debug)]
pub(crate) enum Action {
    Begin(Named),
    End,
    Slice(Named, u64),
    Instant(Named),
    Count(i64),
    Flush,
}

#[derive(Clone, Debug)]
pub(crate) struct Named {
    name: String,
    category: String,
    arguments: Vec<(String, Owned)>,
    flows: Vec<u64>,
    flows_ended: Vec<u64>,
}

#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Owned {
    Text(String),
    Unsigned(u64),
    Signed(i64),
    Float(f64),
    Flag(bool),
}

/// The content of a timeline, with texts instead of ids. Tracks without events are left out.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Seen {
    pub(crate) tracks: Vec<SeenTrack>,
    pub(crate) counters: Vec<SeenCounter>,
}

#[derive(Clone, Debug, PartialEq)]
pub(crate) struct SeenTrack {
    process: (u32, String),
    pub(crate) thread: u32,
    name: String,
    rank: i32,
    pub(crate) events: Vec<SeenEvent>,
}

#[derive(Clone, Debug, PartialEq)]
pub(crate) struct SeenEvent {
    pub(crate) name: String,
    pub(crate) category: String,
    pub(crate) from_ns: u64,
    to_ns: u64,
    kind: EventKind,
    /// The index in the track.
    pub(crate) parent: Option<usize>,
    pub(crate) arguments: Vec<(String, Owned)>,
    flows: Vec<(bool, u64)>,
}

#[derive(Clone, Debug, PartialEq)]
pub(crate) struct SeenCounter {
    process: (u32, String),
    name: String,
    unit: String,
    pub(crate) values: Vec<(u64, i64)>,
}

const UNITS: [&str; 4] = ["", "bytes", "a \"b\"", "tasks"];

impl Program {
    fn process_of(&self, track: usize) -> u32 {
        self.first_process + track as u32 / 2
    }

    /// Returns the output of a writer for the calls of this program.
    pub(crate) fn write(&self, format: Format, part: u32) -> io::Result<Vec<u8>> {
        let mut writer = Writer::new(format, Vec::new())?.with_part(part);
        for (index, name) in self.names.iter().enumerate() {
            let (process, id) = (self.process_of(index), index as u64);
            writer.process(process, &process_name(process))?;
            writer.track(&Track {
                id: 100 + id,
                process,
                thread: index as u32,
                name,
                rank: self.ranks[index],
            })?;
            writer.counter_track(&CounterTrack {
                id,
                process,
                name: &format!("counter {index}"),
                unit: UNITS[index],
            })?;
        }
        let mut now = [0_u64; 4];
        for step in &self.steps {
            let now = &mut now[step.track];
            *now += step.wait_ns;
            let track = 100 + step.track as u64;
            match &step.action {
                Action::Begin(named) => named.with(|event| writer.begin(track, *now, event))?,
                Action::End => writer.end(track, *now)?,
                Action::Slice(named, duration) => {
                    let to = *now + duration;
                    named.with(|event| writer.slice(track, *now, to, event))?;
                    *now = to;
                }
                Action::Instant(named) => named.with(|event| writer.instant(track, *now, event))?,
                Action::Count(value) => writer.count(step.track as u64, *now, *value)?,
                Action::Flush => writer.flush()?,
            }
        }
        writer.finish()
    }

    /// Returns the last time of the program.
    pub(crate) fn last_ns(&self) -> u64 {
        let (mut now, mut last) = ([0_u64; 4], 0);
        for step in &self.steps {
            let now = &mut now[step.track];
            *now += step.wait_ns;
            if let Action::Slice(_, duration) = &step.action {
                *now += duration;
            }
            if !matches!(step.action, Action::Flush) {
                last = last.max(*now);
            }
        }
        last
    }

    /// Returns what a reader should find, in a timeline that ends at `last_ns`.
    pub(crate) fn expected(&self, format: Format, last_ns: u64) -> Seen {
        let mut tracks: Vec<SeenTrack> = (0..4)
            .map(|index| SeenTrack {
                process: named_process(self.process_of(index)),
                thread: index as u32,
                name: self.names[index].clone(),
                rank: self.ranks[index],
                events: Vec::new(),
            })
            .collect();
        let mut counters: Vec<SeenCounter> = (0..4)
            .map(|index| SeenCounter {
                process: named_process(self.process_of(index)),
                name: format!("counter {index}"),
                unit: UNITS[index].to_owned(),
                values: Vec::new(),
            })
            .collect();
        let (mut now, mut stacks) = ([0_u64; 4], [const { Vec::<usize>::new() }; 4]);
        for step in &self.steps {
            let now = &mut now[step.track];
            *now += step.wait_ns;
            let events = &mut tracks[step.track].events;
            let stack = &mut stacks[step.track];
            let parent = stack.last().copied();
            let from = *now;
            match &step.action {
                Action::Begin(named) => {
                    stack.push(events.len());
                    let kind = EventKind::Unfinished;
                    events.push(named.seen(format, from, last_ns, kind, parent));
                }
                Action::End => {
                    if let Some(index) = stack.pop() {
                        events[index].to_ns = from;
                        events[index].kind = EventKind::Slice;
                    }
                }
                Action::Slice(named, duration) => {
                    *now += duration;
                    events.push(named.seen(format, from, *now, EventKind::Slice, parent));
                }
                Action::Instant(named) => {
                    events.push(named.seen(format, from, from, EventKind::Instant, parent));
                }
                Action::Count(value) => counters[step.track].values.push((from, *value)),
                Action::Flush => {}
            }
        }
        Seen { tracks, counters }.sorted()
    }
}

impl Seen {
    /// Returns the content of a timeline.
    pub(crate) fn of(timeline: &Timeline) -> Self {
        let mut seen = Self::default();
        for track in timeline.tracks() {
            let process = timeline.processes()[track.process.expect("a process")];
            let process = (process.number, timeline.text(process.name).to_owned());
            let name = timeline.text(track.name).to_owned();
            if let Some(unit) = track.unit {
                let samples = &timeline.samples()[track.samples.clone()];
                let values = samples.iter().map(|sample| match sample.value() {
                    Number::Whole(value) => (sample.at_ns(), value),
                    Number::Float(value) => panic!("{value}"),
                });
                seen.counters.push(SeenCounter {
                    process,
                    name,
                    unit: timeline.text(unit).to_owned(),
                    values: values.collect(),
                });
                continue;
            }
            let first = track.events.start;
            let events = track.events.clone().map(|index| {
                let event = &timeline.events()[index];
                let arguments = timeline.arguments(index);
                SeenEvent {
                    name: timeline.text(event.name()).to_owned(),
                    category: timeline.text(event.category()).to_owned(),
                    from_ns: event.from_ns(),
                    to_ns: event.to_ns(),
                    kind: event.kind(),
                    parent: event.parent().map(|parent| parent - first),
                    arguments: arguments
                        .map(|(name, value)| (name.to_owned(), Owned::of(value)))
                        .collect(),
                    flows: timeline
                        .flows(index)
                        .iter()
                        .map(|mark| (mark.is_end, mark.flow))
                        .collect(),
                }
            });
            seen.tracks.push(SeenTrack {
                process,
                thread: track.thread.expect("a thread"),
                name,
                rank: track.rank,
                events: events.collect(),
            });
        }
        seen.sorted()
    }

    /// Returns the content of both timelines.
    pub(crate) fn and(mut self, other: Self) -> Self {
        self.tracks.extend(other.tracks);
        self.counters.extend(other.counters);
        self.sorted()
    }

    /// Returns the content in the order of a timeline. JSON does not have counters without values.
    fn sorted(mut self) -> Self {
        self.tracks
            .sort_by_key(|track| (track.process.0, track.rank, track.thread));
        self.counters.retain(|counter| !counter.values.is_empty());
        self.counters
            .sort_by_key(|counter| (counter.process.0, counter.name.clone()));
        self
    }
}

impl Named {
    fn with<T>(&self, call: impl FnOnce(&Event<'_>) -> T) -> T {
        let arguments = self.arguments.iter();
        let arguments: Vec<(&str, Value<'_>)> = arguments
            .map(|(name, value)| (&**name, value.borrowed()))
            .collect();
        call(&Event {
            name: &self.name,
            category: &self.category,
            arguments: &arguments,
            flows: &self.flows,
            flows_ended: &self.flows_ended,
        })
    }

    fn seen(
        &self,
        format: Format,
        from_ns: u64,
        to_ns: u64,
        kind: EventKind,
        parent: Option<usize>,
    ) -> SeenEvent {
        let begun = self.flows.iter().map(|&flow| (false, flow));
        let ended = self.flows_ended.iter().map(|&flow| (true, flow));
        let mut flows: Vec<_> = begun.chain(ended).collect();
        flows.sort_unstable();
        flows.dedup();
        SeenEvent {
            name: self.name.clone(),
            category: self.category.clone(),
            from_ns,
            to_ns,
            kind,
            parent,
            arguments: self
                .arguments
                .iter()
                .map(|(name, value)| (name.clone(), value.read_back(format)))
                .collect(),
            flows,
        }
    }
}

impl Owned {
    fn of(value: Value<'_>) -> Self {
        match value {
            Value::Text(text) => Self::Text(text.to_owned()),
            Value::Unsigned(number) => Self::Unsigned(number),
            Value::Signed(number) => Self::Signed(number),
            Value::Float(number) => Self::Float(number),
            Value::Flag(is_set) => Self::Flag(is_set),
        }
    }

    fn borrowed(&self) -> Value<'_> {
        match self {
            Self::Text(text) => Value::Text(text),
            &Self::Unsigned(number) => Value::Unsigned(number),
            &Self::Signed(number) => Value::Signed(number),
            &Self::Float(number) => Value::Float(number),
            &Self::Flag(is_set) => Value::Flag(is_set),
        }
    }

    /// Returns the value that a reader returns for this one.
    fn read_back(&self, format: Format) -> Self {
        match *self {
            Self::Signed(number @ 0..) => Self::Unsigned(number as u64),
            Self::Float(number) if format == Format::Chrome && number.is_infinite() => {
                Self::Text(number.to_string())
            }
            _ => self.clone(),
        }
    }
}

fn process_name(process: u32) -> String {
    format!("process {process}")
}

fn named_process(process: u32) -> (u32, String) {
    (process, process_name(process))
}

/// Returns random values of arguments.
fn values() -> impl Strategy<Value = Owned> {
    prop_oneof![
        ".{0,5}".prop_map(Owned::Text),
        any::<u64>().prop_map(Owned::Unsigned),
        any::<i64>().prop_map(Owned::Signed),
        (-10..10_i64).prop_map(Owned::Signed),
        // NaN differs from itself.
        any::<f64>()
            .prop_filter("a number", |number| !number.is_nan())
            .prop_map(Owned::Float),
        any::<bool>().prop_map(Owned::Flag),
    ]
}

/// Returns random events.
fn named() -> impl Strategy<Value = Named> {
    let name = || prop_oneof!["[a-c]{0,2}", any::<String>()];
    (
        name(),
        "[a-c]{0,2}",
        vec((name(), values()), 0..3),
        vec(0..20_u64, 0..3),
        vec(any::<u64>(), 0..3),
    )
        .prop_map(|(name, category, arguments, flows, flows_ended)| Named {
            name,
            category,
            arguments,
            flows,
            flows_ended,
        })
}

/// Returns random programs, of which the processes are numbered from `first_process`.
pub(crate) fn programs(first_process: u32) -> impl Strategy<Value = Program> {
    let action = prop_oneof![
        3 => named().prop_map(Action::Begin),
        3 => Just(Action::End),
        2 => (named(), 0..3_u64).prop_map(|(named, duration)| Action::Slice(named, duration)),
        2 => named().prop_map(Action::Instant),
        1 => any::<i64>().prop_map(Action::Count),
        1 => Just(Action::Flush),
    ];
    let wait = prop_oneof![8 => 0..3_u64, 1 => 0..1_000_000_000_000_u64];
    let step = (0..4_usize, wait, action).prop_map(|(track, wait_ns, action)| Step {
        track,
        wait_ns,
        action,
    });
    (
        [".{0,5}", ".{0,5}", ".{0,5}", ".{0,5}"],
        any::<[i32; 4]>(),
        vec(step, 0..60),
    )
        .prop_map(move |(names, ranks, steps)| Program {
            first_process,
            names,
            ranks,
            steps,
        })
}
