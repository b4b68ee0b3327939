//! `raddle info`: describes a mesh, a volume or a communication matrix.

use std::path::Path;

use clap::Args;
use raddle_graphics::mesh::Mesh;
use raddle_graphics::volume::Histogram;
use raddle_topology::Matrix;
use serde_json::json;

use crate::arguments::{ContentArguments, ContentInput, InputArguments, Options, VolumeArguments};
use crate::error::CliError;
use crate::input::{Input, coordinates};
use crate::report::{Count, Facts, Plain, RanOn, Report};
use crate::volume_input::{BIN_COUNT, VolumeInput};
use crate::{units, workers};

pub(super) const EXAMPLES: &str = "\
Examples:
  raddle info bunny.ply
  raddle info ct/ --bins 64
  raddle info head_256x256x113_u8.raw --json
  raddle info --scene spheres:256
  raddle info traffic.csv";

/// The number of ranges of a histogram that are shown as text.
const ROWS: usize = 16;
/// The number of characters of the longest bar.
const BAR_CHARS: usize = 40;

const HELP: &str = "A mesh, a volume, the folder of a DICOM series, or a communication matrix";

/// `raddle info`.
#[derive(Debug, Clone, Args)]
#[command(mut_arg("file", |file| file.help(HELP)))]
pub(crate) struct InfoArguments {
    #[command(flatten)]
    input: ContentArguments,
    /// Number of ranges of the histogram in the JSON
    #[arg(long, value_name = "N", default_value_t = 256)]
    #[arg(value_parser = clap::value_parser!(u32).range(1..=65_536))]
    bins: u32,
}

/// Describes the file of the arguments.
///
/// # Errors
/// [`CliError`] if the file cannot be read, or has neither a mesh nor a volume nor a matrix.
pub(super) fn run(arguments: &InfoArguments, options: &Options) -> Result<Report, CliError> {
    let runtime = workers::start(options)?;
    let bins = arguments.bins as usize;
    let input = arguments.input.input()?;
    let report = runtime.install(|| match &input {
        ContentInput::Mesh(input) => of_mesh(input, bins, options.quiet),
        ContentInput::Volume(input) => of_volume(input, bins, options.quiet),
        ContentInput::Unknown(file) => of_matrix(file, bins),
    })?;
    Ok(report.on(RanOn::Workers(runtime)))
}

fn of_mesh(input: &InputArguments, bins: usize, quiet: bool) -> Result<Report, CliError> {
    let input = Input::get(input, quiet)?;
    let bounds = input.mesh.bounds();
    let [low, high] = [bounds.min, bounds.max].map(|corner| corner.as_dvec3() + input.offset);
    let areas: Vec<f64> = (0..input.mesh.triangles.len())
        .map(|index| area(&input.mesh, index))
        .collect();
    let mut report = Report::new();
    report
        .section("input", &input.facts)
        .field("content", "mesh")
        .row(
            "box",
            format!("{} to {}", coordinates(low), coordinates(high)),
        )
        .field("box", json!([low.to_array(), high.to_array()]))
        .field("normals", !input.mesh.normals.is_empty());
    histogram(&mut report, "area of triangles", "areas", &areas, bins);
    Ok(report)
}

fn area(mesh: &Mesh, index: usize) -> f64 {
    let [a, b, c] = mesh.triangle(index).map(|corner| corner.as_dvec3());
    0.5 * (b - a).cross(c - a).length()
}

fn of_volume(input: &VolumeArguments, bins: usize, quiet: bool) -> Result<Report, CliError> {
    let input = VolumeInput::get(input, quiet)?;
    let range = input.macrocells.range();
    let [all, shown, for_threshold] =
        [bins, ROWS, BIN_COUNT].map(|bins| Histogram::of(&input.volume, range, bins));
    let threshold = for_threshold.threshold();
    let [low, high] = input.corners();
    let mut report = Report::new();
    report
        .section("input", &input.facts)
        .field("content", "volume");
    report
        .row("threshold", format!("{} (Otsu)", number(threshold)))
        .field("threshold", threshold)
        .row(
            "box",
            format!("{} to {}", coordinates(low), coordinates(high)),
        )
        .field("box", json!([low.to_array(), high.to_array()]))
        .field("histogram", json!({ "range": range, "counts": all.counts }))
        .text(bars("voxels", range, &shown.counts));
    Ok(report)
}

