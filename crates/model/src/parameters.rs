//! The parameters of a node and a program, as data.
//!
//! A machine is a TOML file ([`Parameters::read`]). Parameters that the file omits have the values
//! of the study's node, which comes with the crate ([`Parameters::study`],
//! `machines/parker-2013.toml`). Every parameter has a key, a range and a description ([`ALL`]).
//! The error for an unknown key or a value outside its range names the file, the line and the
//! permitted values. Values record where they were given, so that a formula that fails later can
//! report it, too.

mod file;
mod registry;
#[cfg(test)]
mod tests;

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

pub use self::registry::{ALL, Parameter};

use crate::error::{DomainError, ModelError, Origin};
use crate::misses::MissModel;
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
    /// The name of the machine.
    pub name: String,
    /// The parameters of the core.
    pub core: Core,
    /// The times of sending, receiving and waking.
    pub message: Message,
    /// The parameters of the network interface.
    pub interface: Interface,
    /// The parameters of the core's cache, as messages see it.
    pub cache: Cache,
    /// The parameters of the network.
    pub network: Network,
    /// The parameters of the operating system.
    pub system: System,
    /// The parameters of the program.
    pub tracer: Tracer,
    origins: BTreeMap<&'static str, Origin>,
}

/// A core with several hardware threads.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Core {
    /// The number of hardware threads.
    pub contexts: u32,
    /// The measured speed of each of 1, 2, … running threads, relative to that of one.
    pub speeds: Vec<f64>,
    /// The limit of the total speed of the fitted curve.
    pub aggregate: f64,
    /// The saturation of the fitted curve, in threads.
    pub saturation: f64,
    /// The curve that the model uses.
    pub curve: Curve,
}

/// The source of the speeds that the model uses.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Curve {
    /// The fitted curve.
    #[default]
    Fitted,
    /// The measured values.
    Measured,
}

/// The times of sending, receiving and waking.
///
/// Overheads keep a thread busy. Latencies are the time that information is under way (the study's
/// table 3).
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Message {
    /// The time of a call that sends by a descriptor.
    pub send: Nanoseconds,
    /// The time from the start of a send by a descriptor until it accesses the interface.
    pub send_issue: Nanoseconds,
    /// The time from the start of a send by a descriptor until the first byte is on the wire.
    pub send_latency: Nanoseconds,
    /// The time of a polling receive if a message has arrived.
    pub poll: Nanoseconds,
    /// The time between two polls.
    pub poll_period: Nanoseconds,
    /// The time from the answer to a successful poll to the end of the call.
    pub poll_finish: Nanoseconds,
    /// The time from the first byte to the end of a polling receive.
    pub poll_latency: Nanoseconds,
    /// The time of a notified receive if a message has arrived.
    pub notify: Nanoseconds,
    /// The time from the start of a notified receive until its thread sleeps.
    pub notify_setup: Nanoseconds,
    /// The time from the arrival until the thread runs.
    pub notify_wake: Nanoseconds,
    /// The time from when the thread runs to the end of the call.
    pub notify_finish: Nanoseconds,
    /// The time from the first byte to the end of a receive that slept.
    pub notify_latency: Nanoseconds,
    /// The time of a call that wakes a thread of the node.
    pub wake: Nanoseconds,
    /// The time from the start of a call that wakes a thread until that thread runs.
    pub wake_latency: Nanoseconds,
}

/// The parameters of the network interface.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Interface {
    /// The time from the core to the interface and back.
    pub trip: Nanoseconds,
    /// The time from the last byte of a message until it counts as arrived.
    pub arrive: Nanoseconds,
    /// The time of a call that sends inline, without storing the bytes.
    pub inline: Nanoseconds,
    /// The time from the start of an inline send until it stores the bytes.
    pub inline_issue: Nanoseconds,
    /// The time from the start of an inline send to the first byte on the wire, without storing the
    /// bytes.
    pub inline_latency: Nanoseconds,
    /// The bandwidth at which the core loads or stores.
    pub inline_bandwidth: Bandwidth,
    /// The maximum number of bytes that can be sent inline.
    pub inline_bytes_max: u32,
    /// The number of address translations that the interface keeps.
    pub translations: u32,
    /// The size of the page that a translation covers, in bytes.
    pub page_bytes: u32,
    /// The time to find a translation that the interface does not keep.
    pub walk: Nanoseconds,
}

