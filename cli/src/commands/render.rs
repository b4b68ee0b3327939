//! `raddle render`: renders triangles into a picture.

use std::path::PathBuf;
use std::time::Duration;

use clap::{Args, ValueHint};
use glam::{DVec3, Vec3};
use raddle_graphics::camera::{Setting, View};
use raddle_graphics::kdtree::TESTS_SLOW;
use raddle_graphics::picture;
use raddle_graphics::render_mesh::{self as render, RenderError, RenderOptions, RenderReport};
use serde_json::json;

use crate::arguments::values::{self, Clip, Size};
use crate::arguments::{InputArguments, Options};
use crate::error::CliError;
use crate::input::{Input, coordinates};
use crate::progress::Phase;
use crate::report::{Object, RanOn, Report};
use crate::{units, workers};

pub(super) const EXAMPLES: &str = "\
Examples:
  raddle render bunny.obj -o bunny.png
  raddle render --scene flake -o flake.png --size 1280x720 --samples 16
  raddle render sponza.glb -o hall.png --eye=-10,2,0 --look-at=0,2,0 --fov 70
  raddle render dragon.ply.zst -o dragon.exr --workers 2 --stats

Pictures: .png, .ppm, .exr.";

/// `raddle render`.
#[derive(Debug, Clone, Args)]
pub(crate) struct RenderArguments {
    #[command(flatten)]
    pub(super) input: InputArguments,
    /// File for the picture; its extension (.png, .ppm or .exr) selects the format
    #[arg(short, long, value_name = "PICTURE", value_hint = ValueHint::FilePath)]
    pub(super) output: PathBuf,
    /// Width and height in pixels
    #[arg(long, value_name = "WxH", default_value = "1024x768")]
    pub(super) size: Size,
    /// Samples per pixel
    #[arg(long, value_name = "N", default_value_t = 4)]
    #[arg(value_parser = clap::value_parser!(u32).range(1..=65_536))]
    pub(super) samples: u32,
    /// Position of the camera [default: chosen so that the mesh fills the picture]
    #[arg(long, value_name = "X,Y,Z", value_parser = values::vector, allow_hyphen_values = true)]
    pub(super) eye: Option<DVec3>,
    /// Point that the camera looks at [default: the middle of the mesh]
    #[arg(long, value_name = "X,Y,Z", value_parser = values::vector, allow_hyphen_values = true)]
    pub(super) look_at: Option<DVec3>,
    /// Direction that is up [default: 0,0,1 for STL, 0,1,0 for all other formats]
    #[arg(long, value_name = "X,Y,Z", value_parser = values::direction)]
    #[arg(allow_hyphen_values = true)]
    pub(super) up: Option<Vec3>,
    /// Vertical field of view in degrees [default: 32, or 68 inside a building]
    #[arg(long, value_name = "DEGREES", value_parser = values::field_of_view)]
    pub(super) fov: Option<f32>,
    /// Parallel rays: the size of a part does not depend on its distance
    #[arg(long)]
    pub(super) orthographic: bool,
    /// Show only a part: the smallest and the largest x, y and z
    #[arg(long, value_name = "X0,X1,Y0,Y1,Z0,Z1", value_parser = values::clip)]
    #[arg(allow_hyphen_values = true)]
    pub(super) clip: Option<Clip>,
}

/// Renders the input of the arguments and writes the picture.
///
/// # Errors
/// [`CliError`]. A path that cannot be written is detected before any work is done.
pub(super) fn run(arguments: &RenderArguments, options: &Options) -> Result<Report, CliError> {
    picture::check_path(&arguments.output)?;
    let runtime = workers::start(options)?;
    let input = Input::get(&arguments.input, options.quiet)?;
    // The mesh is relative to its offset, so the view has to be relative to it too.
    let relative = |point: DVec3| (point - input.offset).as_vec3();
    let given = View {
        eye: arguments.eye.map(relative),
        look_at: arguments.look_at.map(relative),
        up: arguments.up,
        fov_degrees: arguments.fov,
        up_default: None,
        is_orthographic: false,
    };
    // A scene has a view of its own, which only makes sense as a whole.
    let view = match arguments.input.scene {
        Some(choice) if given == View::default() => choice.scene.view(),
        _ => View {
            up_default: input.up,
            ..given
        },
    };
    let view = View {
        is_orthographic: arguments.orthographic,
        ..view
    };
    let render_options = RenderOptions {
        size: (arguments.size.width, arguments.size.height),
        samples: arguments.samples,
        view,
        clip: arguments.clip.map(|clip| clip.moved_by(-input.offset)),
    };
    let made = runtime.install(|| make(&input, &render_options, arguments, options.quiet))?;
    let report = made.report(&input, arguments, runtime.worker_count());
    Ok(report.on(RanOn::Workers(runtime)))
}

