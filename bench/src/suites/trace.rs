//! The cost of recording events, and of events that are compiled in but not recorded.
//!
//! - `event-scope`, `event-message`, `event-fork`: nanoseconds for an event that is recorded,
//!   against the same calls while nothing is recorded.
//! - `on-fib`, `on-kneighbor`, `on-kdtree`: recorded as `RADDLE_TRACE` does it, against not
//!   recorded.
//! - `off-fib`, `off-kneighbor`, `off-kdtree`: not recorded, against a build without events.
//! - `scope-200ns` to `scope-1ms`: the time of a scope in the profile, without the cost of the
//!   scope, against the same work without a scope.
//!
//! - `forecast-*`: a predicted time, against the measured one ([`forecast`]).
//!
//! `fib` has leaves of 1 us. The workloads are in the program `events`, which is built twice and
//! answers requests in turns, so both sides of a ratio have processes of their own.
//!
//! # Source
//! Parker: Efficient user-level event notification. 2013, sect. 4.6 and 4.7 (`scope-`).

mod forecast;

use std::path::{Path, PathBuf};
use std::process::Command;

use crate::error::BenchError;
use crate::harness::{Case, Contender, Request, Sample, Unit};
use crate::peer::{Peer, target_folder};
use crate::suites::Measurement;

/// The names of the cases.
pub(crate) const CASES: [&str; COSTS.len() + forecast::CASES.len()] = {
    let mut names = [""; COSTS.len() + forecast::CASES.len()];
    let (costs, forecasts) = names.split_at_mut(COSTS.len());
    costs.copy_from_slice(&COSTS);
    forecasts.copy_from_slice(&forecast::CASES);
    names
};

/// The names of the cases about the costs of recording.
const COSTS: [&str; 14] = [
    "event-scope",
    "event-message",
    "event-fork",
    "on-fib",
    "on-kneighbor",
    "on-kdtree",
    "off-fib",
    "off-kneighbor",
    "off-kdtree",
    "scope-200ns",
    "scope-1us",
    "scope-10us",
    "scope-100us",
    "scope-1ms",
];

/// The steps of work of the cases `scope-`, and the number of calls.
const SCOPES: [(&str, u64, u64); 5] = [
    ("scope-200ns", 170, 400_000),
    ("scope-1us", 850, 200_000),
    ("scope-10us", 8_500, 20_000),
    ("scope-100us", 85_000, 2_000),
    ("scope-1ms", 850_000, 200),
];

/// The repetitions and the result of each workload: Fibonacci's 18th number, the messages of an
/// iteration, the triangles.
const WORKLOADS: [(&str, u64, u64); 3] = [
    ("fib", 60, 2_584),
    ("kneighbor", 60_000, 48),
    ("kdtree", 6, 30_000),
];

/// The number of events of a case `event-`.
const EVENTS: u64 = 10_000_000;

/// A build of the program.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Build {
    WithEvents,
    WithoutEvents,
    /// The program `raddle`, with events.
    Raddle,
}

/// A case of the program, in a process of its own.
struct Served {
    name: &'static str,
    case: String,
    process: Peer,
}

impl Contender for Served {
    fn name(&self) -> &str {
        self.name
    }

    fn process(&self) -> Option<u32> {
        self.process.process()
    }

    fn measure(&mut self, request: &Request<'_>) -> Result<Sample, BenchError> {
        let case = &self.case;
        self.process.measure(&Request { case, ..*request })
    }
}