/// The parameters of the core's cache, as messages see it.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Cache {
    /// The capacity of the cache.
    pub bytes: Bytes,
    /// The size of a cache line.
    pub line: Bytes,
    /// The time to fetch a cache line.
    pub miss: Nanoseconds,
    /// The share of a message that its receiver reads.
    pub referenced: f64,
}

/// The parameters of the network.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Network {
    /// The time from one interface to another.
    pub wire: Nanoseconds,
    /// The bandwidth of a node's link, in each direction.
    pub bandwidth: Bandwidth,
    /// The maximum payload of a packet, in bytes.
    pub packet_payload_bytes: u32,
    /// The header of each packet after the first, in bytes.
    pub packet_header_bytes: u32,
    /// The size of a message without data, in bytes.
    pub message_min_bytes: u32,
}

/// The operating system, which may run other programs in turns.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct System {
    /// The time for which the system runs this program before it switches to others.
    pub slice: Nanoseconds,
    /// The share of time in which the system runs other programs.
    pub away: f64,
}

/// The ray tracer: renderers that miss bricks, and a handler on each node that serves them.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Tracer {
    /// The work to render a frame, on all nodes together, as measured.
    pub render: Nanoseconds,
    /// The speed of the core relative to the one on which the times were measured.
    pub core_speedup: f64,
    /// The work of the handlers for a miss, as measured.
    pub handle: Nanoseconds,
    /// The part of the work of the handlers for a miss that belongs to the response, on this core.
    pub response_handle: Nanoseconds,
    /// The part that belongs to a response that skips the lookup of facts that the renderer knows,
    /// on this core.
    pub response_handle_bold: Nanoseconds,
    /// The constant part of the misses of all frames.
    pub misses: f64,
    /// Additional misses for each node.
    pub misses_per_node: f64,
    /// Additional misses, multiplied by the natural logarithm of a node's renderers.
    pub misses_per_log_renderers: f64,
    /// The number of frames in which the misses were counted.
    pub frames: u32,
    /// 1 if those misses are counted as if no node had bricks of its own, otherwise 0.
    pub remote_only: u32,
    /// The size of a request on the wire.
    pub request: Bytes,
    /// The size of a response on the wire, for bricks of `brick_edge`.
    pub response: Bytes,
    /// The number of elements on an edge of a brick.
    pub brick_edge: u32,
    /// The size of an element, in bytes.
    pub element_bytes: u32,
    /// The size of a response's header, in bytes.
    pub brick_header_bytes: u32,
    /// The share of a frame in which renderers wait for the last node.
    pub imbalance: f64,
    /// The number of nodes on which that share was measured.
    pub imbalance_nodes: u32,
    /// The rate of other requests to each handler.
    pub other_requests: Rate,
    /// The number of pixels of a frame.
    pub image_pixels: u32,
    /// The number of pixels of a tile.
    pub tile_pixels: u32,
    /// The size of a pixel in a message to the supervisor, in bytes.
    pub pixel_bytes: u32,
    /// The size of the header of a tile's message, in bytes.
    pub tile_header_bytes: u32,
    /// The work of a renderer to return a tile, as measured.
    pub tile: Nanoseconds,
    /// The work of a handler for an assignment, as measured.
    pub assignment: Nanoseconds,
    /// The work of a handler for the scene of a frame, as measured.
    pub scene: Nanoseconds,
    /// The work of the renderers of a node to prepare a frame, as measured.
    pub prepare: Nanoseconds,
    /// The work of the supervisor for a tile, as measured.
    pub supervise: Nanoseconds,
}

impl Interface {
    /// Returns the time that the core needs to store bytes that are sent inline: each is loaded and
    /// stored.
    pub(crate) fn storing(&self, bytes: Bytes) -> Nanoseconds {
        bytes / self.inline_bandwidth * 2.0
    }
}

impl Tracer {
    /// Returns the miss model.
    pub(crate) fn miss_model(&self) -> MissModel {
        MissModel {
            base: self.misses,
            per_node: self.misses_per_node,
            per_log_renderers: self.misses_per_log_renderers,
            frames: f64::from(self.frames),
            is_remote_only: self.remote_only != 0,
        }
    }

