//! `raddle predict --calibrate`: parameters for this machine, from measurements that are made now
//! or were made before.

use std::fs;
use std::path::Path;
use std::time::Duration;

use raddle::net::TransportKind;
use raddle_messages::nodes::{NodesError, Overheads, Receive};
use raddle_messages::shared_core;
use raddle_model::units::Nanoseconds;
use raddle_model::{Measured, Parameters};
use raddle_topology::{Plan, Topology};
use serde::Deserialize;

use super::super::node_group;
use crate::arguments::Options;
use crate::error::CliError;
use crate::output;
use crate::progress::Phase;
use crate::report::Object;

/// The smallest polling period. A poll takes some time, even if the clock does not resolve it.
const PERIOD_MIN: Nanoseconds = Nanoseconds(0.1);
/// The number of calls and round trips, as in `raddle pingpong --overheads`.
const SAMPLES: u64 = 20_000;
/// The size of a response. The time per byte follows from the difference to the smallest message.
const LONG_BYTES: usize = 3_456;
const LONG_TRIPS: u64 = 5_000;
/// The number of measurements of a round trip, of which the median counts.
const REPEATS: usize = 7;
/// The largest number of threads that share a core, the number of measurements for each number of
/// threads, and the duration of a measurement.
const THREADS: usize = 8;
const ROUNDS: usize = 3;
const SPELL: Duration = Duration::from_millis(60);
/// The reason why measurements contradict each other, and advice.
const BUSY: &str = "the machine was busy with other work; calibrate again while it is idle";

/// The measurements from which parameters were computed, if there are any.
#[derive(Debug, Default)]
pub(super) struct Calibration {
    measured: Option<Measured>,
    /// The placement of the nodes that measured.
    pub(super) plan: Option<Plan>,
}

impl Calibration {
    fn doubts(&self) -> Vec<String> {
        self.measured
            .as_ref()
            .map_or_else(Vec::new, Measured::doubts)
    }

    /// Prints a line for each measurement that contradicts another one.
    pub(super) fn warn(&self, options: &Options) {
        for doubt in self.doubts().iter().filter(|_| !options.quiet) {
            output::warn(&format!("{doubt}; {BUSY}"));
        }
    }

    /// Returns the parameters as a file, preceded by comments about doubtful measurements.
    pub(super) fn toml(&self, parameters: &Parameters) -> String {
        let doubts = self.doubts();
        let comments = doubts
            .iter()
            .map(|doubt| format!("# doubtful: {doubt}; {BUSY}\n"));
        comments.collect::<String>() + &parameters.to_toml()
    }

    /// Returns the object `measured` of a report; `None` without measurements.
    pub(super) fn measured(&self) -> Option<Object> {
        let measured = self.measured.as_ref()?;
        let mut object = Object::new();
        object
            .field("send_ns", measured.send)
            .field("wire_ns", measured.wire)
            .field("poll_ns", measured.poll)
            .field("poll_period_ns", measured.poll_period)
            .field("notify_ns", measured.notify)
            .field("wake_ns", measured.wake)
            .field("wake_latency_ns", measured.wake_latency)
            .field("poll_trip_ns", measured.poll_trip)
            .field("notify_trip_ns", measured.notify_trip)
            .field("per_byte_ns", measured.per_byte)
            .field("speeds", &measured.speeds)
            .field("doubts", measured.doubts());
        Some(object)
    }
}

