//! Reads track descriptors and track events.

use std::collections::HashMap;

use super::schema::field::{argument, counter, event, old_event, process, track};
use super::schema::kind;
use super::sequence::{Sequence, Thread};
use super::wire::{Defect, Fields, Wire};
use crate::event::Value;
use crate::timeline::{Builder, NameId, RawTrack, TooMany};

/// The largest number of tracks between a track and its process.
const PARENTS_MAX: usize = 64;

/// The tracks and events of a trace.
#[derive(Debug)]
pub(super) struct Events {
    pub(super) builder: Builder,
    /// The tracks by the number that the file has.
    by_uuid: HashMap<u64, u32>,
    by_thread: HashMap<(u32, u32), u32>,
    parents: HashMap<u64, u64>,
}

/// A defect, or a timeline that becomes too large.
#[derive(Debug)]
pub(super) enum Fault {
    Defect(Defect),
    TooMany(TooMany),
}

impl From<Defect> for Fault {
    fn from(defect: Defect) -> Self {
        Self::Defect(defect)
    }
}

impl From<TooMany> for Fault {
    fn from(too_many: TooMany) -> Self {
        Self::TooMany(too_many)
    }
}

/// The fields of a `TrackEvent` that occur once.
#[derive(Debug, Default)]
struct Once<'a> {
    kind: u64,
    track: Option<u64>,
    name: Option<&'a [u8]>,
    name_id: Option<u64>,
    category: Option<&'a [u8]>,
    category_id: Option<u64>,
    /// The bits of a counter's value, and true for a floating-point number.
    count: Option<(u64, bool)>,
    old: Old,
    /// True if there are arguments or flows.
    has_more: bool,
}

/// The fields of the event format that Perfetto had before.
#[derive(Debug, Default)]
struct Old {
    phase: u8,
    name_id: Option<u64>,
    duration_us: u64,
    process: Option<u32>,
    thread: Option<u32>,
}

impl Events {
    /// Creates a trace without events.
    pub(super) fn new() -> Self {
        Self {
            builder: Builder::new(),
            by_uuid: HashMap::new(),
            by_thread: HashMap::new(),
            parents: HashMap::new(),
        }
    }

    /// Reads a track descriptor.
    pub(super) fn read_track(&mut self, message: &[u8]) -> Result<(), Fault> {
        let (mut uuid, mut rank, mut name) = (0, 0, None);
        let (mut parent, mut of_process, mut of_thread, mut of_counter) = (None, None, None, None);
        let mut fields = Fields::new(message);
        while let Some(field) = fields.next()? {
            match field {
                (track::UUID, Wire::Varint(value)) => uuid = value,
                (track::PARENT, Wire::Varint(value)) => parent = Some(value),
                (track::RANK, Wire::Varint(value)) => rank = value as i32,
                (track::NAME | track::STATIC_NAME, Wire::Bytes(text)) => name = Some(text),
                (track::PROCESS, Wire::Bytes(message)) => of_process = Some(message),
                (track::THREAD, Wire::Bytes(message)) => of_thread = Some(message),
                (track::COUNTER, Wire::Bytes(message)) => of_counter = Some(message),
                _ => {}
            }
        }
        if let Some(parent) = parent {
            self.parents.insert(uuid, parent);
        }
        let index = self.track(uuid);
        if let Some(message) = of_process {
            let number = self.read_process(message, name.take())?;
            self.builder.track_mut(index).process = Some(number);
        } else if uuid != 0 {
            self.builder.track_mut(index).is_optional = false;
        }
        if let Some(message) = of_thread {
            let thread = Thread::read(message)?;
            name = thread.name.or(name);
            let found = self.builder.track_mut(index);
            found.process = Some(thread.numbers.0);
            found.thread = Some(thread.numbers.1);
            self.by_thread.insert(thread.numbers, index);
        }
        if let Some(message) = of_counter {
            let unit = self.read_unit(message)?;
            self.builder.track_mut(index).unit = Some(unit);
        }
        let name = name.map(|text| self.builder.names.id_of_bytes(text));
        let found = self.builder.track_mut(index);
        found.rank = rank;
        found.name = name.unwrap_or(found.name);
        Ok(())
    }

