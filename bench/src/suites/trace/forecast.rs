//! `forecast-*`: the time for two workers that a recording on one worker predicts, against the time
//! that a recording on two workers shows.
//!
//! Both times are from the first task to the end of the last one, and both runs record all events.
//! The inputs are generated. A run is a process of its own, so its pages are new each time.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use serde_json::Value;

use crate::error::BenchError;
use crate::harness::{Case, Contender, Request, Sample, Unit};
use crate::suites::Measurement;

/// The cases, and the arguments of `raddle` that they record. `VOLUME` is a generated volume, and
/// `PICTURE` a file for a picture.
const PROGRAMS: [(&str, &str); 9] = [
    ("forecast-sort", "sort 1e7 --repeat 1"),
    ("forecast-lk23", "lk23 --size 1024 --repeat 1"),
    ("forecast-matmul", "matmul --size 768 --tasks 16 --repeat 1"),
    ("forecast-volume", "volume VOLUME -o PICTURE --size 512x512"),
    (
        "forecast-isosurface",
        "isosurface VOLUME --iso 100 -o PICTURE --size 512x512",
    ),
    (
        "forecast-render",
        "render --scene knot -o PICTURE --size 512x512",
    ),
    ("forecast-kdtree", "kdtree --scene flake:200000"),
    (
        "forecast-kdtree-messages",
        "kdtree --scene flake:200000 --builder messages",
    ),
    (
        "forecast-kneighbor",
        "kneighbor --elements 64 --iterations 300",
    ),
];

/// The names of the cases.
pub(super) const CASES: [&str; PROGRAMS.len()] = {
    let mut names = [""; PROGRAMS.len()];
    let mut at = 0;
    while at < names.len() {
        names[at] = PROGRAMS[at].0;
        at += 1;
    }
    names
};

/// The number of workers that is predicted.
const WORKERS: usize = 2;
/// The side of the generated volume, in voxels.
const SIDE: usize = 160;

/// The time that a recording shows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Side {
    /// The prediction of a recording on one worker.
    Forecast,
    /// The length of a recording on [`WORKERS`] workers.
    Measured,
}

/// Recordings of one program.
struct Recorded<'a> {
    side: Side,
    raddle: &'a Path,
    arguments: Vec<String>,
    file: PathBuf,
}

impl Contender for Recorded<'_> {
    fn name(&self) -> &str {
        match self.side {
            Side::Forecast => "forecast",
            Side::Measured => "measured",
        }
    }

    fn measure(&mut self, _request: &Request<'_>) -> Result<Sample, BenchError> {
        let workers = match self.side {
            Side::Forecast => 1,
            Side::Measured => WORKERS,
        };
        let mut command = Command::new(self.raddle);
        command
            .args(&self.arguments)
            .args(["--quiet", "--workers", &workers.to_string()])
            .arg("--trace")
            .arg(&self.file)
            .env("RADDLE_TRACE_DETAIL", "all")
            .env("RADDLE_TRACE_BUFFER", "1024");
        self.output_of(command)?;
        let mut report = Command::new(self.raddle);
        report
            .arg("report")
            .arg(&self.file)
            .args(["--json", "--quiet"]);
        let output = self.output_of(report)?;
        let failure = |error: String| BenchError::contender(self.name(), error);
        let report: Value =
            serde_json::from_slice(&output).map_err(|error| failure(error.to_string()))?;
        let forecast = &report["forecast"];
        let ns = match self.side {
            Side::Measured => forecast["recorded_ns"].as_u64(),
            Side::Forecast => {
                let points = forecast["points"].as_array().into_iter().flatten();
                let mut points = points.map(|point| &point["run"]);
                let point = points.find(|run| run["workers"] == WORKERS);
                point.and_then(|run| run["ns"].as_u64())
            }
        };
        let ns = ns.ok_or_else(|| failure(format!("no forecast: {}", report["no_forecast"])))?;
        Ok(Sample {
            time: Duration::from_nanos(ns),
            result: 0,
        })
    }
}

impl Recorded<'_> {
    /// Runs a program, and returns its standard output.
    fn output_of(&self, mut command: Command) -> Result<Vec<u8>, BenchError> {
        let output = command.output();
        let output = output.map_err(|error| BenchError::contender(self.name(), error))?;
        match output.status.success() {
            true => Ok(output.stdout),
            false => {
                let text = String::from_utf8_lossy(&output.stderr).into_owned();
                Err(BenchError::contender(self.name(), text))
            }
        }
    }
}

/// Runs the cases that are wanted.
///
/// # Errors
/// Those of [`Measurement::compare_on`], and of the files.
pub(super) fn run(
    measurement: &mut Measurement<'_>,
    raddle: &Path,
    folder: &Path,
) -> Result<(), BenchError> {
    let volume = folder.join(format!("forecast_{SIDE}x{SIDE}x{SIDE}_u8.raw"));
    fs::write(&volume, ball()).map_err(|error| BenchError::contender("volume", error))?;
    let [volume, picture] = [volume, folder.join("forecast.png")].map(|path| {
        // Folders of cargo have such names.
        path.to_string_lossy().into_owned()
    });
    for (name, call) in PROGRAMS {
        if !measurement.wants(name) {
            continue;
        }
        let arguments = call.split(' ').map(|word| match word {
            "VOLUME" => volume.clone(),
            "PICTURE" => picture.clone(),
            word => word.to_owned(),
        });
        let arguments: Vec<String> = arguments.collect();
        let recorded = |side| Recorded {
            side,
            raddle,
            arguments: arguments.clone(),
            file: folder.join("forecast.pftrace"),
        };
        let case = Case {
            suite: "trace",
            name,
            unit: Unit::Milliseconds,
            repetitions: 1,
            file: None,
            expected: 0,
            tolerance: 0,
        };
        let mut forecast = recorded(Side::Forecast);
        let measured = Box::new(recorded(Side::Measured));
        measurement.compare_on(WORKERS, &case, &mut forecast, &mut [measured])?;
    }
    Ok(())
}

/// Returns the voxels of a ball, with values that fall from its centre outwards.
fn ball() -> Vec<u8> {
    let centre = SIDE as f32 / 2.0;
    let voxel = |index: usize| {
        let at = [index % SIDE, index / SIDE % SIDE, index / (SIDE * SIDE)];
        let squares = at.map(|at| (at as f32 - centre).powi(2));
        let distance = squares.iter().sum::<f32>().sqrt();
        (255.0 * (1.0 - distance / centre)).max(0.0) as u8
    };
    (0..SIDE * SIDE * SIDE).map(voxel).collect()
}
