//! A timeline as a file for Perfetto and Chrome (the Trace Event Format's JSON array).
//!
//! A node is a process in the file. Its threads and its two links are threads. A message is a flow
//! from the sending thread to the receiving one. Events are written in the order of their report; a
//! viewer sorts them.
//!
//! # Source
//! Trace Event Format, as <https://ui.perfetto.dev> reads it.

use std::collections::BTreeSet;
use std::io::{self, Write};

use serde::Serialize;

use super::{Activity, Link, Timeline};
use crate::simulate::client::Thread;
use crate::simulate::moment::Moment;

/// The thread numbers of the links, beyond all thread numbers of a node.
const LINK_OUT: u32 = 1_000_000;
const LINK_IN: u32 = 1_000_001;

/// A timeline that writes up to a number of events.
#[derive(Debug)]
pub struct Chrome<W: Write> {
    out: W,
    left: u64,
    is_first: bool,
    left_out: u64,
    /// The last message with a written start. The ends of the messages up to it are written,
    /// too, even beyond the limit.
    begun: Option<u64>,
    failure: Option<io::Error>,
    /// The threads that have been named in the output.
    known: BTreeSet<(u32, u32)>,
    handler: Option<u32>,
}

/// An event. Times are in microseconds, as the format requires. Fields that an event of its kind
/// does not have are absent.
#[derive(Debug, Default, Serialize)]
struct Event<'a> {
    name: &'a str,
    ph: &'static str,
    pid: u32,
    tid: u32,
    #[serde(skip_serializing_if = "Option::is_none")]
    ts: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    dur: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    id: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    cat: Option<&'static str>,
    /// The binding of the end of a flow: the enclosing slice.
    #[serde(skip_serializing_if = "Option::is_none")]
    bp: Option<&'static str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    args: Option<serde_json::Value>,
}

impl<W: Write> Chrome<W> {
    /// Creates a timeline that writes at most `events_max` events to `out`, which should be
    /// buffered. Threads with the number `handler` are named "handler".
    pub const fn new(out: W, events_max: u64, handler: Option<u32>) -> Self {
        Self {
            out,
            left: events_max,
            is_first: true,
            left_out: 0,
            begun: None,
            failure: None,
            known: BTreeSet::new(),
            handler,
        }
    }

    /// Ends the file. Returns the writer and the number of events that were left out.
    ///
    /// # Errors
    /// The first failure of writing.
    pub fn finish(mut self) -> io::Result<(W, u64)> {
        if let Some(failure) = self.failure {
            return Err(failure);
        }
        let end = if self.is_first { "[]\n" } else { "\n]\n" };
        self.out.write_all(end.as_bytes())?;
        self.out.flush()?;
        Ok((self.out, self.left_out))
    }

    fn write(&mut self, event: &Event<'_>) {
        if self.failure.is_some() {
            return;
        }
        let begin = if self.is_first { "[\n" } else { ",\n" };
        self.is_first = false;
        let mut write = || {
            self.out.write_all(begin.as_bytes())?;
            Ok(serde_json::to_writer(&mut self.out, event)?)
        };
        self.failure = write().err();
    }

    /// Returns whether there is capacity for another event. Writes the name of its thread first.
    fn has_capacity(&mut self, node: u32, thread: u32) -> bool {
        if self.left == 0 {
            self.left_out += 1;
            return false;
        }
        self.left -= 1;
        if self.known.insert((node, u32::MAX)) {
            self.name("process_name", node, 0, &format!("node {node}"));
        }
        if self.known.insert((node, thread)) {
            let name = match thread {
                LINK_OUT => "link out".to_owned(),
                LINK_IN => "link in".to_owned(),
                _ if Some(thread) == self.handler => "handler".to_owned(),
                _ => format!("thread {thread}"),
            };
            self.name("thread_name", node, thread, &name);
        }
        true
    }

    fn name(&mut self, what: &'static str, pid: u32, tid: u32, name: &str) {
        self.write(&Event {
            name: what,
            ph: "M",
            pid,
            tid,
            args: Some(serde_json::json!({ "name": name })),
            ..Event::default()
        });
    }

    fn flow(&mut self, ph: &'static str, message: u64, thread: Thread, at: Moment) {
        self.write(&Event {
            name: "message",
            ph,
            pid: thread.node,
            tid: thread.number,
            ts: Some(microseconds(at)),
            id: Some(message),
            cat: Some("message"),
            bp: (ph == "f").then_some("e"),
            ..Event::default()
        });
    }
}

impl<W: Write> Timeline for Chrome<W> {
    const LISTENS: bool = true;

    fn thread(&mut self, thread: Thread, activity: Activity, from: Moment, to: Moment) {
        if from < to && self.has_capacity(thread.node, thread.number) {
            self.write(&Event {
                name: activity.name(),
                ph: "X",
                pid: thread.node,
                tid: thread.number,
                ts: Some(microseconds(from)),
                dur: Some(microseconds(to.since(from))),
                cat: Some("thread"),
                ..Event::default()
            });
        }
    }

    fn packet(&mut self, node: u32, link: Link, message: u64, from: Moment, to: Moment) {
        let tid = match link {
            Link::Out => LINK_OUT,
            Link::In => LINK_IN,
        };
        if self.has_capacity(node, tid) {
            self.write(&Event {
                name: "packet",
                ph: "X",
                pid: node,
                tid,
                ts: Some(microseconds(from)),
                dur: Some(microseconds(to.since(from))),
                cat: Some("network"),
                args: Some(serde_json::json!({ "message": message })),
                ..Event::default()
            });
        }
    }

    fn sent(&mut self, message: u64, by: Thread, at: Moment) {
        if self.has_capacity(by.node, by.number) {
            self.begun = Some(message);
            self.flow("s", message, by, at);
        }
    }

    fn received(&mut self, message: u64, by: Thread, at: Moment) {
        // Messages are numbered as they are sent.
        if self.begun.is_some_and(|begun| message <= begun) {
            self.flow("f", message, by, at);
        } else {
            self.left_out += 1;
        }
    }

    fn active(&mut self, node: u32, threads: u32, at: Moment) {
        if self.has_capacity(node, 0) {
            self.write(&Event {
                name: "active threads",
                ph: "C",
                pid: node,
                ts: Some(microseconds(at)),
                args: Some(serde_json::json!({ "threads": threads })),
                ..Event::default()
            });
        }
    }
}

fn microseconds(time: Moment) -> f64 {
    time.picoseconds() as f64 * 1e-6
}