    /// Returns the number of tiles of a frame.
    pub(crate) fn tiles(&self) -> f64 {
        (f64::from(self.image_pixels) / f64::from(self.tile_pixels)).ceil()
    }

    /// Returns the work of a handler for a miss, on this core: for the answer, and for the request.
    pub(crate) fn handler_parts(&self) -> (Nanoseconds, Nanoseconds) {
        let handle = self.handle / self.core_speedup;
        let answer = Nanoseconds(self.response_handle.0.min(handle.0));
        (answer, handle - answer)
    }
}

impl Parameters {
    /// Returns the parameters of the study's node.
    ///
    /// # Panics
    /// Never: the file comes with the crate, and a test reads it.
    #[must_use]
    pub fn study() -> Self {
        Self::built_in(STUDY).expect("the study's node is one of them")
    }

    /// Returns the machine of that name if it comes with the crate; see [`Self::names`].
    ///
    /// # Panics
    /// Never, as [`Self::study`].
    #[must_use]
    pub fn built_in(name: &str) -> Option<Self> {
        let &(name, text) = BUILT_IN.iter().find(|(built_in, _)| *built_in == name)?;
        let mut parameters = match name {
            STUDY => Self::zero(),
            _ => Self::study(),
        };
        let read = parameters.apply(text, |line| Origin::BuiltIn(name, line));
        read.expect("the parameters that come with the crate are right");
        Some(parameters)
    }

    /// Returns the names of the machines that come with the crate.
    pub fn names() -> impl Iterator<Item = &'static str> {
        BUILT_IN.iter().map(|&(name, _)| name)
    }

    /// Reads a file. Parameters that it omits have the values of the study's node.
    ///
    /// # Errors
    /// [`ModelError`] if the file cannot be read, is not TOML, has an unknown key or a value
    /// outside its range.
    pub fn read(path: &Path) -> Result<Self, ModelError> {
        let text = fs::read_to_string(path).map_err(|source| ModelError::read(path, source))?;
        Self::parse(&text, path)
    }

    /// Reads the text of a file; `path` is the name of the file in errors.
    ///
    /// # Errors
    /// Those of [`Self::read`].
    pub fn parse(text: &str, path: &Path) -> Result<Self, ModelError> {
        let mut parameters = Self::study();
        parameters.apply(text, |line| Origin::File(path.to_owned(), line))?;
        parameters.check()?;
        Ok(parameters)
    }

    /// Sets a parameter from a line as in a file, such as `network.wire_ns = 500`.
    ///
    /// # Errors
    /// Those of [`Self::read`]; nothing is set then.
    pub fn set(&mut self, line: &str) -> Result<(), ModelError> {
        self.set_all([line])
    }

    /// Sets parameters from several lines, which are checked together. The last line for a
    /// parameter counts.
    ///
    /// # Errors
    /// Those of [`Self::read`]; nothing is set then.
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

    /// Returns the speeds that the model uses.
    ///
    /// # Errors
    /// [`ModelError::Value`] if there are none.
    pub fn speeds(&self) -> Result<SpeedCurve, ModelError> {
        let curve = match self.core.curve {
            Curve::Measured => SpeedCurve::measured(&self.core.speeds),
            Curve::Fitted => SpeedCurve::fitted(self.core.aggregate, self.core.saturation),
        };
        curve.map_err(|error| self.located(error))
    }

    /// Returns the format of packets.
    #[must_use]
    pub const fn packets(&self) -> PacketFormat {
        PacketFormat {
            payload_bytes: self.network.packet_payload_bytes,
            header_bytes: self.network.packet_header_bytes,
            message_min_bytes: self.network.message_min_bytes,
        }
    }

    /// Returns the place where a parameter was given.
    #[must_use]
    pub fn origin(&self, key: &str) -> Origin {
        self.origins.get(key).cloned().unwrap_or(Origin::Given)
    }

    /// Adds to an error the place where its parameter was given, if the quantity is a parameter.
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

    /// Takes over computed parameters. Those that differ are marked as given by the caller.
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

    /// Checks that the steps of a call take no longer than the call.
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

    /// Returns parameters that are all zero, to be overwritten by a complete file.
    fn zero() -> Self {
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