fn of_matrix(file: &Path, bins: usize) -> Result<Report, CliError> {
    let (matrix, format) =
        Matrix::read_with_format(file).map_err(|source| CliError::UnknownContent {
            path: file.to_path_buf(),
            source,
        })?;
    let values: Vec<f64> = matrix.entries().map(|(_, _, bytes)| bytes).collect();
    let sum: f64 = values.iter().sum();
    let mut facts = Facts::new();
    facts
        .quantity("file", "file", &Plain(file.display().to_string()))
        .quantity("format", "format", &Plain(format.to_string()))
        .quantity("parties", "parties", &Count(matrix.order()))
        .quantity("entries", "entries", &Count(values.len()));
    let mut report = Report::new();
    report
        .section("input", &facts)
        .field("content", "matrix")
        .row("sum", units::large(sum))
        .field("sum", sum);
    histogram(
        &mut report,
        "bytes of entries",
        "entry_bytes",
        &values,
        bins,
    );
    Ok(report)
}

/// Adds the range and the histogram of some numbers.
fn histogram(report: &mut Report, label: &str, key: &str, values: &[f64], bins: usize) {
    let low = values.iter().copied().fold(f64::INFINITY, f64::min);
    let high = values.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    if values.is_empty() {
        return;
    }
    let counts = |bins: usize| {
        let scale = if high > low {
            bins as f64 / (high - low)
        } else {
            0.0
        };
        let mut counts = vec![0_u64; bins];
        for value in values {
            counts[(((value - low) * scale) as usize).min(bins - 1)] += 1;
        }
        counts
    };
    report
        .row(label, format!("{} to {}", number(low), number(high)))
        .field(key, json!({ "range": [low, high], "counts": counts(bins) }))
        .text(bars(label, [low, high], &counts(ROWS)));
}

/// Draws a histogram. The lengths of the bars are logarithms, since most histograms have a peak
/// that would hide everything else.
fn bars(label: &str, [low, high]: [f64; 2], counts: &[u64]) -> String {
    let length = |count: u64| (count as f64).ln_1p();
    let longest = counts.iter().copied().map(length).fold(1.0, f64::max);
    let width = (high - low) / counts.len() as f64;
    let step = if width > 0.0 { width } else { f64::INFINITY };
    let mut text = format!("\nhistogram of {label} (logarithmic)\n");
    for (index, &count) in counts.iter().enumerate() {
        let chars = (length(count) / longest * BAR_CHARS as f64).round() as usize;
        let from = low + index as f64 * width;
        let bar = "█".repeat(chars);
        let (from, count) = (number_beside(from, step), units::grouped(count));
        let line = format!("{from:>12}  {count:>13}  {bar}");
        text += line.trim_end();
        text.push('\n');
    }
    text
}

/// Formats a number of any magnitude with five digits or all digits before the point.
fn number(value: f64) -> String {
    number_beside(value, f64::INFINITY)
}

/// Formats a number as [`number`] does, with at least the digits in which it differs from numbers
/// at a distance of `step`.
fn number_beside(value: f64, step: f64) -> String {
    let magnitude = value.abs();
    if value == 0.0 || (value.fract() == 0.0 && magnitude < 1e9) {
        format!("{value}")
    } else if (1e-3..1e9).contains(&magnitude) {
        let decimals = (4 - magnitude.log10().floor() as i32).max(-step.log10().floor() as i32);
        let decimals = decimals.clamp(0, 8) as usize;
        format!("{value:.decimals$}")
    } else {
        format!("{value:.4e}")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_keep_five_digits() {
        for (value, text) in [
            (0.0, "0"),
            (-300.0, "-300"),
            (0.0123456, "0.012346"),
            (1234.567, "1234.6"),
            (1.25e-7, "1.2500e-7"),
            (2.5e12, "2.5000e12"),
        ] {
            assert_eq!(number(value), text);
        }
        // Regression: neighbours had the same text.
        assert_eq!(number_beside(101_321.5, 0.5), "101321.5");
        assert_eq!(number_beside(1_321.25, 0.0625), "1321.25");
    }

    #[test]
    fn bars_are_logarithms_of_the_counts() {
        let text = bars("voxels", [0.0, 3.0], &[0, 1, 1000]);
        let lines: Vec<&str> = text.lines().collect();
        assert_eq!(lines[1], "histogram of voxels (logarithmic)");
        let chars = |line: &str| line.chars().filter(|char| *char == '█').count();
        assert_eq!(
            [chars(lines[2]), chars(lines[3]), chars(lines[4])],
            [0, 4, BAR_CHARS]
        );
    }
}