/// The measurements of a finished picture.
struct Made {
    rendered: RenderReport,
    build_time: Duration,
    write_time: Duration,
    tests_per_ray: f64,
}

fn make(
    input: &Input,
    options: &RenderOptions,
    arguments: &RenderArguments,
    quiet: bool,
) -> Result<Made, CliError> {
    let (tree, build_time) = input.tree(quiet)?;
    let tests_per_ray = tree.tests_per_ray();
    let phase = Phase::begin("rendering", quiet);
    let rendering = render::render(&input.mesh, &tree, options, |done| {
        phase.one_more_of(done.tile_count);
    })
    .map_err(|source| refused(source, arguments, input))?;
    drop(phase);
    let phase = Phase::begin("writing", quiet);
    rendering.picture.save(&arguments.output)?;
    Ok(Made {
        rendered: rendering.report,
        build_time,
        write_time: phase.elapsed(),
        tests_per_ray,
    })
}

/// Converts an error of rendering. If options for the camera were given, they are named; otherwise
/// the mesh is.
fn refused(error: RenderError, arguments: &RenderArguments, input: &Input) -> CliError {
    let vector = |name: &str, value: Option<DVec3>| {
        value.map(|DVec3 { x, y, z }| format!("--{name}={x},{y},{z}"))
    };
    let given: Vec<String> = [
        vector("eye", arguments.eye),
        vector("look-at", arguments.look_at),
        arguments
            .up
            .map(|Vec3 { x, y, z }| format!("--up={x},{y},{z}")),
        arguments.fov.map(|degrees| format!("--fov {degrees}")),
    ]
    .into_iter()
    .flatten()
    .collect();
    match error {
        RenderError::Camera(reason) if !given.is_empty() => CliError::WrongCall {
            options: given.join(" "),
            reason: reason.moved_by(input.offset).to_string(),
        },
        source => CliError::Render {
            input: input.name.clone(),
            source,
        },
    }
}

impl Made {
    fn report(&self, input: &Input, arguments: &RenderArguments, workers: usize) -> Report {
        let rendered = &self.rendered;
        let camera = &rendered.camera;
        // The position in the coordinates of the file.
        let eye = camera.eye().as_dvec3() + input.offset;
        let render_time = rendered.time_prepare + rendered.time_trace;
        let seen_from = match rendered.setting == Setting::Object {
            true => "outside",
            false => "inside",
        };
        let by = format!("{workers} {}", units::plural(workers, "worker"));
        let rays_per_second = rendered.rays_per_second();
        let samples = arguments.samples;
        let mut report = Report::new();
        report
            .section("input", &input.facts)
            .row(
                "tree built in",
                format!("{} by {by}", units::time(self.build_time)),
            )
            .field("build_s", self.build_time.as_secs_f64())
            .field(
                "tree",
                json!({
                    "tests_per_ray": self.tests_per_ray,
                    "is_slow": self.tests_per_ray > TESTS_SLOW,
                }),
            )
            .row(
                "rendered in",
                format!(
                    "{}, {:.2} million rays per second",
                    units::time(render_time),
                    rays_per_second / 1e6
                ),
            )
            .field("render_s", render_time.as_secs_f64())
            .field(
                "rays",
                json!({
                    "primary": rendered.rays_primary,
                    "hit": rendered.rays_hit,
                    "shadow": rendered.rays_shadow,
                    "per_second": rays_per_second,
                }),
            )
            .row(
                "camera",
                format!(
                    "{seen_from}, at {}, {}",
                    coordinates(eye),
                    match arguments.orthographic {
                        true => "parallel rays".to_owned(),
                        false => format!("field of view {:.0}°", camera.fov_degrees()),
                    }
                ),
            )
            .field(
                "camera",
                Object::new()
                    .field("eye", eye.to_array())
                    .field("forward", camera.axes()[0].to_array())
                    .field("fov_degrees", camera.fov_degrees())
                    .field("setting", rendered.setting),
            )
            .memory_peak()
            .row(
                "picture",
                format!(
                    "{} ({}, {samples} {} per pixel)",
                    arguments.output.display(),
                    arguments.size,
                    units::plural(samples as usize, "sample")
                ),
            )
            .field(
                "picture",
                json!({
                    "file": arguments.output.display().to_string(),
                    "width": arguments.size.width,
                    "height": arguments.size.height,
                    "samples": samples,
                }),
            )
            .field("write_s", self.write_time.as_secs_f64());
        report
    }
}
