//! Reads the Trace Event Format.

use std::borrow::Cow;
use std::collections::HashMap;
use std::io::BufRead;

use serde_json::value::RawValue;

use super::event::{self, RawEvent};
use super::scanner::Scanner;
use super::writer::NO_UNIT;
use crate::error::{Place, ReadError};
use crate::event::Value;
use crate::input::Input;
use crate::timeline::{Builder, NameId, RawTrack, Timeline, TooMany};

/// Reads a trace.
pub(crate) fn read(input: Input<impl BufRead>) -> Result<Timeline, ReadError> {
    let mut scanner = Scanner::new(input);
    let mut reader = Reader {
        builder: Builder::new(),
        threads: HashMap::new(),
        counters: HashMap::new(),
    };
    let mut bytes = Vec::new();
    while scanner.next(&mut bytes)? {
        let place = scanner.place();
        let event = serde_json::from_slice(&bytes).map_err(|error| ReadError::Malformed {
            place,
            found: error.to_string(),
            expected: "an event of the Trace Event Format",
        })?;
        reader.add(&event).map_err(|fault| fault.at(place))?;
    }
    Ok(reader.builder.finish(scanner.cut_at()))
}

#[derive(Debug)]
struct Reader {
    builder: Builder,
    threads: HashMap<(u32, u32), u32>,
    /// Counters by process, name and unit.
    counters: HashMap<(u32, NameId, NameId), u32>,
}

/// A defect of an event, or a timeline that becomes too large.
enum Fault {
    Defect(String, &'static str),
    TooMany(TooMany),
}

impl From<TooMany> for Fault {
    fn from(too_many: TooMany) -> Self {
        Self::TooMany(too_many)
    }
}

impl Fault {
    fn at(self, place: Place) -> ReadError {
        match self {
            Self::Defect(found, expected) => ReadError::Malformed {
                place,
                found,
                expected,
            },
            Self::TooMany(TooMany { what, max }) => ReadError::TooMany { place, what, max },
        }
    }
}

impl Reader {
    /// Adds an event.
    fn add(&mut self, event: &RawEvent<'_>) -> Result<(), Fault> {
        let phase = event.ph.as_deref().unwrap_or_default();
        match phase {
            "M" => self.describe(event),
            "B" | "X" | "i" | "I" | "R" => self.add_event(event, phase)?,
            "E" => {
                let at_ns = time(event.ts, "ts")?;
                let track = self.thread(event);
                self.builder.end(track, at_ns)?;
            }
            "C" => self.count(event)?,
            "s" | "t" | "f" => {
                let at_ns = time(event.ts, "ts")?;
                let track = self.thread(event);
                let flow = event.id.map_or(0, event::flow);
                self.builder.flow_at(track, at_ns, flow, phase == "f");
            }
            "" => {
                let found = "an event without a phase".to_owned();
                return Err(Fault::Defect(found, "the member \"ph\""));
            }
            _ => self.builder.problems.ignored += 1,
        }
        Ok(())
    }

    fn add_event(&mut self, event: &RawEvent<'_>, phase: &str) -> Result<(), Fault> {
        let at_ns = time(event.ts, "ts")?;
        let track = self.thread(event);
        let name = self.text(event.name);
        let category = self.text(event.cat);
        match (phase, event.dur) {
            ("B", _) => self.builder.begin(track, at_ns, name, category)?,
            ("X", None) => self.builder.slice(track, at_ns, 0, name, category)?,
            ("X", dur) => {
                let duration_ns = time(dur, "dur")?;
                self.builder
                    .slice(track, at_ns, duration_ns, name, category)?;
            }
            _ => self.builder.instant(track, at_ns, name, category)?,
        }
        for (name, raw) in &event.args.0 {
            let mut buffer = Cow::default();
            match event::value(raw, &mut buffer) {
                Some(value) => {
                    let name = self.builder.names.id(name);
                    self.builder.argument(name, value);
                }
                None => self.builder.problems.ignored += 1,
            }
        }
        Ok(())
    }

