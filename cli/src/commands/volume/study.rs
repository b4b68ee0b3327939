//! `raddle volume --study`: the volume renderer of SPLASH-2.

use std::ops::Range;
use std::time::Duration;

use raddle_graphics::picture::GreyPicture;
use raddle_graphics::volume::volrend::{
    FrameView, Sampling, Volrend, VolrendCounts, VolrendPicture,
};

use super::arguments::VolumeCommandArguments;
use crate::arguments::Options;
use crate::commands::turn::numbered;
use crate::error::CliError;
use crate::progress::Phase;
use crate::report::{Count, RanOn, Report};
use crate::volume_input::VolumeInput;
use crate::{units, workers};

/// Renders the frames and writes the pictures.
pub(super) fn run(
    arguments: &VolumeCommandArguments,
    options: &Options,
) -> Result<Report, CliError> {
    let frames = frames(arguments)?;
    let paths = numbered(&arguments.output, frames.clone());
    for path in &paths {
        GreyPicture::check_path(path)?;
    }
    let sampling = match arguments.adaptive {
        true => Sampling::Adaptive,
        false => Sampling::Full,
    };
    let runtime = workers::start(options)?;
    let report = runtime.install(|| {
        let input = VolumeInput::get(&arguments.input, options.quiet)?;
        paths.iter().try_for_each(|path| input.check_apart(path))?;
        let phase = Phase::begin("preparing", options.quiet);
        let map = Volrend::new(&input.volume).map_err(|source| CliError::Volrend {
            input: input.name.clone(),
            source,
        })?;
        let prepare_time = phase.elapsed();
        drop(phase);
        let phase = Phase::begin("rendering", options.quiet);
        let mut sum = Sum::default();
        for (frame, path) in frames.clone().zip(&paths) {
            let view = FrameView::of_frame(arguments.steps, frame);
            let picture = map.render(view, sampling, |done| {
                phase.one_more_of(done.tile_count * paths.len());
            });
            sum.add(&picture);
            GreyPicture::new(picture.edge, picture.pixels).save(path)?;
        }
        drop(phase);
        let mut report = report(&input, sampling, prepare_time, &sum);
        let names: Vec<String> = paths
            .iter()
            .map(|path| path.display().to_string())
            .collect();
        report
            .field("steps", arguments.steps)
            .field("frames", frames.clone().collect::<Vec<_>>())
            .row("pictures", names.join(", "))
            .field("pictures", names);
        Ok::<_, CliError>(report)
    })?;
    Ok(report.on(RanOn::Workers(runtime)))
}

/// Returns the numbers of the frames to render.
fn frames(arguments: &VolumeCommandArguments) -> Result<Range<u32>, CliError> {
    let steps = arguments.steps;
    let axis = match arguments.frames.as_deref() {
        None => {
            let (frame, count) = (arguments.frame, 3 * steps);
            return match frame < count {
                true => Ok(frame..frame + 1),
                false => Err(CliError::WrongCall {
                    options: format!("--steps {steps} --frame {frame}"),
                    reason: format!("expected a frame from 0 to {}", count - 1),
                }),
            };
        }
        Some("x") => 0,
        Some("y") => 1,
        Some("z") => 2,
        Some(other) => {
            return Err(CliError::WrongCall {
                options: format!("--study --frames {other}"),
                reason: "expected x, y or z".to_owned(),
            });
        }
    };
    Ok(axis * steps..(axis + 1) * steps)
}

/// The work for all frames, of which only one is in memory.
#[derive(Debug, Default)]
struct Sum {
    counts: VolrendCounts,
    times: Vec<Duration>,
    tasks: usize,
    /// The edge of a picture, which all frames have.
    edge: u32,
}

impl Sum {
    fn add(&mut self, picture: &VolrendPicture) {
        self.counts += picture.counts;
        self.times.push(picture.time);
        self.tasks += picture.tile_count;
        self.edge = picture.edge;
    }
}

fn report(input: &VolumeInput, sampling: Sampling, prepare_time: Duration, sum: &Sum) -> Report {
    let counts = sum.counts;
    let time: Duration = sum.times.iter().sum();
    let seconds: Vec<f64> = sum.times.iter().map(Duration::as_secs_f64).collect();
    let mut report = Report::new();
    report
        .section("input", &input.facts)
        .quantity("prepared in", "prepare_s", &prepare_time)
        .quantity("rendered in", "render_s", &time)
        .field("frame_s", seconds)
        .field("sampling", sampling)
        .quantity("rays", "rays", &Count(counts.rays as usize))
        .row(
            "work",
            format!(
                "{} rays in the volume, {} samples",
                units::grouped(counts.rays_inside),
                units::grouped(counts.samples)
            ),
        )
        .field("counts", counts)
        .quantity("tasks", "tasks", &Count(sum.tasks))
        .field("edge", sum.edge)
        .memory_peak();
    report
}
