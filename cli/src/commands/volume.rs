//! `raddle volume`: renders a volume directly, or as the renderer of SPLASH-2 does.

mod arguments;
mod study;

use std::path::PathBuf;
use std::time::Duration;

use raddle_graphics::picture;
use raddle_graphics::volume::direct::{
    self, Blend, DirectCounts, DirectError, DirectOptions, DirectRendering,
};
use raddle_graphics::volume::{Histogram, Preset, TransferFunction};

pub(super) use self::arguments::EXAMPLES;
pub(crate) use self::arguments::VolumeCommandArguments;

use crate::arguments::Options;
use crate::commands::turn::{frame_count, numbered, turned};
use crate::error::CliError;
use crate::progress::Phase;
use crate::report::{Count, RanOn, Report};
use crate::volume_input::{BIN_COUNT, VolumeInput};
use crate::{output, units, workers};

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
    arguments.check_threshold()?;
    let frame_count = frame_count(arguments.frames.as_deref())?;
    let paths = numbered(&arguments.output, 0..frame_count);
    for path in &paths {
        picture::check_path(path)?;
        output::check_apart(path, arguments.input.file.as_deref())?;
        output::check_apart(path, arguments.transfer.as_deref())?;
    }
    let given = arguments
        .transfer
        .as_ref()
        .map(TransferFunction::load)
        .transpose()?;
    let blend = match arguments.mip {
        true => Blend::Maximum,
        false => Blend::Composite,
    };
    let runtime = workers::start(options)?;
    let report = runtime.install(|| {
        let input = VolumeInput::get(&arguments.input, options.quiet)?;
        paths.iter().try_for_each(|path| input.check_apart(path))?;
        let preset = arguments.preset.map(|preset| preset.0).or(blend.preset());
        let transfer = given.unwrap_or_else(|| derived(preset, arguments, &input));
        let mut direct = DirectOptions {
            blend,
            step: arguments.step,
            is_shaded: !arguments.no_shading && preset.is_none_or(Preset::is_lit),
            view: arguments.view.view(input.offset),
            frame: arguments.view.frame(input.offset, blend.background(preset)),
            ..DirectOptions::new(transfer.with_opacity(arguments.opacity))
        };
        let view = direct.view;
        let phase = Phase::begin("rendering", options.quiet);
        let mut sum = Sum::default();
        for (index, path) in paths.iter().enumerate() {
            direct.view = turned(
                &view,
                input.volume.grid(),
                index as f64 / paths.len() as f64,
            )
            .map_err(|source| refused(source.into(), arguments, &input))?;
            let rendering = direct::render(&input.volume, &input.macrocells, &direct, |done| {
                phase.one_more_of(done.tile_count * paths.len());
            })
            .map_err(|source| refused(source, arguments, &input))?;
            rendering.picture.save(path)?;
            sum.add(&rendering);
        }
        drop(phase);
        if sum.counts.hits == 0 && !options.quiet {
            input.warn_of_nothing("no visible value is in the picture; see --threshold, --opacity");
        }
        Ok::<_, CliError>(report(&input, arguments, &paths, &sum))
    })?;
    Ok(report.on(RanOn::Workers(runtime)))
}

/// Returns the transfer function of a preset, or the default one for the histogram.
fn derived(
    preset: Option<&Preset>,
    arguments: &VolumeCommandArguments,
    input: &VolumeInput,
) -> TransferFunction {
    let histogram = Histogram::of(&input.volume, input.macrocells.range(), BIN_COUNT);
    let threshold = arguments.threshold.unwrap_or_else(|| histogram.threshold());
    TransferFunction::relative(preset, histogram.range, threshold)
}

/// Converts an error of rendering, which is an error of the call.
fn refused(
    error: DirectError,
    arguments: &VolumeCommandArguments,
    input: &VolumeInput,
) -> CliError {
    let error = match error {
        DirectError::Camera(error) => DirectError::Camera(error.moved_by(input.offset)),
        other => other,
    };
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
