//! `raddle render`: renders triangles into a picture.

use std::path::PathBuf;
use std::time::Duration;

use clap::{Args, ValueEnum, ValueHint};
use raddle_graphics::camera::{Setting, View};
use raddle_graphics::kdtree::TESTS_SLOW;
use raddle_graphics::picture;
use raddle_graphics::render_mesh::{self as render, RenderError, RenderOptions, RenderReport};
use serde_json::json;

use crate::arguments::{InputArguments, Options, ViewArguments};
use crate::error::CliError;
use crate::input::{Input, coordinates};
use crate::progress::Phase;
use crate::report::{Object, RanOn, Report};
use crate::{output, units, workers};

pub(super) const EXAMPLES: &str = "\
Examples:
  raddle render bunny.obj -o bunny.png
  raddle render --scene flake -o flake.png --size 1280x720 --samples 16
  raddle render sponza.glb -o hall.png --eye=-10,2,0 --look-at=0,2,0 --fov 70
  raddle render dragon.ply.zst -o dragon.exr --workers 2 --stats

Pictures: .png, .ppm, .exr.";

const EYE_HELP: &str =
    "Position of the camera [default: chosen so that the mesh fills the picture]";
const AT_HELP: &str = "Point that the camera looks at [default: the middle of the mesh]";
const UP_HELP: &str = "Direction that is up [default: that in the file, or 0,0,1 for STL and 0,1,0 \
    for all other formats]";
const FOV_HELP: &str = "Vertical field of view in degrees [default: 32, or 68 inside a building]";
const BACKGROUND_HELP: &str =
    "Colour behind the mesh: #rrggbb, black, white, grey or backdrop [default: backdrop]";

/// `raddle render`.
#[derive(Debug, Clone, Args)]
#[command(
    mut_arg("size", |argument| argument.default_value("1024x768")),
    mut_arg("samples", |argument| argument.default_value("4")),
    mut_arg("eye", |argument| argument.help(EYE_HELP)),
    mut_arg("look_at", |argument| argument.help(AT_HELP)),
    mut_arg("up", |argument| argument.help(UP_HELP)),
    mut_arg("fov", |argument| argument.help(FOV_HELP)),
    mut_arg("background", |argument| argument.help(BACKGROUND_HELP)),
)]
pub(crate) struct RenderArguments {
    #[command(flatten)]
    pub(super) input: InputArguments,
    /// File for the picture; its extension (.png, .ppm or .exr) selects the format
    #[arg(short, long, value_name = "PICTURE", value_hint = ValueHint::FilePath)]
    pub(super) output: PathBuf,
    /// Side from which the mesh is seen [default: inside for rooms, outside for all others]
    #[arg(long, value_name = "SIDE")]
    pub(super) from: Option<Side>,
    #[command(flatten)]
    pub(super) view: ViewArguments,
}

/// The side from which a mesh is seen.
#[derive(Debug, Clone, Copy, ValueEnum)]
pub(super) enum Side {
    /// From outside, as an object
    Outside,
    /// From inside, as a room
    Inside,
}

impl Side {
    fn setting(self) -> Setting {
        match self {
            Self::Outside => Setting::Object,
            Self::Inside => Setting::Room,
        }
    }
}

/// Renders the input of the arguments and writes the picture.
///
/// # Errors
/// [`CliError`]. A path that cannot be written is detected before any work is done.
pub(super) fn run(arguments: &RenderArguments, options: &Options) -> Result<Report, CliError> {
    picture::check_path(&arguments.output)?;
    output::check_apart(&arguments.output, arguments.input.file.as_deref())?;
    let runtime = workers::start(options)?;
    let input = Input::get(&arguments.input, options.quiet)?;
    let view = &arguments.view;
    let given = View {
        setting: arguments.from.map(Side::setting),
        // The default view of a scene may have parallel rays, too.
        is_orthographic: false,
        ..view.view(input.offset)
    };
    // A scene has a view of its own, which only makes sense as a whole.
    let chosen = match arguments.input.scene {
        Some(choice) if given == View::default() => choice.scene.view(),
        _ => View {
            up_default: input.up,
            setting: given.setting.or(input.setting),
            ..given
        },
    };
    let render_options = RenderOptions {
        view: View {
            is_orthographic: view.orthographic,
            ..chosen
        },
        frame: view.frame(input.offset, None),
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
    let given = arguments.view.given();
    match error {
        RenderError::Camera(reason) if !given.is_empty() => CliError::WrongCall {
            options: given,
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
        let samples = arguments.view.samples;
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
                    match arguments.view.orthographic {
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
                    arguments.view.size,
                    units::plural(samples as usize, "sample")
                ),
            )
            .field(
                "picture",
                json!({
                    "file": arguments.output.display().to_string(),
                    "width": arguments.view.size.width,
                    "height": arguments.view.size.height,
                    "samples": samples,
                }),
            )
            .field("write_s", self.write_time.as_secs_f64());
        report
    }
}
