//! Writes the events of a recording as a timeline ([`raddle_timeline`]).
//!
//! Each thread becomes a track. These are its slices, with their categories:
//!
//! | slice | category | arguments |
//! |---|---|---|
//! | a task that a worker runs, by the type of its closure | `task` | |
//! | a fork that a worker has taken | `fork` | |
//! | a message, by its entry if it runs one | `message` | `collection`, `element` |
//! | a further entry of the same message | `entry` | `collection`, `element` |
//! | a call from outside, a blocking call, a turn of an operation | `call` | |
//! | a time without work: `search`, `sleep`, `rest` | `idle` | |
//! | a wait inside a task | `wait` | `on`: a worker or a location |
//! | a join, from its fork on | `join` | `second_ns`: the time to its second half; or its `depth` |
//! | a parallel loop | `loop` | `items` |
//! | a section of a location | `section` | `access`: `read` or `write` |
//! | a scope of the program | `scope` | |
//! | a time that was not recorded | `pause` | `tasks`, `messages`, `idle_ns`: the work left out |
//!
//! These are the instants:
//!
//! | instant | category | arguments |
//! |---|---|---|
//! | a task is put | `put` | |
//! | a fork becomes a task | `publish` | `owner`: the worker that made it, `depth` |
//! | a task is taken from another worker | `steal` | `victim` |
//! | a message is sent | `send` | `collection`, `element`, `worker` or `node`, `bytes` |
//! | bytes are sent to another node, or have arrived from it | `node` | `node`, `bytes` |
//! | others: reductions, scans, moves | `note` | `value` |
//!
//! The argument `node` is the number of the node's process in the file: that of the node, if the
//! program runs one job.
//!
//! Flows lead from the instant `put`, `publish` or `send` to the slice that runs the task or
//! message.
//!
//! A slice ends when an outer one ends. A recording that begins or ends inside a slice shows the
//! part of it that was recorded.
//!
//! # Facts
//! The first instant of each process, in the category `facts` on a track of its own, has facts
//! about the program and the recording as arguments ([`Facts`]).

mod flows;
mod slices;

use std::collections::HashMap;
use std::io::{self, Write};

use raddle_timeline::{Event as Written, Track as WrittenTrack, Value, Writer};

use crate::events::{Events, Thread, Track};
use flows::{Flows, Link};
use slices::{Argument, Change, Label, Slices, Unrecorded};

/// The category of the instant that has facts about a process.
pub const FACTS: &str = "facts";

/// Facts about the process that was recorded.
#[derive(Clone, Debug, Default)]
pub struct Facts {
    /// The number of the process: that of the node, or 0.
    pub process: u32,
    /// The name of the process.
    pub name: String,
    /// Further facts, by name. Structured ones are JSON.
    pub values: Vec<(String, String)>,
}

/// Writes the events of one process, and declares its tracks.
///
/// # Errors
/// Those of the writer.
pub fn write<W: Write>(events: &Events, facts: &Facts, writer: &mut Writer<W>) -> io::Result<()> {
    writer.process(facts.process, &facts.name)?;
    write_facts(events, facts, writer)?;
    let flows = Flows::of(events, facts.process);
    let names: Vec<String> = events.names.iter().map(|name| shorten(name)).collect();
    for (index, track) in events.tracks.iter().enumerate() {
        let name = track.thread.to_string();
        writer.track(&WrittenTrack {
            id: track_id(index),
            process: facts.process,
            thread: index as u32 + 1,
            name: &name,
            rank: index as i32 + 1,
        })?;
        TrackWriter {
            track: track_id(index),
            writer,
            names: &names,
        }
        .write(
            track,
            &flows.of_tracks[index],
            &unrecorded(events, track),
            track.ended_ns.unwrap_or(events.until_ns),
        )?;
    }
    Ok(())
}

/// Returns the pauses of the recording, with the work of one thread that was left out in each.
fn unrecorded(events: &Events, track: &Track) -> Vec<Unrecorded> {
    let worker = match track.thread {
        Thread::Worker { runtime, index, .. } => Some((runtime, index)),
        Thread::Other(_) => None,
    };
    let pauses = events.pauses.iter();
    let unrecorded = pauses.map(|pause| Unrecorded {
        from_ns: pause.from_ns,
        until_ns: pause.until_ns,
        counts: worker
            .and_then(|worker| pause.counts.get(&worker).copied())
            .unwrap_or_default(),
    });
    unrecorded.collect()
}

/// Returns the id of a track; the track of the facts is 0.
fn track_id(index: usize) -> u64 {
    index as u64 + 1
}

