//! What a node and a program are made of, as data.
//!
//! A machine is a TOML file ([`Parameters::read`]); what it does not say is as on the study's node, which comes with the crate ([`Parameters::study`],
//! `machines/parker-2013.toml`). Every parameter has a key, a range and a sentence ([`ALL`]); a key that is none, or a value outside its range, is told with
//! the file, the line, and what was possible. Values remember where they were given, so that a formula that fails later can say so, too.

mod file;
mod registry;
#[cfg(test)]
mod tests;

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

pub use self::registry::{ALL, Parameter};

use crate::error::{DomainError, ModelError, Origin};
use crate::packets::PacketFormat;
use crate::speed::SpeedCurve;
use crate::units::{Bandwidth, Bytes, Nanoseconds, Rate};

const STUDY: &str = "parker-2013";

/// The machines that come with the crate.
const BUILT_IN: [(&str, &str); 2] = [
    (STUDY, include_str!("../machines/parker-2013.toml")),
    ("zen4-shm", include_str!("../machines/zen4-shm.toml")),
];

/// A node, and the ray tracer that runs on it.
#[derive(Clone, Debug)]
pub struct Parameters {
    /// What the machine is called.
    pub name: String,
    /// Its core.
    pub core: Core,
    /// What sending, receiving and waking take.
    pub message: Message,
    /// The network interface.
    pub interface: Interface,
    /// The core's cache, as messages see it.
    pub cache: Cache,
    /// The network.
    pub network: Network,
    /// The system.
    pub system: System,
    /// The program.
    pub tracer: Tracer,
    origins: BTreeMap<&'static str, Origin>,
}

/// A core with several hardware threads.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Core {
    /// Hardware threads.
    pub contexts: u32,
    /// The measured speed of each of 1, 2, … threads that run, over that of one.
    pub speeds: Vec<f64>,
    /// Of the fitted curve.
    pub aggregate: f64,
    /// Of the fitted curve.
    pub saturation: f64,
    /// Which of the two counts.
    pub curve: Curve,
}

/// Which speeds count.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Curve {
    /// Those of the fitted curve.
    #[default]
    Fitted,
    /// Those that were measured.
    Measured,
}

/// What sending, receiving and waking take: overheads keep a thread busy, latencies are how long news is under way (the study's table 3).
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Message {
    /// A call that sends by a descriptor.
    pub send: Nanoseconds,
    /// From its begin until it talks to the interface.
    pub send_issue: Nanoseconds,
    /// From its begin until the first byte is on the wire.
    pub send_latency: Nanoseconds,
    /// A polling receive whose message is there.
    pub poll: Nanoseconds,
    /// Between two looks.
    pub poll_period: Nanoseconds,
    /// From the answer to a look that found something to the end of the call.
    pub poll_finish: Nanoseconds,
    /// From the first byte to the end of a receive that polls.
    pub poll_latency: Nanoseconds,
    /// A notified receive whose message is there.
    pub notify: Nanoseconds,
    /// From the begin of a notified receive until its thread sleeps.
    pub notify_setup: Nanoseconds,
    /// From the arrival until the thread runs.
    pub notify_wake: Nanoseconds,
    /// From there to the end of the call.
    pub notify_finish: Nanoseconds,
    /// From the first byte to the end of a receive that slept.
    pub notify_latency: Nanoseconds,
    /// A call that wakes a thread of the node.
    pub wake: Nanoseconds,
    /// From its begin until that thread runs.
    pub wake_latency: Nanoseconds,
}

/// The network interface.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Interface {
    /// From the core to the interface and back.
    pub trip: Nanoseconds,
    /// From the last byte of a message until it counts as arrived.
    pub arrive: Nanoseconds,
    /// A call that sends inline, without its bytes.
    pub inline: Nanoseconds,
    /// From its begin until it stores the bytes.
    pub inline_issue: Nanoseconds,
    /// From its begin to the first byte on the wire, without storing them.
    pub inline_latency: Nanoseconds,
    /// How fast the core loads or stores.
    pub inline_bandwidth: Bandwidth,
    /// What can be sent inline at most.
    pub inline_bytes_max: u32,
    /// How many translations of addresses it keeps.
    pub translations: u32,
    /// What one is for.
    pub page_bytes: u32,
    /// What it takes to find one.
    pub walk: Nanoseconds,
}

/// The core's cache, as messages see it.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Cache {
    /// How much it holds.
    pub bytes: Bytes,
    /// A line.
    pub line: Bytes,
    /// What it takes to fetch one.
    pub miss: Nanoseconds,
    /// Which share of a message its receiver reads.
    pub referenced: f64,
}

