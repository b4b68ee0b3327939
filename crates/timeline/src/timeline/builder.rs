//! Makes a timeline of events in the order in which a file has them.
//!
//! A file may have begins, ends, and slices with a known end, in any order of tracks. Within a
//! track they need not be in the order of time either. So all of them are kept until the file ends,
//! and sorted by track and time. Then a sweep over each track (`sweep`) matches begins with ends,
//! and finds the parent of each event.
//!
//! # Order of simultaneous events
//! Begins, ends and instants of one track at the same time stay in the order of the file. Slices
//! with a known end follow them, the longest first, as viewers sort them: a file may list the inner
//! slice before the outer one.

use std::collections::{BTreeMap, HashMap};

use super::sweep::{End, sweep};
use super::{
    EventKind, EventRecord, FlowMark, NONE, NameId, Names, Packed, PackedKind, Problems,
    ProcessRecord, Sample, Timeline, TrackRecord,
};
use crate::event::Value;

/// The largest number of slices that a search for the slice around a point in time looks at.
const PARENTS_MAX: usize = 1 << 12;

/// The contents of a timeline that is being read.
#[derive(Debug)]
pub(crate) struct Builder {
    /// All texts.
    pub(crate) names: Names,
    /// Counts of what is left out.
    pub(crate) problems: Problems,
    processes: BTreeMap<u32, NameId>,
    tracks: Vec<RawTrack>,
    /// The events. Until the end, [`EventRecord::parent`] has the event's position in the file.
    events: Vec<EventRecord>,
    ends: Vec<End>,
    arguments: Vec<Packed>,
    flows: Vec<FlowMark>,
    loose_flows: Vec<LooseFlow>,
    samples: Vec<Sample>,
    span_ns: (u64, u64),
}

/// A track, as far as the file has described it.
#[derive(Debug, Default)]
pub(crate) struct RawTrack {
    pub(crate) process: Option<u32>,
    pub(crate) thread: Option<u32>,
    pub(crate) name: NameId,
    pub(crate) rank: i32,
    /// The unit, if the track is a counter.
    pub(crate) unit: Option<NameId>,
    /// True if the track matters only if it has events.
    pub(crate) is_optional: bool,
    last_event: Option<u32>,
    is_used: bool,
}

impl RawTrack {
    /// Creates a track of which nothing is known.
    pub(crate) fn unknown() -> Self {
        Self {
            is_optional: true,
            ..Self::default()
        }
    }

    /// Creates the track of a thread without a name.
    pub(crate) fn of_thread(process: u32, thread: u32) -> Self {
        Self {
            process: Some(process),
            thread: Some(thread),
            ..Self::unknown()
        }
    }

    /// Creates the track of a counter.
    #[cfg(feature = "json")]
    pub(crate) fn of_counter(process: u32, name: NameId, unit: NameId) -> Self {
        Self {
            process: Some(process),
            name,
            unit: Some(unit),
            ..Self::default()
        }
    }
}

/// An end of a flow that touches the slice around a point in time.
#[derive(Clone, Copy, Debug)]
struct LooseFlow {
    at_ns: u64,
    flow: u64,
    track: u32,
    is_end: bool,
}

/// A timeline that would have too many items of a kind.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct TooMany {
    pub(crate) what: &'static str,
    pub(crate) max: u64,
}

impl Builder {
    /// Creates an empty timeline.
    pub(crate) fn new() -> Self {
        Self {
            names: Names::new(),
            problems: Problems::default(),
            processes: BTreeMap::new(),
            tracks: Vec::new(),
            events: Vec::new(),
            ends: Vec::new(),
            arguments: Vec::new(),
            flows: Vec::new(),
            loose_flows: Vec::new(),
            samples: Vec::new(),
            span_ns: (u64::MAX, 0),
        }
    }

    /// Adds a process, or gives it a name.
    pub(crate) fn process(&mut self, number: u32, name: Option<NameId>) {
        let known = self.processes.entry(number).or_default();
        *known = name.unwrap_or(*known);
    }

