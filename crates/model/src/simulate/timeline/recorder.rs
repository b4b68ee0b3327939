//! A timeline as a file, with all events of a simulation.
//!
//! A node is a process in the file. Its threads and its two links are tracks, and the number of its
//! active threads is a counter. A message is a flow from the call that sends it to the call that
//! receives it. Times are rounded to nanoseconds.

use std::collections::{BTreeMap, BTreeSet};
use std::io::{self, Write};

use raddle_timeline::{CounterTrack, Event, Format, Track, Value, Writer};

use super::{Activity, Link, Timeline};
use crate::simulate::client::Thread;
use crate::simulate::moment::Moment;

/// The thread numbers of the links, beyond all thread numbers of a node.
const LINK_OUT: u32 = 1_000_000;
const LINK_IN: u32 = 1_000_001;
/// The number of the counter among the tracks of a node.
const ACTIVE: u32 = 1_000_002;

/// A timeline that writes all events.
#[derive(Debug)]
pub struct Recorder<W: Write> {
    out: Writer<W>,
    failure: Option<io::Error>,
    /// The nodes and tracks that have been declared.
    nodes: BTreeSet<u32>,
    tracks: BTreeSet<u64>,
    handler: Option<u32>,
    /// The messages that a thread has sent or received during its current activity. They are
    /// written with it, when it ends.
    messages: BTreeMap<Thread, Messages>,
}

#[derive(Debug, Default)]
struct Messages {
    sent: Vec<u64>,
    received: Vec<u64>,
    /// The time of the last one.
    at: Moment,
}

impl<W: Write> Recorder<W> {
    /// Creates a timeline that writes to `out`. Threads with the number `handler` are named
    /// "handler".
    ///
    /// # Errors
    /// A failure of writing.
    pub fn new(out: W, format: Format, handler: Option<u32>) -> io::Result<Self> {
        Ok(Self {
            out: Writer::new(format, out)?,
            failure: None,
            nodes: BTreeSet::new(),
            tracks: BTreeSet::new(),
            handler,
            messages: BTreeMap::new(),
        })
    }

    /// Ends the file, and returns the writer.
    ///
    /// # Errors
    /// The first failure of writing.
    pub fn finish(mut self) -> io::Result<W> {
        // Those of activities that took no time, at the end.
        for (thread, messages) in std::mem::take(&mut self.messages) {
            if messages.is_empty() {
                continue;
            }
            self.attempt(|this| {
                let track = this.track(thread.node, thread.number)?;
                let event = messages.event("message");
                this.out.instant(track, nanoseconds(messages.at), &event)
            });
        }
        match self.failure {
            Some(failure) => Err(failure),
            None => self.out.finish(),
        }
    }

    /// Calls `write`, unless writing has failed before.
    fn attempt(&mut self, write: impl FnOnce(&mut Self) -> io::Result<()>) {
        if self.failure.is_none() {
            self.failure = write(self).err();
        }
    }

    /// Returns the number of a track, which is declared when it is first used.
    fn track(&mut self, node: u32, number: u32) -> io::Result<u64> {
        let id = u64::from(node) << 32 | u64::from(number);
        if self.tracks.insert(id) {
            self.declare(id, node, number)?;
        }
        Ok(id)
    }

    fn declare(&mut self, id: u64, node: u32, number: u32) -> io::Result<()> {
        if self.nodes.insert(node) {
            self.out.process(node, &format!("node {node}"))?;
        }
        if number == ACTIVE {
            return self.out.counter_track(&CounterTrack {
                id,
                process: node,
                name: "active threads",
                unit: "threads",
            });
        }
        let name = match number {
            LINK_OUT => "link out".to_owned(),
            LINK_IN => "link in".to_owned(),
            _ if Some(number) == self.handler => "handler".to_owned(),
            _ => format!("thread {number}"),
        };
        self.out.track(&Track {
            id,
            process: node,
            thread: number,
            name: &name,
            // Thread numbers are small.
            rank: number as i32,
        })
    }
}

impl Messages {
    fn is_empty(&self) -> bool {
        self.sent.is_empty() && self.received.is_empty()
    }

    /// Returns an event of a thread at which these messages are sent and received.
    fn event<'a>(&'a self, name: &'a str) -> Event<'a> {
        Event {
            category: "thread",
            flows: &self.sent,
            flows_ended: &self.received,
            ..Event::named(name)
        }
    }
}

impl<W: Write> Timeline for Recorder<W> {
    const LISTENS: bool = true;

    fn thread(&mut self, thread: Thread, activity: Activity, from: Moment, to: Moment) {
        self.attempt(|this| {
            let track = this.track(thread.node, thread.number)?;
            let messages = this.messages.entry(thread).or_default();
            let event = messages.event(activity.name());
            let written = this
                .out
                .slice(track, nanoseconds(from), nanoseconds(to), &event);
            messages.sent.clear();
            messages.received.clear();
            written
        });
    }

    fn passed(&mut self, node: u32, link: Link, message: u64, from: Moment, to: Moment) {
        self.attempt(|this| {
            let (number, name) = match link {
                Link::Out => (LINK_OUT, "message"),
                Link::In => (LINK_IN, "packet"),
            };
            let track = this.track(node, number)?;
            let event = Event {
                category: "network",
                arguments: &[("message", Value::Unsigned(message))],
                ..Event::named(name)
            };
            this.out
                .slice(track, nanoseconds(from), nanoseconds(to), &event)
        });
    }

    fn sent(&mut self, message: u64, by: Thread, at: Moment) {
        let messages = self.messages.entry(by).or_default();
        messages.sent.push(message);
        messages.at = at;
    }

    fn received(&mut self, message: u64, by: Thread, at: Moment) {
        let messages = self.messages.entry(by).or_default();
        messages.received.push(message);
        messages.at = at;
    }

    fn active(&mut self, node: u32, threads: u32, at: Moment) {
        self.attempt(|this| {
            let track = this.track(node, ACTIVE)?;
            this.out.count(track, nanoseconds(at), threads.into())
        });
    }
}

fn nanoseconds(time: Moment) -> u64 {
    let picoseconds = time.picoseconds();
    picoseconds / 1_000 + u64::from(picoseconds % 1_000 >= 500)
}
