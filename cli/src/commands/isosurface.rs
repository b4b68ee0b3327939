//! `raddle isosurface`: renders surfaces of equal value in a volume.

use std::path::PathBuf;

use clap::{Args, ValueHint};
use raddle_graphics::picture;
use raddle_graphics::volume::isosurface::{
    self, IsosurfaceError, IsosurfaceOptions, IsosurfaceRendering, Surface,
};

use crate::arguments::{Options, ViewArguments, VolumeArguments};
use crate::error::CliError;
use crate::progress::Phase;
use crate::report::{Count, RanOn, Report};
use crate::volume_input::VolumeInput;
use crate::{units, workers};

pub(super) const EXAMPLES: &str = "\
Examples:
  raddle isosurface head.nrrd --iso 400 -o skull.png --shadows
  raddle isosurface ct/ --iso=-300,250 --opacity 0.3,1 -o skin-and-bone.png
  raddle isosurface engine_256x256x128_u8.raw --iso 80 -o engine.png --eye 400,300,300

Pictures: .png, .ppm, .exr.";

/// `raddle isosurface`.
#[derive(Debug, Clone, Args)]
pub(crate) struct IsosurfaceArguments {
    #[command(flatten)]
    input: VolumeArguments,
    /// Values of the surfaces
    #[arg(long, value_name = "VALUE", required = true, value_delimiter = ',')]
    #[arg(allow_hyphen_values = true)]
    iso: Vec<f64>,
    /// Opacities of the surfaces, from 0 to 1, in the same order [default: 1]
    #[arg(long, value_name = "SHARE", value_delimiter = ',')]
    opacity: Vec<f32>,
    /// Let surfaces cast shadows
    #[arg(long)]
    shadows: bool,
    /// File for the picture; its extension (.png, .ppm or .exr) selects the format
    #[arg(short, long, value_name = "PICTURE", value_hint = ValueHint::FilePath)]
    output: PathBuf,
    #[command(flatten)]
    view: ViewArguments,
}

impl IsosurfaceArguments {
    fn options(&self) -> Result<IsosurfaceOptions, CliError> {
        if self.opacity.len() > self.iso.len() {
            return Err(CliError::WrongCall {
                options: format!("--opacity with {} values", self.opacity.len()),
                reason: format!("expected at most {}, one for each isovalue", self.iso.len()),
            });
        }
        let surfaces = self.iso.iter().enumerate().map(|(index, &isovalue)| {
            let surface = Surface::new(isovalue, index);
            let opacity = self.opacity.get(index).copied();
            Surface {
                opacity: opacity.unwrap_or(surface.opacity),
                ..surface
            }
        });
        Ok(IsosurfaceOptions {
            surfaces: surfaces.collect(),
            has_shadows: self.shadows,
            view: self.view.view(),
            frame: self.view.frame(),
        })
    }
}

/// Renders the surfaces and writes the picture.
///
/// # Errors
/// [`CliError`]. A path that cannot be written is detected before any work is done.
pub(super) fn run(arguments: &IsosurfaceArguments, options: &Options) -> Result<Report, CliError> {
    let surfaces = arguments.options()?;
    surfaces
        .check()
        .map_err(|source| refused(source, arguments))?;
    picture::check_path(&arguments.output)?;
    let runtime = workers::start(options)?;
    let report = runtime.install(|| {
        let input = VolumeInput::get(&arguments.input, options.quiet)?;
        let phase = Phase::begin("rendering", options.quiet);
        let rendering = isosurface::render(&input.volume, &input.macrocells, &surfaces, |done| {
            phase.one_more_of(done.tile_count);
        })
        .map_err(|source| refused(source, arguments))?;
        drop(phase);
        let phase = Phase::begin("writing", options.quiet);
        rendering.picture.save(&arguments.output)?;
        drop(phase);
        Ok::<_, CliError>(report(&input, arguments, &rendering))
    })?;
    Ok(report.on(RanOn::Workers(runtime)))
}

/// Converts an error of rendering, which is an error of the call.
fn refused(error: IsosurfaceError, arguments: &IsosurfaceArguments) -> CliError {
    let values: Vec<String> = arguments.iso.iter().map(f64::to_string).collect();
    let options = match error {
        IsosurfaceError::Camera(_) => arguments.view.given(),
        IsosurfaceError::Opacity(_) => "--opacity".to_owned(),
        IsosurfaceError::Frame(_) => format!("--size {}", arguments.view.size),
        _ => format!("--iso {}", values.join(",")),
    };
    CliError::WrongCall {
        options,
        reason: error.to_string(),
    }
}

fn report(
    input: &VolumeInput,
    arguments: &IsosurfaceArguments,
    rendering: &IsosurfaceRendering,
) -> Report {
    let counts = &rendering.counts;
    let time = rendering.time_prepare + rendering.time_trace;
    let mut report = Report::new();
    report
        .section("input", &input.facts)
        .quantity("rendered in", "render_s", &time)
        .field("prepare_s", rendering.time_prepare.as_secs_f64())
        .field("isovalues", &arguments.iso)
        .quantity("rays", "rays", &Count(rendering.rays as usize))
        .quantity("hits", "hits", &Count(counts.hits as usize))
        .row(
            "work",
            format!(
                "{} macrocells, {} cells, {} cubics",
                units::grouped(counts.macrocells),
                units::grouped(counts.cells),
                units::grouped(counts.cubics)
            ),
        )
        .field("counts", counts)
        .field("tasks", rendering.tile_count)
        .memory_peak()
        .row(
            "picture",
            format!("{} ({})", arguments.output.display(), arguments.view.size),
        )
        .field("picture", arguments.output.display().to_string());
    report
}