    /// Adds a track. Returns its index.
    pub(crate) fn add_track(&mut self, track: RawTrack) -> u32 {
        self.tracks.push(track);
        // A track takes several bytes of the input and 48 of memory.
        (self.tracks.len() - 1) as u32
    }

    /// Returns a track, to be described.
    pub(crate) fn track_mut(&mut self, index: u32) -> &mut RawTrack {
        &mut self.tracks[index as usize]
    }

    /// Adds a slice that an [end](Self::end) may follow.
    pub(crate) fn begin(
        &mut self,
        track: u32,
        at_ns: u64,
        name: NameId,
        category: NameId,
    ) -> Result<(), TooMany> {
        self.add_event(track, at_ns, None, EventKind::Unfinished, name, category)
    }

    /// Adds a slice with a known duration.
    pub(crate) fn slice(
        &mut self,
        track: u32,
        from_ns: u64,
        duration_ns: u64,
        name: NameId,
        category: NameId,
    ) -> Result<(), TooMany> {
        let duration = Some(duration_ns);
        self.add_event(track, from_ns, duration, EventKind::Slice, name, category)
    }

    /// Adds an instant.
    pub(crate) fn instant(
        &mut self,
        track: u32,
        at_ns: u64,
        name: NameId,
        category: NameId,
    ) -> Result<(), TooMany> {
        self.add_event(track, at_ns, None, EventKind::Instant, name, category)
    }

    fn add_event(
        &mut self,
        track: u32,
        from_ns: u64,
        duration_ns: Option<u64>,
        kind: EventKind,
        name: NameId,
        category: NameId,
    ) -> Result<(), TooMany> {
        let index = index_of(self.events.len(), "events")?;
        let arguments = index_of(self.arguments.len(), "arguments")?;
        let duration_ns = duration_ns.unwrap_or(0);
        self.events.push(EventRecord {
            from_ns,
            duration_ns,
            track,
            name,
            category,
            parent: index,
            arguments,
            argument_count: 0,
            kind,
        });
        let found = &mut self.tracks[track as usize];
        found.last_event = Some(index);
        found.is_used = true;
        self.extend_span(from_ns);
        self.extend_span(from_ns.saturating_add(duration_ns));
        Ok(())
    }

    /// Ends the innermost slice of a track.
    pub(crate) fn end(&mut self, track: u32, at_ns: u64) -> Result<(), TooMany> {
        let position = index_of(self.events.len(), "events")?;
        self.ends.push(End {
            at_ns,
            track,
            position,
        });
        self.extend_span(at_ns);
        Ok(())
    }

    /// Adds an argument to the event that was added last.
    pub(crate) fn argument(&mut self, name: NameId, value: Value<'_>) {
        let Some(event) = self.events.last_mut() else {
            return;
        };
        let Some(count) = event.argument_count.checked_add(1) else {
            self.problems.ignored += 1;
            return;
        };
        event.argument_count = count;
        let (kind, bits) = match value {
            Value::Text(text) => (PackedKind::Text, self.names.id(text).0.into()),
            Value::Unsigned(number) => (PackedKind::Unsigned, number),
            Value::Signed(number) if number < 0 => (PackedKind::Signed, number as u64),
            Value::Signed(number) => (PackedKind::Unsigned, number as u64),
            Value::Float(number) => (PackedKind::Float, number.to_bits()),
            Value::Flag(is_set) => (PackedKind::Flag, is_set.into()),
        };
        self.arguments.push(Packed { bits, name, kind });
    }

    /// Lets a flow touch the event that was added last.
    pub(crate) fn flow(&mut self, flow: u64, is_end: bool) {
        if let Some(last) = self.events.last() {
            let event = last.parent;
            self.flows.push(FlowMark {
                event,
                is_end,
                flow,
            });
        }
    }

