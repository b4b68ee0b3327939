//! `raddle isosurface`: renders surfaces of equal value in a volume.

use std::path::PathBuf;
use std::time::Duration;

use clap::{ArgGroup, Args, ValueHint};
use glam::DVec3;
use raddle_graphics::picture;
use raddle_graphics::volume::isosurface::{
    self, IsosurfaceCounts, IsosurfaceError, IsosurfaceOptions, IsosurfaceRendering, Surface,
};

use crate::arguments::{Colour, Options, ViewArguments, VolumeArguments};
use crate::commands::turn::{FRAMES_MAX, numbered, turned};
use crate::error::CliError;
use crate::progress::Phase;
use crate::report::{Count, RanOn, Report};
use crate::volume_input::VolumeInput;
use crate::{output, units, workers};

mod extraction;

pub(super) const EXAMPLES: &str = "\
Examples:
  raddle isosurface head.nrrd --iso 400 -o skull.png --shadows
  raddle isosurface ct/ --iso=-300,250 --opacity 0.3,1 -o skin-and-bone.png
  raddle isosurface engine_256x256x128_u8.raw --iso 80 -o engine.png --eye 400,300,300
  raddle isosurface head.nrrd --iso 400 -o turn.png --frames 36 --colour '#e8d8b0'
  raddle isosurface head.nrrd --iso 400 --extract skull.ply

Pictures: .png, .ppm, .exr.";

/// `raddle isosurface`.
#[derive(Debug, Clone, Args)]
#[command(
    group(ArgGroup::new("result").args(["output", "extract"]).required(true).multiple(true)),
    mut_arg("size", |argument| argument.requires("output")),
    mut_arg("samples", |argument| argument.requires("output")),
    mut_arg("eye", |argument| argument.requires("output")),
    mut_arg("look_at", |argument| argument.requires("output")),
    mut_arg("fov", |argument| argument.requires("output")),
    mut_arg("orthographic", |argument| argument.requires("output")),
    mut_arg("background", |argument| argument.requires("output")),
)]
pub(crate) struct IsosurfaceArguments {
    #[command(flatten)]
    input: VolumeArguments,
    /// Values of the surfaces
    #[arg(long, value_name = "VALUE", required = true, value_delimiter = ',')]
    #[arg(allow_hyphen_values = true)]
    iso: Vec<f64>,
    /// Opacities of the surfaces, from 0 to 1, in the same order [default: 1]
    #[arg(long, value_name = "SHARE", value_delimiter = ',', requires = "output")]
    opacity: Vec<f32>,
    /// Colours of the surfaces, in the same order: #rrggbb, black, white or grey
    #[arg(
        long,
        value_name = "COLOUR",
        value_delimiter = ',',
        requires = "output"
    )]
    colour: Vec<Colour>,
    /// Light surfaces by the differences between voxels on both sides, which hides their grid
    #[arg(long, requires = "output")]
    smooth: bool,
    /// Let surfaces cast shadows
    #[arg(long, requires = "output")]
    shadows: bool,
    /// File for the picture; its extension (.png, .ppm or .exr) selects the format
    #[arg(short, long, value_name = "PICTURE", value_hint = ValueHint::FilePath)]
    output: Option<PathBuf>,
    /// File for the surfaces as triangles (.ply), by marching cubes
    #[arg(long, value_name = "MESH", value_hint = ValueHint::FilePath)]
    extract: Option<PathBuf>,
    /// Number of pictures of a whole turn
    #[arg(long, value_name = "N", default_value_t = 1, requires = "output")]
    #[arg(value_parser = clap::value_parser!(u32).range(1..=FRAMES_MAX as i64))]
    frames: u32,
    #[command(flatten)]
    view: ViewArguments,
}

impl IsosurfaceArguments {
    /// Returns the options for a volume with an offset.
    fn options(&self, offset: DVec3) -> IsosurfaceOptions {
        let surfaces = self.iso.iter().enumerate().map(|(index, &isovalue)| {
            let surface = Surface::new(isovalue, index);
            let colour = self.colour.get(index).copied();
            Surface {
                opacity: self.opacity.get(index).copied().unwrap_or(surface.opacity),
                colour: colour.map_or(surface.colour, Colour::linear),
                ..surface
            }
        });
        IsosurfaceOptions {
            surfaces: surfaces.collect(),
            has_shadows: self.shadows,
            is_smooth: self.smooth,
            view: self.view.view(offset),
            frame: self.view.frame(offset, None),
        }
    }

    /// Returns true if a surface can have a value: it is above the lowest voxel.
    fn is_among(value: f64, [low, high]: [f64; 2]) -> bool {
        low < value && value <= high
    }

    /// Warns of isovalues without a surface, if there are others.
    fn warn_of_values(&self, input: &VolumeInput) {
        let range = input.macrocells.range();
        let (found, missing): (Vec<f64>, Vec<f64>) = self
            .iso
            .iter()
            .partition(|value| Self::is_among(**value, range));
        if !found.is_empty() && !missing.is_empty() {
            let missing: Vec<String> = missing.iter().map(f64::to_string).collect();
            let [low, high] = range;
            output::warn(&format!(
                "{}: --iso {} has no surface; the values are above {low} and up to {high}",
                input.name,
                missing.join(",")
            ));
        }
    }

    /// Returns true if a surface has a value that the volume has.
    fn has_surface(&self, input: &VolumeInput) -> bool {
        let range = input.macrocells.range();
        self.iso.iter().any(|&value| Self::is_among(value, range))
    }

