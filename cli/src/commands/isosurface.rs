//! `raddle isosurface`: renders surfaces of equal value in a volume.

use std::path::PathBuf;
use std::time::Duration;

use clap::{ArgGroup, Args, ValueHint};
use raddle_graphics::picture;
use raddle_graphics::volume::isosurface::{self, IsosurfaceCounts, IsosurfaceRendering};

use crate::arguments::{Options, SurfaceArguments, ViewArguments, VolumeArguments};
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
    mut_arg("opacity", |argument| argument.requires("output")),
    mut_arg("colour", |argument| argument.requires("output")),
    mut_arg("smooth", |argument| argument.requires("output")),
    mut_arg("shadows", |argument| argument.requires("output")),
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
    #[command(flatten)]
    surfaces: SurfaceArguments,
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

/// Renders the surfaces and writes the picture.
///
/// # Errors
/// [`CliError`]. A path that cannot be written is detected before any work is done.
pub(super) fn run(arguments: &IsosurfaceArguments, options: &Options) -> Result<Report, CliError> {
    arguments.surfaces.check(&arguments.view)?;
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
            let surfaces = &arguments.surfaces;
            surfaces.warn_of_values(&input.name, input.macrocells.range());
        }
        let mut report = Report::new();
        report
            .section("input", &input.facts)
            .field("isovalues", &arguments.surfaces.iso);
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
    let refused = |source| arguments.surfaces.refused(source, &arguments.view);
    let mut surfaces = arguments.surfaces.options(&arguments.view, input.offset);
    let view = surfaces.view;
    let mut sum = Sum::default();
    let phase = Phase::begin("rendering", options.quiet);
    for (index, path) in paths.iter().enumerate() {
        surfaces.view = turned(
            &view,
            input.volume.grid(),
            index as f64 / paths.len() as f64,
        )
        .map_err(|source| refused(source.moved_by(input.offset).into()))?;
        let rendering = isosurface::render(&input.volume, &input.macrocells, &surfaces, |done| {
            phase.one_more_of(done.tile_count * paths.len());
        })
        .map_err(refused)?;
        rendering.picture.save(path)?;
        sum.add(&rendering);
    }
    drop(phase);
    // Without any surface, the extraction is an error that says so.
    let range = input.macrocells.range();
    let is_said = arguments.extract.is_some() && !arguments.surfaces.has_surface(range);
    if sum.counts.hits == 0 && !options.quiet && !is_said {
        input.warn_of_nothing(&arguments.surfaces.reason_for_nothing(range, "picture"));
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
