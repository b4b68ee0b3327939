//! `raddle volume`: renders a volume directly, or as the renderer of SPLASH-2 does.

mod arguments;
mod study;

use std::path::{Path, PathBuf};
use std::time::Duration;

use glam::{DVec3, Vec3};
use raddle_graphics::picture;
use raddle_graphics::volume::direct::{
    self, Blend, DirectCounts, DirectError, DirectOptions, DirectRendering,
};
use raddle_graphics::volume::{Histogram, TransferFunction};

pub(super) use self::arguments::EXAMPLES;
pub(crate) use self::arguments::VolumeCommandArguments;

use crate::arguments::Options;
use crate::error::CliError;
use crate::progress::Phase;
use crate::report::{Count, RanOn, Report};
use crate::volume_input::VolumeInput;
use crate::{units, workers};

/// The number of ranges of the histogram from which the transfer function is derived.
const BIN_COUNT: usize = 256;

/// Renders the volume and writes the pictures.
///
/// # Errors
/// [`CliError`]. A path that cannot be written is detected before any work is done.
pub(super) fn run(
    arguments: &VolumeCommandArguments,
    options: &Options,
) -> Result<Report, CliError> {
    if arguments.study {
        return study::run(arguments, options);
    }
    let frame_count = arguments.frame_count()?;
    let paths = numbered(&arguments.output, 0..frame_count);
    for path in &paths {
        picture::check_path(path)?;
    }
    let given = arguments
        .transfer
        .as_ref()
        .map(TransferFunction::load)
        .transpose()?;
    let runtime = workers::start(options)?;
    let report = runtime.install(|| {
        let input = VolumeInput::get(&arguments.input, options.quiet)?;
        let transfer = given.unwrap_or_else(|| derived(arguments, &input));
        let direct = DirectOptions {
            blend: if arguments.mip {
                Blend::Maximum
            } else {
                Blend::Composite
            },
            step: arguments.step,
            is_shaded: !arguments.no_shading,
            background: arguments.background.map(|background| background.colour()),
            view: arguments.view.view(),
            frame: arguments.view.frame(),
            ..DirectOptions::new(transfer.with_opacity(arguments.opacity))
        };
        let phase = Phase::begin("rendering", options.quiet);
        let mut sum = Sum::default();
        for (index, path) in paths.iter().enumerate() {
            let turned = turned(&direct, &input, index, paths.len())
                .map_err(|source| refused(source, arguments))?;
            let rendering = direct::render(&input.volume, &input.macrocells, &turned, |done| {
                phase.one_more_of(done.tile_count * paths.len());
            })
            .map_err(|source| refused(source, arguments))?;
            rendering.picture.save(path)?;
            sum.add(&rendering);
        }
        drop(phase);
        Ok::<_, CliError>(report(&input, arguments, &paths, &sum))
    })?;
    Ok(report.on(RanOn::Workers(runtime)))
}

/// Returns the paths of pictures with these numbers: `a-007.png` for `a.png`; only the path itself
/// if there is one picture.
fn numbered(path: &Path, numbers: std::ops::Range<u32>) -> Vec<PathBuf> {
    if numbers.len() == 1 {
        return vec![path.to_path_buf()];
    }
    let stem = path.file_stem().unwrap_or_default().to_string_lossy();
    let extension = path.extension().unwrap_or_default().to_string_lossy();
    numbers
        .map(|number| path.with_file_name(format!("{stem}-{number:03}.{extension}")))
        .collect()
}

/// Returns the transfer function of a preset, or the default one for the histogram.
fn derived(arguments: &VolumeCommandArguments, input: &VolumeInput) -> TransferFunction {
    let histogram = Histogram::of(&input.volume, input.macrocells.range(), BIN_COUNT);
    let threshold = arguments.threshold.unwrap_or_else(|| histogram.threshold());
    let preset = arguments.preset.map(|preset| preset.0);
    TransferFunction::relative(preset, histogram.range, threshold)
}

/// Turns the eye about the axis that is up, by the share of a whole turn for a frame.
fn turned(
    options: &DirectOptions,
    input: &VolumeInput,
    index: usize,
    count: usize,
) -> Result<DirectOptions, DirectError> {
    let mut options = options.clone();
    if index == 0 {
        return Ok(options);
    }
    let camera = input.volume.camera(&options.view)?;
    let middle = input.volume.bounds().center().as_dvec3();
    let at = options
        .view
        .look_at
        .map_or(middle, |point| point.as_dvec3());
    let up = options
        .view
        .up
        .unwrap_or(Vec3::Z)
        .as_dvec3()
        .normalize_or(DVec3::Z);
    let angle = std::f64::consts::TAU * index as f64 / count as f64;
    let turn = glam::DQuat::from_axis_angle(up, angle);
    let eye = at + turn * (camera.eye().as_dvec3() - at);
    options.view.eye = Some(eye.as_vec3());
    Ok(options)
}

/// Converts an error of rendering, which is an error of the call.
fn refused(error: DirectError, arguments: &VolumeCommandArguments) -> CliError {
    let options = match error {
        DirectError::Camera(_) => arguments.view.given(),
        DirectError::Step(_) | DirectError::Samples { .. } => {
            format!("--step {}", arguments.step)
        }
        _ => format!("--size {}", arguments.view.size),
    };
    CliError::WrongCall {
        options,
        reason: error.to_string(),
    }
}

/// The work for all pictures, of which only one is in memory.
#[derive(Debug, Default)]
struct Sum {
    counts: DirectCounts,
    time: Duration,
    rays: u64,
    tasks: usize,
}

impl Sum {
    fn add(&mut self, rendering: &DirectRendering) {
        self.counts += rendering.counts;
        self.time += rendering.time_prepare + rendering.time_trace;
        self.rays += rendering.rays;
        self.tasks += rendering.tile_count;
    }
}

fn report(
    input: &VolumeInput,
    arguments: &VolumeCommandArguments,
    paths: &[PathBuf],
    sum: &Sum,
) -> Report {
    let counts = sum.counts;
    let pictures: Vec<String> = paths
        .iter()
        .map(|path| path.display().to_string())
        .collect();
    let mut report = Report::new();
    report
        .section("input", &input.facts)
        .quantity("rendered in", "render_s", &sum.time)
        .quantity("rays", "rays", &Count(sum.rays as usize))
        .quantity("hits", "hits", &Count(counts.hits as usize))
        .row(
            "work",
            format!(
                "{} samples, {} of them visible",
                units::grouped(counts.samples),
                units::grouped(counts.samples_visible)
            ),
        )
        .field("counts", counts)
        .field("tasks", sum.tasks)
        .memory_peak()
        .row(
            "picture",
            match &pictures[..] {
                [picture] => format!("{picture} ({})", arguments.view.size),
                [first, ..] => format!("{first} and {} more", pictures.len() - 1),
                [] => String::new(),
            },
        )
        .field("pictures", pictures);
    report
}