    /// Adds the values of a counter event, each of which belongs to a track of its own.
    fn count(&mut self, event: &RawEvent<'_>) -> Result<(), Fault> {
        let at_ns = time(event.ts, "ts")?;
        let process = event::number(event.pid);
        let name = event.name.map(event::text).unwrap_or_default();
        let id = event.id.map(event::text);
        let arguments = &event.args.0;
        for (series, raw) in arguments {
            let mut buffer = Cow::default();
            let (bits, is_float) = match event::value(raw, &mut buffer) {
                Some(Value::Unsigned(number)) if number <= i64::MAX as u64 => (number, false),
                Some(Value::Unsigned(number)) => ((number as f64).to_bits(), true),
                Some(Value::Signed(number)) => (number as u64, false),
                Some(Value::Float(number)) => (number.to_bits(), true),
                _ => {
                    self.builder.problems.ignored += 1;
                    continue;
                }
            };
            let mut name = name.clone().into_owned();
            if let Some(id) = &id {
                name = format!("{name} {id}");
            }
            // A single series that has a name has that of its unit.
            let unit = match &**series {
                series if arguments.len() > 1 => {
                    name = format!("{name} {series}");
                    ""
                }
                NO_UNIT => "",
                series => series,
            };
            let track = self.counter(process, &name, unit);
            self.builder.count(track, at_ns, bits, is_float);
        }
        Ok(())
    }

    /// Reads a metadata event. Those that describe something else are left out.
    fn describe(&mut self, event: &RawEvent<'_>) {
        let of = |wanted: &str| {
            let member = |(name, raw): &(Cow<'_, str>, &RawValue)| {
                (*name == wanted).then(|| event::text(raw).into_owned())
            };
            event.args.0.iter().find_map(member)
        };
        let rank = || of("sort_index")?.parse().ok();
        match &*event.name.map(event::text).unwrap_or_default() {
            "process_name" => {
                let name = of("name").map(|name| self.builder.names.id(&name));
                self.builder.process(event::number(event.pid), name);
            }
            "thread_name" => {
                let track = self.thread(event);
                let name = self.builder.names.id(&of("name").unwrap_or_default());
                let track = self.builder.track_mut(track);
                track.name = name;
                track.is_optional = false;
            }
            "thread_sort_index" => {
                let track = self.thread(event);
                self.builder.track_mut(track).rank = rank().unwrap_or_default();
            }
            _ => {}
        }
    }

    fn text(&mut self, raw: Option<&RawValue>) -> NameId {
        match raw {
            Some(raw) => self.builder.names.id(&event::text(raw)),
            None => NameId::default(),
        }
    }

    /// Returns the track of an event's thread.
    fn thread(&mut self, event: &RawEvent<'_>) -> u32 {
        let (process, thread) = (event::number(event.pid), event::number(event.tid));
        let builder = &mut self.builder;
        let add = || builder.add_track(RawTrack::of_thread(process, thread));
        *self.threads.entry((process, thread)).or_insert_with(add)
    }

    /// Returns the track of a counter.
    fn counter(&mut self, process: u32, name: &str, unit: &str) -> u32 {
        let builder = &mut self.builder;
        let (name, unit) = (builder.names.id(name), builder.names.id(unit));
        let add = || builder.add_track(RawTrack::of_counter(process, name, unit));
        *self
            .counters
            .entry((process, name, unit))
            .or_insert_with(add)
    }
}

/// Returns a time in nanoseconds.
fn time(raw: Option<&RawValue>, member: &'static str) -> Result<u64, Fault> {
    let expected = "a time in microseconds as \"ts\" and \"dur\"";
    let Some(raw) = raw else {
        return Err(Fault::Defect(
            format!("an event without \"{member}\""),
            expected,
        ));
    };
    event::nanoseconds(raw).ok_or_else(|| {
        let shown: String = raw.get().chars().take(40).collect();
        Fault::Defect(format!("{member:?} is {shown:?}"), expected)
    })
}
