//! `raddle isosurface`: renders surfaces of equal value in a volume.

use std::io::{BufWriter, IntoInnerError};
use std::path::{Path, PathBuf};

use clap::{Args, ValueHint};
use raddle_graphics::mesh::Mesh;
use raddle_graphics::picture;
use raddle_graphics::volume::isosurface::{
    self, IsosurfaceError, IsosurfaceOptions, IsosurfaceRendering, Surface,
};
use raddle_trace::whole_file::WholeFile;

use crate::arguments::{Options, ViewArguments, VolumeArguments};
use crate::error::CliError;
use crate::progress::Phase;
use crate::report::{Count, RanOn, Report};
use crate::volume_input::VolumeInput;
use crate::{output, units, workers};

pub(super) const EXAMPLES: &str = "\
Examples:
  raddle isosurface head.nrrd --iso 400 -o skull.png --shadows
  raddle isosurface ct/ --iso=-300,250 --opacity 0.3,1 -o skin-and-bone.png
  raddle isosurface engine_256x256x128_u8.raw --iso 80 -o engine.png --eye 400,300,300
  raddle isosurface head.nrrd --iso 400 --extract skull.ply

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
    #[arg(required_unless_present = "extract")]
    output: Option<PathBuf>,
    /// File for the surfaces as triangles (.ply), by marching cubes
    #[arg(long, value_name = "MESH", value_hint = ValueHint::FilePath)]
    extract: Option<PathBuf>,
    #[command(flatten)]
    view: ViewArguments,
}

impl IsosurfaceArguments {
    /// Creates the file for the mesh, before any work is done.
    fn mesh_file(&self) -> Result<Option<(WholeFile, &Path)>, CliError> {
        let Some(path) = &self.extract else {
            return Ok(None);
        };
        let extension = path.extension().unwrap_or_default().to_ascii_lowercase();
        if extension != "ply" {
            return Err(CliError::WrongCall {
                options: format!("--extract {}", path.display()),
                reason: "expected a name that ends in .ply".to_owned(),
            });
        }
        Ok(Some((output::begin_file(path)?, path)))
    }

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
    if let Some(path) = &arguments.output {
        picture::check_path(path)?;
    }
    let mesh_file = arguments.mesh_file()?;
    let runtime = workers::start(options)?;
    let report = runtime.install(|| {
        let input = VolumeInput::get(&arguments.input, options.quiet)?;
        let mut report = Report::new();
        report
            .section("input", &input.facts)
            .field("isovalues", &arguments.iso);
        if let Some(path) = &arguments.output {
            render(&input, arguments, &surfaces, path, options, &mut report)?;
        }
        if let Some(file) = mesh_file {
            extract(&input, arguments, file, options, &mut report)?;
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
    surfaces: &IsosurfaceOptions,
    path: &Path,
    options: &Options,
    report: &mut Report,
) -> Result<(), CliError> {
    let phase = Phase::begin("rendering", options.quiet);
    let rendering = isosurface::render(&input.volume, &input.macrocells, surfaces, |done| {
        phase.one_more_of(done.tile_count);
    })
    .map_err(|source| refused(source, arguments))?;
    drop(phase);
    let phase = Phase::begin("writing", options.quiet);
    rendering.picture.save(path)?;
    drop(phase);
    report_picture(arguments, &rendering, path, report);
    Ok(())
}

/// Extracts the surfaces as one mesh.
fn extract(
    input: &VolumeInput,
    arguments: &IsosurfaceArguments,
    (file, path): (WholeFile, &Path),
    options: &Options,
    report: &mut Report,
) -> Result<(), CliError> {
    let phase = Phase::begin("extracting", options.quiet);
    let mut mesh = Mesh::default();
    for &isovalue in &arguments.iso {
        let more = isosurface::extract(&input.volume, &input.macrocells, isovalue)
            .map_err(|source| refused(source, arguments))?;
        let first = mesh.positions.len();
        if u32::try_from(first + more.positions.len()).is_err() {
            return Err(refused(IsosurfaceError::Vertices, arguments));
        }
        mesh.positions.extend(more.positions);
        mesh.normals.extend(more.normals);
        let moved = |corners: [u32; 3]| corners.map(|corner| corner + first as u32);
        mesh.triangles.extend(more.triangles.into_iter().map(moved));
    }
    let time = phase.elapsed();
    drop(phase);
    let phase = Phase::begin("writing", options.quiet);
    let mut writer = BufWriter::new(file);
    let written = mesh.write_ply(&mut writer);
    let written = written.and_then(|()| writer.into_inner().map_err(IntoInnerError::into_error));
    output::finish_file(written, path)?;
    drop(phase);
    report
        .quantity("extracted in", "extract_s", &time)
        .quantity("triangles", "triangles", &Count(mesh.triangles.len()))
        .quantity("vertices", "vertices", &Count(mesh.positions.len()))
        .row("mesh", path.display().to_string())
        .field("mesh", path.display().to_string());
    Ok(())
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

/// Reports on a picture.
fn report_picture(
    arguments: &IsosurfaceArguments,
    rendering: &IsosurfaceRendering,
    path: &Path,
    report: &mut Report,
) {
    let counts = &rendering.counts;
    let time = rendering.time_prepare + rendering.time_trace;
    report
        .quantity("rendered in", "render_s", &time)
        .field("prepare_s", rendering.time_prepare.as_secs_f64())
        .quantity("rays", "rays", &Count(rendering.rays as usize))
        .quantity("hits", "hits", &Count(counts.hits as usize))
        .row(
            "work",
            format!(
                "{} cells, {} roots",
                units::grouped(counts.cells),
                units::grouped(counts.cubics)
            ),
        )
        .field("counts", counts)
        .field("tasks", rendering.tile_count)
        .row(
            "picture",
            format!("{} ({})", path.display(), arguments.view.size),
        )
        .field("picture", path.display().to_string());
}
