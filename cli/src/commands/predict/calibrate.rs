//! `raddle predict --calibrate`: parameters for the machine at hand, from what is measured now or was before.

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
use serde_json::{Map, Value, json};

use super::super::crew;
use crate::arguments::Options;
use crate::error::CliError;
use crate::output;
use crate::progress::Phase;

/// A look takes some time, even where the clock cannot tell.
const PERIOD_MIN: Nanoseconds = Nanoseconds(0.1);
/// As many calls and round trips as `raddle pingpong --overheads` looks at.
const SAMPLES: u64 = 20_000;
/// The data of a response; what it takes longer than the smallest message says what a byte takes.
const LONG_BYTES: usize = 3_456;
const LONG_TRIPS: u64 = 5_000;
/// A round trip of some size is measured so often, and the median counts.
const REPEATS: usize = 7;
/// How many threads share a core at most, how often each number is measured, and for how long.
const THREADS: usize = 8;
const ROUNDS: usize = 3;
const SPELL: Duration = Duration::from_millis(60);
/// Why a measurement contradicts another one, and what to do.
const BUSY: &str = "the machine was busy with other work; calibrate again while it is idle";

/// What parameters were made of, if anything was measured.
#[derive(Debug, Default)]
pub(super) struct Calibration {
    measured: Option<Measured>,
    /// Where the nodes were that measured, if that was asked for.
    binding: Option<Plan>,
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

    /// The parameters as a file; comments at its head say what is doubtful.
    pub(super) fn toml(&self, parameters: &Parameters) -> String {
        let doubts = self.doubts();
        let comments = doubts
            .iter()
            .map(|doubt| format!("# doubtful: {doubt}; {BUSY}\n"));
        comments.collect::<String>() + &parameters.to_toml()
    }

    /// What it adds to a result.
    pub(super) fn json(&self) -> Map<String, Value> {
        let mut result = Map::new();
        if let Some(measured) = &self.measured {
            let mut told = told(measured);
            told.insert("doubts".to_owned(), json!(measured.doubts()));
            result.insert("measured".to_owned(), Value::Object(told));
        }
        if let Some(plan) = &self.binding {
            result.insert("binding".to_owned(), json!(plan));
        }
        result
    }
}

/// Measures this machine, and puts that into the parameters. Nothing comes back in a process that was started for it.
///
/// # Errors
/// [`CliError`]: nodes that do not come up, threads that cannot be bound.
pub(super) fn here(
    parameters: &mut Parameters,
    options: &Options,
) -> Result<Option<Calibration>, CliError> {
    let kind = TransportKind::default();
    let Some((crew, plan)) = crew::start(kind, 2, options)? else {
        return Ok(None);
    };
    let phase = Phase::begin("measure", options.quiet);
    let failed = |source| crew::failed(kind, source);
    let trip = |bytes| -> Result<Duration, NodesError> {
        let times = (0..REPEATS).map(|_| crew.rally_in_all(Receive::Poll, bytes, LONG_TRIPS));
        let mut times = times.collect::<Result<Vec<_>, _>>()?;
        times.sort_unstable();
        Ok(times[times.len() / 2] / LONG_TRIPS as u32)
    };
    let measure = || {
        let overheads = crew.overheads(SAMPLES)?;
        Ok((overheads, trip(LONG_BYTES)?.saturating_sub(trip(1)?)))
    };
    let measured = measure().map_err(failed);
    let cpu = crew.seats().cpus().next().flatten();
    let (overheads, longer) = crew::finish(crew, measured)?;
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
        binding: options.show_binding.then_some(plan),
    }))
}

/// Reads what `raddle pingpong --nodes 2 --overheads --json` has printed, and puts that into the parameters.
///
/// # Errors
/// [`CliError::Measurements`] where it is something else, [`CliError::Model`] where it cannot be.
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
        binding: None,
    })
}

/// What a report of `raddle pingpong --overheads` has.
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

fn told(measured: &Measured) -> Map<String, Value> {
    let entries = [
        ("send_ns", json!(measured.send)),
        ("wire_ns", json!(measured.wire)),
        ("poll_ns", json!(measured.poll)),
        ("poll_period_ns", json!(measured.poll_period)),
        ("notify_ns", json!(measured.notify)),
        ("wake_ns", json!(measured.wake)),
        ("wake_latency_ns", json!(measured.wake_latency)),
        ("poll_trip_ns", json!(measured.poll_trip)),
        ("notify_trip_ns", json!(measured.notify_trip)),
        ("per_byte_ns", json!(measured.per_byte)),
        ("speeds", json!(measured.speeds)),
    ];
    Map::from_iter(entries.map(|(key, value)| (key.to_owned(), value)))
}