/// The network.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Network {
    /// From one interface to another.
    pub wire: Nanoseconds,
    /// What goes into and comes out of a node.
    pub bandwidth: Bandwidth,
    /// A packet's share of a message, at most.
    pub packet_payload_bytes: u32,
    /// What a packet carries besides.
    pub packet_header_bytes: u32,
    /// A message without data.
    pub message_min_bytes: u32,
}

/// The system, which may run other programs in turns.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct System {
    /// How long it runs this one.
    pub slice: Nanoseconds,
    /// The share of time in which it runs others.
    pub away: f64,
}

/// The ray tracer: renderers that miss bricks, and a handler on each node that serves them.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Tracer {
    /// What a frame takes to render, on all nodes together, as it was measured.
    pub render: Nanoseconds,
    /// How much faster the core is than the one on which times were measured.
    pub core_speedup: f64,
    /// What the handlers compute for a miss, as it was measured.
    pub handle: Nanoseconds,
    /// What of that is the response's, on the core.
    pub response_handle: Nanoseconds,
    /// The same if nothing is looked up that the renderer knows.
    pub response_handle_bold: Nanoseconds,
    /// Misses of all frames, but for what follows.
    pub misses: f64,
    /// For each node.
    pub misses_per_node: f64,
    /// Times the logarithm of the renderers of a node.
    pub misses_per_log_renderers: f64,
    /// Frames in which those were counted.
    pub frames: u32,
    /// A request on the wire.
    pub request: Bytes,
    /// A response on the wire, for bricks of `brick_edge`.
    pub response: Bytes,
    /// Elements on an edge of a brick.
    pub brick_edge: u32,
    /// An element.
    pub element_bytes: u32,
    /// What a response carries besides its brick.
    pub brick_header_bytes: u32,
    /// The share of a frame in which renderers wait for the last node.
    pub imbalance: f64,
    /// On how many nodes.
    pub imbalance_nodes: u32,
    /// What else each handler is asked for.
    pub other_requests: Rate,
}

impl Interface {
    /// What it takes the core to give it bytes that are sent inline: each is loaded and stored.
    pub(crate) fn storing(&self, bytes: Bytes) -> Nanoseconds {
        bytes / self.inline_bandwidth * 2.0
    }
}

impl Tracer {
    /// What a handler computes for a miss, on the core: for the answer, and for the request.
    pub(crate) fn handler_parts(&self) -> (Nanoseconds, Nanoseconds) {
        let handle = self.handle / self.core_speedup;
        let answer = Nanoseconds(self.response_handle.0.min(handle.0));
        (answer, handle - answer)
    }
}

impl Parameters {
    /// The study's node.
    ///
    /// # Panics
    /// Never: the file comes with the crate, and a test reads it.
    #[must_use]
    pub fn study() -> Self {
        Self::built_in(STUDY).expect("the study's node is one of them")
    }

    /// The machine of that name, if it is one that comes with the crate; see [`Self::names`].
    ///
    /// # Panics
    /// Never, as [`Self::study`].
    #[must_use]
    pub fn built_in(name: &str) -> Option<Self> {
        let &(name, text) = BUILT_IN.iter().find(|(built_in, _)| *built_in == name)?;
        let mut parameters = match name {
            STUDY => Self::nothing(),
            _ => Self::study(),
        };
        let read = parameters.apply(text, |line| Origin::BuiltIn(name, line));
        read.expect("the parameters that come with the crate are right");
        Some(parameters)
    }