    /// Reads a `ProcessDescriptor`. Returns the number of the process. `name` is the one that its
    /// track has.
    fn read_process<'a>(
        &mut self,
        message: &'a [u8],
        mut name: Option<&'a [u8]>,
    ) -> Result<u32, Fault> {
        let mut number = 0;
        let mut fields = Fields::new(message);
        while let Some(field) = fields.next()? {
            match field {
                (process::PID, Wire::Varint(value)) => number = value as u32,
                (process::NAME, Wire::Bytes(text)) => name = Some(text),
                _ => {}
            }
        }
        let name = name.map(|text| self.builder.names.id_of_bytes(text));
        self.builder.process(number, name);
        Ok(number)
    }

    /// Reads the unit of a `CounterDescriptor`.
    fn read_unit(&mut self, message: &[u8]) -> Result<NameId, Fault> {
        let mut unit = NameId::default();
        let mut fields = Fields::new(message);
        while let Some(field) = fields.next()? {
            match field {
                (counter::UNIT_NAME, Wire::Bytes(text)) => {
                    unit = self.builder.names.id_of_bytes(text);
                }
                (counter::UNIT, Wire::Varint(value)) if unit == NameId::default() => {
                    let text = match value {
                        1 => "ns",
                        3 => "bytes",
                        _ => "",
                    };
                    unit = self.builder.names.id(text);
                }
                _ => {}
            }
        }
        Ok(unit)
    }

    /// Reads a `TrackEvent`. `at_ns` is `None` if its packet has no time.
    pub(super) fn read_event(
        &mut self,
        message: &[u8],
        at_ns: Option<u64>,
        sequence: &Sequence,
    ) -> Result<(), Fault> {
        let once = Once::read(message)?;
        let Some(at_ns) = at_ns else {
            self.builder.problems.ignored += 1;
            return Ok(());
        };
        let track = self.track_of(&once, sequence);
        let kind = match (once.kind, once.old.phase) {
            (0, b'B') => kind::BEGIN,
            (0, b'E') => kind::END,
            (0, b'I' | b'i') => kind::INSTANT,
            (kind, _) => kind,
        };
        let is_whole = (kind, once.old.phase) == (0, b'X');
        match kind {
            kind::END => self.builder.end(track, at_ns)?,
            kind::COUNTER => match once.count {
                Some((bits, is_float)) => {
                    self.builder.track_mut(track).unit.get_or_insert_default();
                    self.builder.count(track, at_ns, bits, is_float);
                }
                None => self.builder.problems.ignored += 1,
            },
            kind::BEGIN | kind::INSTANT | 0 if kind != 0 || is_whole => {
                let name_id = once.name_id.or(once.old.name_id);
                let name = self.name(once.name, name_id, &sequence.names);
                let category = self.name(once.category, once.category_id, &sequence.categories);
                let builder = &mut self.builder;
                match kind {
                    kind::BEGIN => builder.begin(track, at_ns, name, category)?,
                    kind::INSTANT => builder.instant(track, at_ns, name, category)?,
                    _ => {
                        let duration_ns = once.old.duration_us.saturating_mul(1_000);
                        builder.slice(track, at_ns, duration_ns, name, category)?;
                    }
                }
                if once.has_more {
                    self.read_more(message, sequence)?;
                }
            }
            _ => self.builder.problems.ignored += 1,
        }
        Ok(())
    }

    /// Reads the arguments and flows of the event that was added last.
    fn read_more(&mut self, message: &[u8], sequence: &Sequence) -> Result<(), Fault> {
        let mut fields = Fields::new(message);
        while let Some((number, value)) = fields.next()? {
            match (number, value) {
                (event::ARGUMENT, Wire::Bytes(message)) => self.read_argument(message, sequence)?,
                (event::FLOW | event::FLOW_ENDED, value) => {
                    let is_end = number == event::FLOW_ENDED;
                    value.numbers(true, |flow| self.builder.flow(flow, is_end))?;
                }
                (event::FLOW_VARINT | event::FLOW_ENDED_VARINT, value) => {
                    let is_end = number == event::FLOW_ENDED_VARINT;
                    value.numbers(false, |flow| self.builder.flow(flow, is_end))?;
                }
                _ => {}
            }
        }
        Ok(())
    }

    /// Reads a `DebugAnnotation` of the event that was added last.
    fn read_argument(&mut self, message: &[u8], sequence: &Sequence) -> Result<(), Fault> {
        let (mut name, mut name_id, mut found) = (None, None, None);
        let mut fields = Fields::new(message);
        while let Some(field) = fields.next()? {
            match field {
                (argument::NAME_IID, Wire::Varint(id)) => name_id = Some(id),
                (argument::NAME, Wire::Bytes(text)) => name = Some(text),
                value => found = Some(value),
            }
        }
        let name = self.name(name, name_id, &sequence.argument_names);
        let text;
        let value = match found {
            Some((argument::FLAG, Wire::Varint(value))) => Value::Flag(value != 0),
            Some((argument::UNSIGNED | argument::POINTER, Wire::Varint(value))) => {
                Value::Unsigned(value)
            }
            Some((argument::SIGNED, Wire::Varint(value))) => Value::Signed(value as i64),
            Some((argument::FLOAT, Wire::Fixed64(bits))) => Value::Float(f64::from_bits(bits)),
            Some((argument::TEXT | argument::JSON, Wire::Bytes(bytes))) => {
                text = String::from_utf8_lossy(bytes);
                Value::Text(&text)
            }
            Some((argument::TEXT_IID, Wire::Varint(id))) => {
                let id = self.name(None, Some(id), &sequence.texts);
                text = self.builder.names.text(id).to_owned().into();
                Value::Text(&text)
            }
            _ => {
                self.builder.problems.ignored += 1;
                return Ok(());
            }
        };
        self.builder.argument(name, value);
        Ok(())
    }

    /// Returns the name that a packet has as a text or as a number.
    fn name(
        &mut self,
        text: Option<&[u8]>,
        id: Option<u64>,
        table: &HashMap<u64, NameId>,
    ) -> NameId {
        match (text, id) {
            (Some(text), _) => self.builder.names.id_of_bytes(text),
            (None, Some(id)) => table.get(&id).copied().unwrap_or_else(|| {
                self.builder.problems.unknown_names += 1;
                NameId::default()
            }),
            (None, None) => NameId::default(),
        }
    }

    /// Returns the track of an event.
    fn track_of(&mut self, once: &Once<'_>, sequence: &Sequence) -> u32 {
        let old = match (once.old.process, once.old.thread) {
            (None, None) => None,
            (process, thread) => {
                let (default_process, default_thread) = sequence.thread.unwrap_or_default();
                Some((
                    process.unwrap_or(default_process),
                    thread.unwrap_or(default_thread),
                ))
            }
        };
        if let Some(uuid) = once.track.filter(|_| old.is_none()) {
            return self.track(uuid);
        }
        match (old, sequence.default_track, sequence.thread) {
            (Some(thread), ..) | (None, None, Some(thread)) => self.thread(thread),
            (None, Some(uuid), _) => self.track(uuid),
            (None, None, None) => self.track(0),
        }
    }

    fn track(&mut self, uuid: u64) -> u32 {
        let builder = &mut self.builder;
        let add = || builder.add_track(RawTrack::unknown());
        *self.by_uuid.entry(uuid).or_insert_with(add)
    }

    /// Returns the track of a thread.
    fn thread(&mut self, (process, thread): (u32, u32)) -> u32 {
        let builder = &mut self.builder;
        let add = || builder.add_track(RawTrack::of_thread(process, thread));
        *self.by_thread.entry((process, thread)).or_insert_with(add)
    }

    /// Names the thread of a sequence.
    pub(super) fn name_thread(&mut self, thread: (u32, u32), name: &[u8]) {
        let index = self.thread(thread);
        let name = self.builder.names.id_of_bytes(name);
        self.builder.track_mut(index).name = name;
    }

    /// Returns the builder, after tracks have got the processes of their parents.
    pub(super) fn finish(mut self) -> Builder {
        let process_of = |uuid: u64, builder: &mut Builder| {
            let mut uuid = uuid;
            for _ in 0..PARENTS_MAX {
                let index = *self.by_uuid.get(&uuid)?;
                match builder.track_mut(index).process {
                    None => uuid = *self.parents.get(&uuid)?,
                    process => return process,
                }
            }
            None
        };
        for (&uuid, &index) in &self.by_uuid {
            let process = process_of(uuid, &mut self.builder);
            self.builder.track_mut(index).process = process;
        }
        self.builder
    }
}