fn write_facts<W: Write>(events: &Events, facts: &Facts, writer: &mut Writer<W>) -> io::Result<()> {
    writer.track(&WrittenTrack {
        id: 0,
        process: facts.process,
        thread: 0,
        name: "raddle",
        rank: 0,
    })?;
    let dropped: u64 = events.tracks.iter().map(|track| track.dropped).sum();
    let mut arguments = vec![
        ("from_ns", Value::Unsigned(events.from_ns)),
        ("until_ns", Value::Unsigned(events.until_ns)),
        ("dropped_events", Value::Unsigned(dropped)),
        ("refused_threads", Value::Unsigned(events.refused_threads)),
        (
            "scope_interior_ns",
            Value::Float(events.scope_cost.interior_ns),
        ),
        (
            "scope_exterior_ns",
            Value::Float(events.scope_cost.exterior_ns),
        ),
    ];
    let values = facts.values.iter();
    arguments.extend(values.map(|(name, value)| (&**name, Value::Text(value))));
    let event = Written {
        name: "facts",
        category: FACTS,
        arguments: &arguments,
        ..Written::default()
    };
    writer.instant(0, events.from_ns, &event)
}

/// Returns the part of a closure's type that says where in the program it is.
///
/// A type such as `lib::Wrapper<app::scene::render::{{closure}}>` names the function of the program
/// innermost. Its path is what remains, without `{{closure}}`.
fn shorten(name: &str) -> String {
    const LIBRARIES: [&str; 8] = [
        "raddle_runtime::",
        "raddle_chare::",
        "raddle_orwl::",
        "raddle_collections::",
        "rayon_core::",
        "core::",
        "std::",
        "alloc::",
    ];
    let is_in_path = |c: char| c.is_alphanumeric() || matches!(c, ':' | '_' | '{' | '}' | '#');
    let closures = || {
        let paths = name.split(move |c| !is_in_path(c));
        paths.filter(|path| path.contains("{{closure}}"))
    };
    let is_of_program = |path: &&str| {
        !path.starts_with(':') && !LIBRARIES.iter().any(|prefix| path.starts_with(prefix))
    };
    let path = closures().rfind(is_of_program);
    let path = path.or_else(|| closures().find(|path| !path.starts_with(':')));
    let path = path.or_else(|| name.split('<').next());
    let path = path.unwrap_or(name).replace("::{{closure}}", "");
    match path.is_empty() {
        true => name.to_owned(),
        false => path,
    }
}

/// Writes the events of one track.
struct TrackWriter<'a, W: Write> {
    track: u64,
    writer: &'a mut Writer<W>,
    names: &'a [String],
}

impl<W: Write> TrackWriter<'_, W> {
    fn write(
        &mut self,
        track: &Track,
        links: &HashMap<usize, Link>,
        pauses: &[Unrecorded],
        until_ns: u64,
    ) -> io::Result<()> {
        let mut slices = Slices::of(&track.events, links, pauses);
        for index in 0..track.events.len() {
            for (at_ns, change) in slices.step(index) {
                self.change(*at_ns, change)?;
            }
        }
        let last_ns = track.events.last().map_or(0, |event| event.at_ns);
        for _ in 0..slices.open() {
            self.writer.end(self.track, last_ns.max(until_ns))?;
        }
        Ok(())
    }

    fn change(&mut self, at_ns: u64, change: &Change) -> io::Result<()> {
        let (mark, is_slice) = match change {
            Change::End => return self.writer.end(self.track, at_ns),
            Change::Begin(mark) => (mark, true),
            Change::Instant(mark) => (mark, false),
        };
        let mut values = [("", Value::Flag(false)); slices::ARGUMENTS_MAX];
        let mut count = 0;
        for (name, argument) in mark.arguments.iter().flatten() {
            values[count] = (*name, value(self.names, *argument));
            count += 1;
        }
        let (flow, arrived) = (mark.flow.as_slice(), mark.arrived.as_slice());
        let event = Written {
            name: text(self.names, mark.name),
            category: mark.category,
            arguments: &values[..count],
            flows: if is_slice { &[] } else { flow },
            flows_ended: if is_slice { flow } else { arrived },
        };
        match is_slice {
            true => self.writer.begin(self.track, at_ns, &event),
            false => self.writer.instant(self.track, at_ns, &event),
        }
    }
}

fn text(names: &[String], label: Label) -> &str {
    match label {
        Label::Fixed(text) => text,
        Label::Name(number) => names.get(number as usize).map_or("?", |name| name),
    }
}

fn value(names: &[String], argument: Argument) -> Value<'_> {
    match argument {
        Argument::Number(number) => Value::Unsigned(number),
        Argument::Label(label) => Value::Text(text(names, label)),
    }
}

#[cfg(test)]
mod tests;