    /// What the machines that come with the crate are called.
    pub fn names() -> impl Iterator<Item = &'static str> {
        BUILT_IN.iter().map(|&(name, _)| name)
    }

    /// Reads a file. What it does not say is as on the study's node.
    ///
    /// # Errors
    /// [`ModelError`] where it cannot be read, is no TOML, has a key that is no parameter or a value outside its range.
    pub fn read(path: &Path) -> Result<Self, ModelError> {
        let text = fs::read_to_string(path).map_err(|source| ModelError::read(path, source))?;
        Self::parse(&text, path)
    }

    /// The same of a file's text; `path` is what errors call it.
    ///
    /// # Errors
    /// As [`Self::read`].
    pub fn parse(text: &str, path: &Path) -> Result<Self, ModelError> {
        let mut parameters = Self::study();
        parameters.apply(text, |line| Origin::File(path.to_owned(), line))?;
        parameters.check()?;
        Ok(parameters)
    }

    /// Sets a parameter as a line of a file would, such as `network.wire_ns = 500`.
    ///
    /// # Errors
    /// As [`Self::read`]; nothing is set then.
    pub fn set(&mut self, line: &str) -> Result<(), ModelError> {
        self.set_all([line])
    }

    /// The same of several lines, which need make sense only together; of one parameter the last counts.
    ///
    /// # Errors
    /// As [`Self::read`]; nothing is set then.
    pub fn set_all<'line>(
        &mut self,
        lines: impl IntoIterator<Item = &'line str>,
    ) -> Result<(), ModelError> {
        let mut changed = self.clone();
        for line in lines {
            changed.apply(line, |_| Origin::Given)?;
        }
        changed.check()?;
        *self = changed;
        Ok(())
    }

    /// The speeds that count.
    ///
    /// # Errors
    /// [`ModelError::Value`] where there are none.
    pub fn speeds(&self) -> Result<SpeedCurve, ModelError> {
        let curve = match self.core.curve {
            Curve::Measured => SpeedCurve::measured(&self.core.speeds),
            Curve::Fitted => SpeedCurve::fitted(self.core.aggregate, self.core.saturation),
        };
        curve.map_err(|error| self.located(error))
    }

    /// How messages are cut into packets.
    #[must_use]
    pub const fn packets(&self) -> PacketFormat {
        PacketFormat {
            payload_bytes: self.network.packet_payload_bytes,
            header_bytes: self.network.packet_header_bytes,
            message_min_bytes: self.network.message_min_bytes,
        }
    }

    /// Where a parameter was given.
    #[must_use]
    pub fn origin(&self, key: &str) -> Origin {
        self.origins.get(key).cloned().unwrap_or(Origin::Given)
    }

    /// The same error with where its parameter was given, if it is one.
    pub(crate) fn located(&self, error: DomainError) -> ModelError {
        match self.origins.get(error.quantity) {
            Some(origin) => ModelError::Value {
                origin: origin.clone(),
                key: error.quantity.to_owned(),
                found: error.found.to_string(),
                expected: error.expected,
            },
            None => error.into(),
        }
    }

    /// Takes over parameters that were computed: where they differ they were given.
    pub(crate) fn adopt(&mut self, mut changed: Self) -> Result<(), ModelError> {
        for parameter in ALL {
            if parameter.written(&changed) != parameter.written(self) {
                changed.origins.insert(parameter.key, Origin::Given);
            }
            if !parameter.holds(&changed) {
                return Err(ModelError::Value {
                    origin: Origin::Given,
                    key: parameter.key.to_owned(),
                    found: parameter.written(&changed),
                    expected: parameter.expected(),
                });
            }
        }
        changed.check()?;
        *self = changed;
        Ok(())
    }

    /// That steps of a call take no longer than the call.
    fn check(&self) -> Result<(), ModelError> {
        let Message {
            send,
            send_issue,
            send_latency,
            poll,
            poll_finish,
            ..
        } = self.message;
        let trip = self.interface.trip;
        let at_least = |key, found: Nanoseconds, least: Nanoseconds, steps: &str| {
            if found.0 >= least.0 {
                return Ok(());
            }
            let expected = format!("{} or more, which is {steps}", least.0);
            Err(self.located(DomainError::new(key, found.0, expected)))
        };
        at_least(
            "message.send_ns",
            send,
            send_issue + trip,
            "message.send_issue_ns and interface.trip_ns",
        )?;
        at_least(
            "message.send_latency_ns",
            send_latency,
            send_issue + trip / 2.0,
            "message.send_issue_ns and half of interface.trip_ns",
        )?;
        at_least(
            "message.poll_ns",
            poll,
            trip + poll_finish,
            "interface.trip_ns and message.poll_finish_ns",
        )?;
        at_least(
            "interface.inline_ns",
            self.interface.inline,
            self.interface.inline_issue,
            "interface.inline_issue_ns",
        )?;
        at_least(
            "interface.inline_latency_ns",
            self.interface.inline_latency,
            self.interface.inline_issue + trip / 2.0,
            "interface.inline_issue_ns and half of interface.trip_ns",
        )
    }

    /// All of it zero, which no file means.
    fn nothing() -> Self {
        Self {
            name: String::new(),
            core: Core::default(),
            message: Message::default(),
            interface: Interface::default(),
            cache: Cache::default(),
            network: Network::default(),
            system: System::default(),
            tracer: Tracer::default(),
            origins: BTreeMap::new(),
        }
    }
}