    /// Returns the reason why there is no surface in a place.
    fn reason_for_nothing(&self, input: &VolumeInput, place: &str) -> String {
        let [low, high] = input.macrocells.range();
        if self.has_surface(input) {
            format!("no surface is in the {place}; see --iso")
        } else if low == high {
            format!("all voxels are {low}, so that there is no surface; see --iso")
        } else {
            format!("no isovalue is above {low} and up to {high}; see --iso")
        }
    }

    /// Checks the options that do not depend on the volume.
    fn check(&self) -> Result<(), CliError> {
        for (name, count) in [
            ("opacity", self.opacity.len()),
            ("colour", self.colour.len()),
        ] {
            if count > self.iso.len() {
                return Err(CliError::WrongCall {
                    options: format!("--{name} with {count} values"),
                    reason: format!("expected at most {}, one for each isovalue", self.iso.len()),
                });
            }
        }
        let options = self.options(DVec3::ZERO);
        options.check().map_err(|source| refused(source, self))
    }
}

/// Renders the surfaces and writes the picture.
///
/// # Errors
/// [`CliError`]. A path that cannot be written is detected before any work is done.
pub(super) fn run(arguments: &IsosurfaceArguments, options: &Options) -> Result<Report, CliError> {
    arguments.check()?;
    let paths = arguments
        .output
        .as_ref()
        .map(|path| numbered(path, 0..arguments.frames));
    let input_file = arguments.input.file.as_deref();
    for path in paths.iter().flatten() {
        picture::check_path(path)?;
        output::check_apart(path, input_file)?;
    }
    if let Some(path) = &arguments.extract {
        output::check_apart(path, input_file)?;
    }
    let mesh_file = extraction::begin(arguments)?;
    let runtime = workers::start(options)?;
    let report = runtime.install(|| {
        let input = VolumeInput::get(&arguments.input, options.quiet)?;
        let mut outputs = paths.iter().flatten().chain(&arguments.extract);
        outputs.try_for_each(|path| input.check_apart(path))?;
        if !options.quiet {
            arguments.warn_of_values(&input);
        }
        let mut report = Report::new();
        report
            .section("input", &input.facts)
            .field("isovalues", &arguments.iso);
        if let Some(paths) = &paths {
            render(&input, arguments, paths, options, &mut report)?;
        }
        if let Some(file) = mesh_file {
            extraction::extract(&input, arguments, file, options, &mut report)?;
        }
        report.memory_peak();
        Ok::<_, CliError>(report)
    })?;
    Ok(report.on(RanOn::Workers(runtime)))
}

/// Renders the surfaces.
fn render(
    input: &VolumeInput,
    arguments: &IsosurfaceArguments,
    paths: &[PathBuf],
    options: &Options,
    report: &mut Report,
) -> Result<(), CliError> {
    let mut surfaces = arguments.options(input.offset);
    let view = surfaces.view;
    let mut sum = Sum::default();
    let phase = Phase::begin("rendering", options.quiet);
    for (index, path) in paths.iter().enumerate() {
        surfaces.view = turned(&view, &input.volume, index, paths.len())
            .map_err(|source| refused(source.moved_by(input.offset).into(), arguments))?;
        let rendering = isosurface::render(&input.volume, &input.macrocells, &surfaces, |done| {
            phase.one_more_of(done.tile_count * paths.len());
        })
        .map_err(|source| refused(source, arguments))?;
        rendering.picture.save(path)?;
        sum.add(&rendering);
    }
    drop(phase);
    // Without any surface, the extraction is an error that says so.
    let is_said = arguments.extract.is_some() && !arguments.has_surface(input);
    if sum.counts.hits == 0 && !options.quiet && !is_said {
        input.warn_of_nothing(&arguments.reason_for_nothing(input, "picture"));
    }
    report_pictures(arguments, &sum, paths, report);
    Ok(())
}

/// The work for all pictures, of which only one is in memory.
#[derive(Debug, Default)]
struct Sum {
    counts: IsosurfaceCounts,
    time_prepare: Duration,
    time_trace: Duration,
    rays: u64,
    tasks: usize,
}

impl Sum {
    fn add(&mut self, rendering: &IsosurfaceRendering) {
        self.counts += rendering.counts;
        self.time_prepare += rendering.time_prepare;
        self.time_trace += rendering.time_trace;
        self.rays += rendering.rays;
        self.tasks += rendering.tile_count;
    }
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

/// Reports on pictures.
fn report_pictures(
    arguments: &IsosurfaceArguments,
    sum: &Sum,
    paths: &[PathBuf],
    report: &mut Report,
) {
    let counts = &sum.counts;
    let pictures: Vec<String> = paths
        .iter()
        .map(|path| path.display().to_string())
        .collect();
    report
        .quantity("prepared in", "prepare_s", &sum.time_prepare)
        .quantity(
            "rendered in",
            "render_s",
            &(sum.time_prepare + sum.time_trace),
        )
        .quantity("rays", "rays", &Count(sum.rays as usize))
        .quantity("hits", "hits", &Count(counts.hits as usize))
        .row(
            "work",
            format!(
                "{} cells, {} cubics",
                units::grouped(counts.cells),
                units::grouped(counts.cubics)
            ),
        )
        .field("counts", counts)
        .field("tasks", sum.tasks)
        .row(
            match paths.len() {
                1 => "picture",
                _ => "pictures",
            },
            format!("{} ({})", pictures.join(", "), arguments.view.size),
        )
        .field("pictures", pictures);
}