/// Measures this machine and calibrates the parameters. Returns `None` in a process that was
/// started as a node.
///
/// # Errors
/// [`CliError`]: nodes that do not start, threads that cannot be bound.
pub(super) fn here(
    parameters: &mut Parameters,
    options: &Options,
) -> Result<Option<Calibration>, CliError> {
    let kind = TransportKind::default();
    let Some((group, plan)) = node_group::start(kind, 2, options)? else {
        return Ok(None);
    };
    let phase = Phase::begin("measure", options.quiet);
    let failed = |source| node_group::failed(kind, source);
    let trip = |bytes| -> Result<Duration, NodesError> {
        let times = (0..REPEATS).map(|_| group.total_time(Receive::Poll, bytes, LONG_TRIPS));
        let mut times = times.collect::<Result<Vec<_>, _>>()?;
        times.sort_unstable();
        Ok(times[times.len() / 2] / LONG_TRIPS as u32)
    };
    let measure = || {
        let overheads = group.overheads(SAMPLES)?;
        Ok((overheads, trip(LONG_BYTES)?.saturating_sub(trip(1)?)))
    };
    let measured = measure().map_err(failed);
    let cpu = group.cpus().compute_cpus().next().flatten();
    let (overheads, longer) = node_group::finish(group, measured)?;
    let mut measured = of(&overheads);
    let per_byte = longer.as_secs_f64() * 1e9 / 2.0 / (LONG_BYTES - 1) as f64;
    measured.per_byte = (per_byte > 0.0).then_some(Nanoseconds(per_byte));
    let topology = Topology::this_machine()?;
    let first = || topology.allowed_cpus().next().map(|cpu| cpu.id);
    if let Some(cpu) = cpu.or_else(first) {
        let progress = |share| phase.at_share(share);
        let speeds = shared_core::speeds(topology, cpu, THREADS, ROUNDS, SPELL, progress);
        measured.speeds = speeds.map_err(failed)?;
    }
    drop(phase);
    parameters.calibrate("here", &measured)?;
    Ok(Some(Calibration {
        measured: Some(measured),
        plan: Some(plan),
    }))
}

/// Reads the output of `raddle pingpong --nodes 2 --overheads --json`, and calibrates the
/// parameters.
///
/// # Errors
/// [`CliError::Measurements`] if the file has something else, [`CliError::Model`] if its values are
/// impossible.
pub(super) fn from(path: &Path, parameters: &mut Parameters) -> Result<Calibration, CliError> {
    let wrong = |found: String| CliError::Measurements {
        path: path.to_owned(),
        found,
    };
    let text = fs::read_to_string(path).map_err(|error| wrong(error.to_string()))?;
    let report: Report = serde_json::from_str(&text).map_err(|error| wrong(error.to_string()))?;
    let time = |name: &str| {
        let row = report.overheads.iter().find(|row| row.quantity == name);
        let seconds = row.and_then(|row| row.time_s);
        let time = seconds.map(Nanoseconds::from_seconds);
        time.ok_or_else(|| wrong(format!("no time of {name:?}")))
    };
    let measured = Measured {
        send: time("send overhead")?,
        wire: time("wire")?,
        poll: time("polling receive overhead (message waiting)")?,
        poll_period: time("polling period (no message waiting)")?.max(PERIOD_MIN),
        notify: time("notified receive overhead (message waiting)")?,
        wake: time("thread wake overhead")?,
        wake_latency: time("thread wake latency (in its wait)")?,
        poll_trip: time("round trip, polling")?,
        notify_trip: time("round trip, notified")?,
        per_byte: None,
        speeds: Vec::new(),
    };
    let name = path.file_stem().unwrap_or_default().to_string_lossy();
    parameters.calibrate(&name, &measured)?;
    Ok(Calibration {
        measured: Some(measured),
        plan: None,
    })
}

/// The part of the output of `raddle pingpong --overheads` that is read.
#[derive(Debug, Deserialize)]
struct Report {
    overheads: Vec<Row>,
}

#[derive(Debug, Deserialize)]
struct Row {
    quantity: String,
    time_s: Option<f64>,
}

fn of(overheads: &Overheads) -> Measured {
    let ns = |time: Duration| Nanoseconds(time.as_secs_f64() * 1e9);
    Measured {
        send: ns(overheads.send),
        wire: ns(overheads.wire),
        poll: ns(overheads.poll_waiting),
        poll_period: ns(overheads.poll_none).max(PERIOD_MIN),
        notify: ns(overheads.notify_waiting),
        wake: ns(overheads.wake),
        wake_latency: ns(overheads.wake_latency),
        poll_trip: ns(overheads.poll_trip),
        notify_trip: ns(overheads.notify_trip),
        per_byte: None,
        speeds: Vec::new(),
    }
}