    /// Lets a flow touch the last event of a track if that begins at the same time, and otherwise
    /// the slice around this time.
    #[cfg(feature = "json")]
    pub(crate) fn flow_at(&mut self, track: u32, at_ns: u64, flow: u64, is_end: bool) {
        let last = self.tracks[track as usize].last_event;
        match last.filter(|&last| self.events[last as usize].from_ns == at_ns) {
            Some(event) => self.flows.push(FlowMark {
                event,
                is_end,
                flow,
            }),
            None => self.loose_flows.push(LooseFlow {
                at_ns,
                flow,
                track,
                is_end,
            }),
        }
    }

    /// Adds a value of a counter, by its bits.
    pub(crate) fn count(&mut self, track: u32, at_ns: u64, bits: u64, is_float: bool) {
        self.samples.push(Sample {
            at_ns,
            bits,
            track,
            is_float,
        });
        self.tracks[track as usize].is_used = true;
        self.extend_span(at_ns);
    }

    fn extend_span(&mut self, at_ns: u64) {
        self.span_ns.0 = self.span_ns.0.min(at_ns);
        self.span_ns.1 = self.span_ns.1.max(at_ns);
    }

    /// Completes the timeline. `cut_at` is the byte at which the file ends too early.
    pub(crate) fn finish(mut self, cut_at: Option<u64>) -> Timeline {
        let (mut tracks, indexes) = self.sorted_tracks();
        self.sort(&indexes);
        self.remap_flows();
        let mut rest = (&mut self.events[..], &self.ends[..], &self.samples[..]);
        let mut firsts = (0, 0);
        for (index, track) in tracks.iter_mut().enumerate() {
            let is_same = |other: u32| other as usize == index;
            let events = rest.0.partition_point(|event| is_same(event.track));
            let ends = rest.1.partition_point(|end| is_same(end.track));
            let samples = rest.2.partition_point(|sample| is_same(sample.track));
            let (mine, later) = std::mem::take(&mut rest.0).split_at_mut(events);
            let (my_ends, later_ends) = rest.1.split_at(ends);
            sweep(mine, my_ends, firsts.0, self.span_ns.1, &mut self.problems);
            track.events = firsts.0..firsts.0 + events;
            track.samples = firsts.1..firsts.1 + samples;
            firsts = (track.events.end, track.samples.end);
            rest = (later, later_ends, &rest.2[samples..]);
        }
        let mut timeline = Timeline {
            texts: self.names.into_texts(),
            processes: self
                .processes
                .iter()
                .map(|(&number, &name)| ProcessRecord { number, name })
                .collect(),
            tracks,
            events: self.events,
            arguments: self.arguments,
            flows: self.flows,
            samples: self.samples,
            span_ns: match self.span_ns {
                (first, last) if first <= last => (first, last),
                _ => (0, 0),
            },
            cut_at,
            problems: self.problems,
        };
        timeline.attach(&self.loose_flows, &indexes);
        timeline.flows.sort_unstable();
        timeline.flows.dedup();
        timeline
    }

    /// Returns the tracks in their order, and for each raw track its index there. Raw tracks of the
    /// same thread become one track.
    fn sorted_tracks(&mut self) -> (Vec<TrackRecord>, Vec<u32>) {
        for track in &self.tracks {
            if let Some(process) = track.process {
                self.processes.entry(process).or_default();
            }
        }
        let indexes_of_processes: HashMap<u32, usize> =
            self.processes.keys().copied().zip(0..).collect();
        let mut order: Vec<usize> = (0..self.tracks.len())
            .filter(|&index| self.tracks[index].is_used || !self.tracks[index].is_optional)
            .collect();
        order.sort_by_key(|&index| {
            let track = &self.tracks[index];
            (
                track.process,
                track.unit.is_some(),
                track.rank,
                track.thread,
                index,
            )
        });
        let mut records: Vec<TrackRecord> = Vec::new();
        let mut threads: HashMap<(u32, u32), u32> = HashMap::new();
        let mut indexes = vec![NONE; self.tracks.len()];
        for index in order {
            let track = &self.tracks[index];
            let next = records.len() as u32;
            let is_thread = track
                .process
                .zip(track.thread)
                .filter(|_| track.unit.is_none());
            indexes[index] = match is_thread {
                Some(thread) => *threads.entry(thread).or_insert(next),
                None => next,
            };
            let record = TrackRecord {
                process: track.process.map(|process| indexes_of_processes[&process]),
                thread: track.thread,
                name: track.name,
                rank: track.rank,
                unit: track.unit,
                events: 0..0,
                samples: 0..0,
            };
            match records.get_mut(indexes[index] as usize) {
                None => records.push(record),
                Some(known) if known.name == NameId::default() => known.name = record.name,
                Some(_) => {}
            }
        }
        (records, indexes)
    }

