//! The list of parameters: the key, the range and the place of each.

use super::{Curve, Parameters};

/// The maximum number of measured speeds.
const SPEEDS_MAX: usize = 64;

/// The description of a parameter: its key, its range and its place in [`Parameters`].
#[derive(Clone, Copy, Debug)]
pub struct Parameter {
    /// The key in a file, such as `network.wire_ns`. Its last word is the unit.
    pub key: &'static str,
    /// The meaning of the parameter, as a text for the user.
    pub about: &'static str,
    pub(super) range: Range,
    pub(super) place: fn(&mut Parameters) -> Place<'_>,
}

/// A reference to a value, by type.
pub(super) enum Place<'parameters> {
    Real(&'parameters mut f64),
    /// A number that is stored in another unit than it is given in. The factor converts to the
    /// stored unit.
    Scaled(&'parameters mut f64, f64),
    Whole(&'parameters mut u32),
    Reals(&'parameters mut Vec<f64>),
    Curve(&'parameters mut Curve),
    Text(&'parameters mut String),
}

/// The permitted values of a parameter.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Range {
    /// From the first to the second, both inclusive.
    Between(f64, f64),
    /// From the first, inclusive, to the second, exclusive.
    Below(f64, f64),
    /// Any finite number.
    Any,
}

impl Parameter {
    /// Returns a description of the permitted values.
    #[must_use]
    pub fn expected(&self) -> String {
        let kind = match (self.place)(&mut Parameters::zero()) {
            Place::Real(_) | Place::Scaled(..) => "a number",
            Place::Whole(_) => "a whole number",
            Place::Reals(_) => {
                return "a list of 1 to 64 numbers from 0.000001 to 1000, the first of them 1"
                    .to_owned();
            }
            Place::Curve(_) => return "\"fitted\" or \"measured\"".to_owned(),
            Place::Text(_) => return "a text".to_owned(),
        };
        match self.range {
            Range::Between(least, most) => format!("{kind} from {least} to {most}"),
            Range::Below(least, most) => format!("{kind} from {least}, below {most}"),
            Range::Any => kind.to_owned(),
        }
    }

    /// Returns whether the value of this parameter is permitted.
    pub(super) fn holds(&self, parameters: &Parameters) -> bool {
        let mut copy = parameters.clone();
        match (self.place)(&mut copy) {
            Place::Real(value) => self.range.holds(*value),
            Place::Scaled(value, scale) => self.range.holds(*value / scale),
            Place::Whole(value) => self.range.holds((*value).into()),
            Place::Reals(values) => self.range.holds_for_speeds(values),
            Place::Curve(_) | Place::Text(_) => true,
        }
    }

    /// Returns the value as it is written in a file.
    #[must_use]
    pub fn written(&self, parameters: &Parameters) -> String {
        let mut copy = parameters.clone();
        match (self.place)(&mut copy) {
            Place::Real(value) => value.to_string(),
            Place::Scaled(value, scale) => (*value / scale).to_string(),
            Place::Whole(value) => value.to_string(),
            Place::Reals(values) => format!("{values:?}"),
            Place::Curve(Curve::Fitted) => "\"fitted\"".to_owned(),
            Place::Curve(Curve::Measured) => "\"measured\"".to_owned(),
            Place::Text(text) => toml::Value::from(text.as_str()).to_string(),
        }
    }
}

impl Range {
    /// Returns whether `values` is a valid list of speeds: the first is 1, and each is in the
    /// range.
    pub(super) fn holds_for_speeds(self, values: &[f64]) -> bool {
        (1..=SPEEDS_MAX).contains(&values.len())
            && values.first() == Some(&1.0)
            && values.iter().all(|&value| self.holds(value))
    }

    pub(super) fn holds(self, value: f64) -> bool {
        value.is_finite()
            && match self {
                Self::Between(least, most) => (least..=most).contains(&value),
                Self::Below(least, most) => (least..most).contains(&value),
                Self::Any => true,
            }
    }
}

/// Finds a parameter by its key.
pub(super) fn find(key: &str) -> Option<&'static Parameter> {
    ALL.iter().find(|parameter| parameter.key == key)
}

macro_rules! parameters {
    ($($key:literal: $range:expr, $about:literal, |$p:ident| $place:expr;)*) => {
        &[$(Parameter {
            key: $key,
            about: $about,
            range: $range,
            place: |$p| $place,
        }),*]
    };
}

const TIME: Range = Range::Between(0.0, 1e9);
const SIZE: Range = Range::Between(1.0, 1e9);
const RATE: Range = Range::Between(1e-3, 1e6);

/// Every parameter, in the order of a file.
pub const ALL: &[Parameter] = parameters! {
    "name": Range::Any, "the name of the machine",
        |p| Place::Text(&mut p.name);

    "core.contexts": Range::Between(2.0, 1024.0), "number of hardware threads of a core",
        |p| Place::Whole(&mut p.core.contexts);
    "core.speeds": Range::Between(1e-6, 1e3),
        "speed of each of 1, 2, … running threads, relative to one alone",
        |p| Place::Reals(&mut p.core.speeds);
    "core.aggregate": Range::Between(1e-3, 1e3),
        "fitted curve: limit of the total speed of many threads, relative to one",
        |p| Place::Real(&mut p.core.aggregate);
    "core.saturation": Range::Between(1e-3, 1e6),
        "fitted curve: number of threads that reach 63 % of that limit",
        |p| Place::Real(&mut p.core.saturation);
    "core.curve": Range::Any, "the speeds to use, fitted or measured",
        |p| Place::Curve(&mut p.core.curve);

    "message.send_ns": TIME, "time of a call that sends by a descriptor",
        |p| Place::Real(&mut p.message.send.0);
    "message.send_issue_ns": TIME,
        "from the start of that call until it accesses the interface (simulator only)",
        |p| Place::Real(&mut p.message.send_issue.0);
    "message.send_latency_ns": TIME,
        "from the start of that call until the first byte is on the wire",
        |p| Place::Real(&mut p.message.send_latency.0);
    "message.poll_ns": TIME, "time of a polling receive if a message has arrived",
        |p| Place::Real(&mut p.message.poll.0);
    "message.poll_period_ns": Range::Between(1e-3, 1e9),
        "between two polls of a receive (simulator, and model of links)",
        |p| Place::Real(&mut p.message.poll_period.0);
    "message.poll_finish_ns": TIME,
        "from the answer to a successful poll to the end of the call (simulator only)",
        |p| Place::Real(&mut p.message.poll_finish.0);
    "message.poll_latency_ns": TIME,
        "from the first byte to the end of a polling receive (model only)",
        |p| Place::Real(&mut p.message.poll_latency.0);
    "message.notify_ns": TIME, "time of a notified receive if a message has arrived",
        |p| Place::Real(&mut p.message.notify.0);
    "message.notify_setup_ns": TIME,
        "from the start of that call until its thread sleeps (simulator only)",
        |p| Place::Real(&mut p.message.notify_setup.0);
    "message.notify_wake_ns": TIME,
        "from the arrival until that thread runs (simulator, and model of links)",
        |p| Place::Real(&mut p.message.notify_wake.0);
    "message.notify_finish_ns": TIME, "from then to the end of the call (simulator only)",
        |p| Place::Real(&mut p.message.notify_finish.0);
    "message.notify_latency_ns": TIME,
        "from the first byte to the end of a receive that slept (model only)",
        |p| Place::Real(&mut p.message.notify_latency.0);
    "message.wake_ns": TIME, "time of a call that wakes a thread of the node",
        |p| Place::Real(&mut p.message.wake.0);
    "message.wake_latency_ns": TIME, "from the start of that call until the thread runs",
        |p| Place::Real(&mut p.message.wake_latency.0);

    "interface.trip_ns": TIME,
        "from the core to the interface and back (simulator, and model of links)",
        |p| Place::Real(&mut p.interface.trip.0);
    "interface.arrive_ns": TIME,
        "from a message's last byte to its arrival (simulator, and model of links)",
        |p| Place::Real(&mut p.interface.arrive.0);
    "interface.inline_ns": TIME, "time of a call that sends inline, without storing the bytes",
        |p| Place::Real(&mut p.interface.inline.0);
    "interface.inline_issue_ns": TIME,
        "from the start of that call until it stores the bytes (simulator only)",
        |p| Place::Real(&mut p.interface.inline_issue.0);
    "interface.inline_latency_ns": TIME,
        "from the start of that call to the first byte on the wire, without storing",
        |p| Place::Real(&mut p.interface.inline_latency.0);
    "interface.inline_bytes_per_ns": RATE, "bandwidth at which the core loads or stores",
        |p| Place::Real(&mut p.interface.inline_bandwidth.0);
    "interface.inline_bytes_max": SIZE, "maximum size of an inline message (simulator only)",
        |p| Place::Whole(&mut p.interface.inline_bytes_max);
    "interface.translations": Range::Between(1.0, 1e6),
        "number of address translations that the interface keeps (simulator only)",
        |p| Place::Whole(&mut p.interface.translations);
    "interface.page_bytes": Range::Between(512.0, 2_147_483_648.0),
        "size of the page that a translation covers (simulator only)",
        |p| Place::Whole(&mut p.interface.page_bytes);
    "interface.walk_ns": TIME, "time to find a translation that is not kept (simulator only)",
        |p| Place::Real(&mut p.interface.walk.0);

    "cache.bytes": Range::Between(1.0, 1e12),
        "capacity of the cache that receives messages (simulator only)",
        |p| Place::Real(&mut p.cache.bytes.0);
    "cache.line_bytes": SIZE, "size of a cache line (simulator only)",
        |p| Place::Real(&mut p.cache.line.0);
    "cache.miss_ns": TIME, "time to fetch a line (simulator only)",
        |p| Place::Real(&mut p.cache.miss.0);
    "cache.referenced": Range::Between(0.0, 1.0),
        "share of a message that its receiver reads (simulator only)",
        |p| Place::Real(&mut p.cache.referenced);

    "network.wire_ns": TIME, "from one interface to another",
        |p| Place::Real(&mut p.network.wire.0);
    "network.bytes_per_ns": RATE, "bandwidth of a node's link, in each direction",
        |p| Place::Real(&mut p.network.bandwidth.0);
    "network.packet_payload_bytes": SIZE, "maximum payload of a packet",
        |p| Place::Whole(&mut p.network.packet_payload_bytes);
    "network.packet_header_bytes": Range::Between(0.0, 1e9),
        "header of each packet after the first",
        |p| Place::Whole(&mut p.network.packet_header_bytes);
    "network.message_min_bytes": SIZE, "size of a message without data on the wire",
        |p| Place::Whole(&mut p.network.message_min_bytes);

    "system.slice_us": Range::Between(1.0, 1e9),
        "time that a core runs this program before another one (simulator only)",
        |p| Place::Scaled(&mut p.system.slice.0, 1e3);
    "system.away": Range::Between(0.0, 0.99),
        "share of time in which a core runs other programs (simulator only)",
        |p| Place::Real(&mut p.system.away);

    "tracer.render_s": Range::Between(1e-9, 1e9),
        "seconds to render a frame, on all nodes together, as measured",
        |p| Place::Scaled(&mut p.tracer.render.0, 1e9);
    "tracer.core_speedup": Range::Between(1e-6, 1e6),
        "speed of the core relative to the one on which times were measured",
        |p| Place::Real(&mut p.tracer.core_speedup);
    "tracer.handle_ns": Range::Between(0.0, 1e9), "work of handlers for a miss, as measured",
        |p| Place::Real(&mut p.tracer.handle.0);
    "tracer.response_handle_ns": TIME, "part of that work for the response, on this core",
        |p| Place::Real(&mut p.tracer.response_handle.0);
    "tracer.response_handle_bold_ns": TIME,
        "that part without the lookup of facts that the renderer knows",
        |p| Place::Real(&mut p.tracer.response_handle_bold.0);
    "tracer.misses": Range::Between(1.0, 1e18),
        "misses of all frames on all nodes, without the next two terms",
        |p| Place::Real(&mut p.tracer.misses);
    "tracer.misses_per_node": Range::Between(-1e18, 1e18), "additional misses for each node",
        |p| Place::Real(&mut p.tracer.misses_per_node);
    "tracer.misses_per_log_renderers": Range::Between(-1e18, 1e18),
        "additional misses, times the natural logarithm of a node's renderers",
        |p| Place::Real(&mut p.tracer.misses_per_log_renderers);
    "tracer.frames": Range::Between(1.0, 1e9),
        "number of frames in which those misses were counted",
        |p| Place::Whole(&mut p.tracer.frames);
    "tracer.remote_only": Range::Between(0.0, 1.0),
        "1 if misses are counted as if no node had bricks of its own; 1/nodes of them are none",
        |p| Place::Whole(&mut p.tracer.remote_only);
    "tracer.request_bytes": Range::Between(1.0, 1e9), "size of a request on the wire",
        |p| Place::Real(&mut p.tracer.request.0);
    "tracer.response_bytes": Range::Between(1.0, 1e9),
        "size of a response on the wire, for a brick of brick_edge",
        |p| Place::Real(&mut p.tracer.response.0);
    "tracer.brick_edge": Range::Between(1.0, 1024.0), "number of elements on an edge of a brick",
        |p| Place::Whole(&mut p.tracer.brick_edge);
    "tracer.element_bytes": Range::Between(1.0, 1e6), "size of an element",
        |p| Place::Whole(&mut p.tracer.element_bytes);
    "tracer.brick_header_bytes": Range::Between(0.0, 1e6), "size of the header of a response",
        |p| Place::Whole(&mut p.tracer.brick_header_bytes);
    "tracer.imbalance": Range::Below(0.0, 1.0),
        "share of a frame in which nodes wait for the last one",
        |p| Place::Real(&mut p.tracer.imbalance);
    "tracer.imbalance_nodes": Range::Between(2.0, 1e6),
        "number of nodes on which that share was measured",
        |p| Place::Whole(&mut p.tracer.imbalance_nodes);
    "tracer.other_requests_per_us": Range::Between(0.0, 1e3),
        "rate of other requests to a handler, each as long as a miss; below its capacity",
        |p| Place::Scaled(&mut p.tracer.other_requests.0, 1e-3);
    "tracer.image_pixels": Range::Between(1.0, 4e9), "number of pixels of a frame",
        |p| Place::Whole(&mut p.tracer.image_pixels);
    "tracer.tile_pixels": Range::Between(1.0, 1e9), "number of pixels of a tile",
        |p| Place::Whole(&mut p.tracer.tile_pixels);
    "tracer.pixel_bytes": Range::Between(1.0, 1e3), "size of a pixel on its way to the supervisor",
        |p| Place::Whole(&mut p.tracer.pixel_bytes);
    "tracer.tile_header_bytes": Range::Between(0.0, 1e6), "size of the header of a tile's message",
        |p| Place::Whole(&mut p.tracer.tile_header_bytes);
    "tracer.tile_ns": Range::Between(0.0, 1e9), "work of a renderer to return a tile, as measured",
        |p| Place::Real(&mut p.tracer.tile.0);
    "tracer.assignment_ns": Range::Between(0.0, 1e9),
        "work of a handler for an assignment, as measured",
        |p| Place::Real(&mut p.tracer.assignment.0);
    "tracer.scene_ns": Range::Between(0.0, 1e9),
        "work of a handler for the scene of a frame, as measured",
        |p| Place::Real(&mut p.tracer.scene.0);
    "tracer.prepare_ns": Range::Between(0.0, 1e9),
        "work of the renderers of a node to prepare a frame, as measured",
        |p| Place::Real(&mut p.tracer.prepare.0);
    "tracer.supervise_ns": Range::Between(0.0, 1e9),
        "work of the supervisor for a tile, as measured",
        |p| Place::Real(&mut p.tracer.supervise.0);
};