/// Runs the suite.
///
/// # Errors
/// The failure of cargo, and those of [`Measurement::compare`].
pub(crate) fn run(measurement: &mut Measurement<'_>) -> Result<(), BenchError> {
    let start = |program: &Path, name, case: &str| -> Result<Served, BenchError> {
        Ok(Served {
            name,
            case: case.to_owned(),
            process: Peer::start_program("events", program)?,
        })
    };
    let wanted = |measurement: &Measurement<'_>| {
        let wanted = COSTS.iter().copied().filter(|name| measurement.wants(name));
        wanted.collect::<Vec<_>>()
    };
    if forecast::CASES.iter().any(|name| measurement.wants(name)) {
        let raddle = build(Build::Raddle, measurement)?;
        forecast::run(measurement, &raddle, &target_folder())?;
    }
    let costs = wanted(measurement);
    if costs.is_empty() {
        return Ok(());
    }
    let with = build(Build::WithEvents, measurement)?;
    for name in costs {
        if name.starts_with("event-") {
            // Two events per repetition.
            let case = case(name, Unit::HalfNanoseconds, EVENTS / 2, EVENTS / 2);
            let mut recorded = start(&with, "raddle", &format!("{name}-recorded"))?;
            let plain = start(&with, "off", name)?;
            measurement.compare_on(1, &case, &mut recorded, &mut [Box::new(plain)])?;
        } else if let Some(workload) = name.strip_prefix("on-") {
            let case = workload_case(name, workload);
            let mut recorded = start(&with, "raddle", &format!("{workload}-recorded"))?;
            let plain = start(&with, "off", workload)?;
            measurement.compare(&case, &mut recorded, &mut [Box::new(plain)])?;
        } else if let Some(workload) = name.strip_prefix("off-") {
            let without = build(Build::WithoutEvents, measurement)?;
            let case = workload_case(name, workload);
            let mut compiled_in = start(&with, "raddle", workload)?;
            let absent = start(&without, "no-events", workload)?;
            measurement.compare(&case, &mut compiled_in, &mut [Box::new(absent)])?;
        } else if let Some((_, steps, calls)) = SCOPES.iter().find(|scope| scope.0 == name) {
            let case = case(name, Unit::Nanoseconds, *calls, *calls);
            let steps = format!("scope-{steps}");
            let mut recorded = start(&with, "raddle", &format!("{steps}-recorded"))?;
            let plain = start(&with, "plain", &steps)?;
            measurement.compare_on(1, &case, &mut recorded, &mut [Box::new(plain)])?;
        }
    }
    Ok(())
}

fn case(name: &'static str, unit: Unit, repetitions: u64, expected: u64) -> Case<'static> {
    Case {
        suite: "trace",
        name,
        unit,
        repetitions,
        file: None,
        expected,
        tolerance: 0,
    }
}

fn workload_case(name: &'static str, workload: &str) -> Case<'static> {
    let found = WORKLOADS.iter().find(|(other, ..)| *other == workload);
    let (_, repetitions, expected) = *found.expect("each case has a workload");
    case(name, Unit::Microseconds, repetitions, expected)
}

/// Builds the program, if its sources have changed, and returns it.
fn build(build: Build, measurement: &mut Measurement<'_>) -> Result<PathBuf, BenchError> {
    let bench = Path::new(env!("CARGO_MANIFEST_DIR"));
    let (manifest, program) = match build {
        Build::Raddle => ("../cli/Cargo.toml", "raddle"),
        Build::WithEvents | Build::WithoutEvents => ("events/Cargo.toml", "raddle-bench-events"),
    };
    let mut cargo = Command::new("cargo");
    cargo
        .args([
            "build",
            "--release",
            "--locked",
            "--quiet",
            "--manifest-path",
        ])
        .arg(bench.join(manifest));
    let folder = match build {
        Build::WithEvents | Build::Raddle => target_folder(),
        Build::WithoutEvents => {
            cargo.env("RUSTFLAGS", "--cfg raddle_no_events");
            target_folder().join("no-events")
        }
    };
    cargo.arg("--target-dir").arg(&folder);
    (measurement.warn)(format!("trace: cargo builds {program} ({build:?})"));
    let status = cargo.status();
    let status = status.map_err(|error| BenchError::contender("cargo", error))?;
    match status.success() {
        true => Ok(folder.join("release").join(program)),
        false => Err(BenchError::contender("cargo", status)),
    }
}