    /// Sorts everything by track and time. `indexes` has the new index of each track.
    fn sort(&mut self, indexes: &[u32]) {
        for event in &mut self.events {
            event.track = indexes[event.track as usize];
        }
        self.events.sort_unstable_by_key(|event| {
            let after = match event.kind {
                EventKind::Slice => u64::MAX - event.duration_ns,
                _ => 0,
            };
            let is_whole = event.kind == EventKind::Slice;
            (event.track, event.from_ns, is_whole, after, event.parent)
        });
        for end in &mut self.ends {
            end.track = indexes[end.track as usize];
        }
        // Ends on tracks without any event.
        let before = self.ends.len();
        self.ends.retain(|end| end.track != NONE);
        self.problems.ends_without_slice += (before - self.ends.len()) as u64;
        self.ends
            .sort_unstable_by_key(|end| (end.track, end.at_ns, end.position));
        for sample in &mut self.samples {
            sample.track = indexes[sample.track as usize];
        }
        if !self
            .samples
            .is_sorted_by_key(|sample| (sample.track, sample.at_ns))
        {
            self.samples
                .sort_by_key(|sample| (sample.track, sample.at_ns));
        }
    }

    /// Lets flows refer to the events by their new indexes.
    fn remap_flows(&mut self) {
        if self.flows.is_empty() {
            return;
        }
        let mut new_indexes = vec![0; self.events.len()];
        for (index, event) in self.events.iter().enumerate() {
            new_indexes[event.parent as usize] = index as u32;
        }
        for mark in &mut self.flows {
            mark.event = new_indexes[mark.event as usize];
        }
    }
}

impl Timeline {
    /// Attaches flows to the innermost slices around their times.
    fn attach(&mut self, loose: &[LooseFlow], indexes: &[u32]) {
        for flow in loose {
            let found = self
                .tracks
                .get(indexes[flow.track as usize] as usize)
                .and_then(|track| self.slice_around(track, flow.at_ns));
            match found {
                Some(event) => self.flows.push(FlowMark {
                    event: event as u32,
                    is_end: flow.is_end,
                    flow: flow.flow,
                }),
                None => self.problems.flows_without_event += 1,
            }
        }
    }

    fn slice_around(&self, track: &TrackRecord, at_ns: u64) -> Option<usize> {
        let events = &self.events[track.events.clone()];
        let begun = events.partition_point(|event| event.from_ns <= at_ns);
        let mut candidate = (track.events.start + begun).checked_sub(1);
        for _ in 0..PARENTS_MAX {
            let index = candidate.filter(|&index| index >= track.events.start)?;
            let event = &self.events[index];
            if event.kind != EventKind::Instant && at_ns <= event.to_ns() {
                return Some(index);
            }
            candidate = event.parent();
        }
        None
    }
}

/// Returns the index of the next item.
fn index_of(len: usize, what: &'static str) -> Result<u32, TooMany> {
    let max = u64::from(NONE);
    match u32::try_from(len) {
        Ok(index) if index < NONE => Ok(index),
        _ => Err(TooMany { what, max }),
    }
}