impl<'a> Once<'a> {
    fn read(message: &'a [u8]) -> Result<Self, Defect> {
        let mut once = Self::default();
        let mut fields = Fields::new(message);
        while let Some(field) = fields.next()? {
            match field {
                (event::TYPE, Wire::Varint(value)) => once.kind = value,
                (event::TRACK, Wire::Varint(value)) => once.track = Some(value),
                (event::NAME, Wire::Bytes(text)) => once.name = Some(text),
                (event::NAME_IID, Wire::Varint(value)) => once.name_id = Some(value),
                (event::CATEGORY, Wire::Bytes(text)) => {
                    once.category.get_or_insert(text);
                }
                (event::CATEGORY_IID, value) => value.numbers(false, |value| {
                    once.category_id.get_or_insert(value);
                })?,
                (event::COUNT, Wire::Varint(value)) => once.count = Some((value, false)),
                (event::COUNT_FLOAT, Wire::Fixed64(bits)) => once.count = Some((bits, true)),
                (event::OLD, Wire::Bytes(message)) => once.old = Old::read(message)?,
                (
                    event::ARGUMENT
                    | event::FLOW
                    | event::FLOW_ENDED
                    | event::FLOW_VARINT
                    | event::FLOW_ENDED_VARINT,
                    _,
                ) => once.has_more = true,
                _ => {}
            }
        }
        Ok(once)
    }
}

impl Old {
    fn read(message: &[u8]) -> Result<Self, Defect> {
        let mut old = Self::default();
        let mut fields = Fields::new(message);
        while let Some((number, value)) = fields.next()? {
            let Wire::Varint(value) = value else { continue };
            match number {
                old_event::NAME_IID => old.name_id = Some(value),
                old_event::PHASE => old.phase = value as u8,
                old_event::DURATION_US => old.duration_us = value,
                old_event::PID => old.process = Some(value as u32),
                old_event::TID => old.thread = Some(value as u32),
                _ => {}
            }
        }
        Ok(old)
    }
}
