//! `raddle render`: from triangles to a picture.

use std::time::Duration;

use glam::{DVec3, Vec3};
use raddle_graphics::camera::{Setting, View};
use raddle_graphics::kdtree::{KdTree, Parameters, TESTS_SLOW};
use raddle_graphics::picture;
use raddle_graphics::render::{self, RenderError, RenderOptions, RenderReport};
use serde_json::{Map, Value, json};

use crate::arguments::{Options, RenderArguments};
use crate::error::CliError;
use crate::input::{Input, coordinates};
use crate::output;
use crate::progress::Phase;
use crate::table::{self, Table};
use crate::{memory, schema, slow_tree, workers};

/// Renders what the arguments name.
///
/// # Errors
/// [`CliError`]; an output that cannot be written is found out before any work is done.
pub(crate) fn run(arguments: &RenderArguments, options: &Options) -> Result<(), CliError> {
    picture::check_path(&arguments.output)?;
    let runtime = workers::start(options)?;
    let input = Input::get(&arguments.input, options.quiet)?;
    // The mesh is relative to its offset, and so is a view of it.
    let relative = |point: DVec3| (point - input.offset).as_vec3();
    let given = View {
        eye: arguments.eye.map(relative),
        look_at: arguments.look_at.map(relative),
        up: arguments.up,
        fov_degrees: arguments.fov,
        up_default: None,
    };
    // A scene brings a view of its own, which is of use as a whole or not at all.
    let view = match arguments.input.scene {
        Some(choice) if given == View::default() => choice.scene.view(),
        _ => View {
            up_default: input.up,
            ..given
        },
    };
    let render_options = RenderOptions {
        size: (arguments.size.width, arguments.size.height),
        samples: arguments.samples,
        view,
    };
    let made = runtime.install(|| make(&input, &render_options, arguments, options.quiet))?;
    if options.json {
        let mut result = made.json(&input, arguments);
        workers::describe(&runtime, options, &mut result);
        schema::print(result)?;
    } else if !options.quiet {
        output::print(&made.text(&input, arguments, runtime.worker_count()))?;
    }
    workers::print_stats(&runtime, options)
}

/// What there is to say about a finished picture.
struct Made {
    report: RenderReport,
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
    let phase = Phase::begin("building", quiet);
    let built = KdTree::build_with(&input.mesh, &Parameters::default(), |share| {
        phase.at_share(share);
    });
    let build_time = phase.elapsed();
    drop(phase);
    let tree = built.map_err(|source| CliError::Tree {
        input: input.name.clone(),
        source,
    })?;
    let tests_per_ray = tree.tests_per_ray();
    slow_tree::warn(&input.name, tests_per_ray, quiet);
    let phase = Phase::begin("rendering", quiet);
    let rendering = render::render(&input.mesh, &tree, options, |done| {
        phase.one_more_of(done.tile_count);
    })
    .map_err(|source| refused(source, arguments, input))?;
    drop(phase);
    let phase = Phase::begin("writing", quiet);
    rendering.picture.save(&arguments.output)?;
    Ok(Made {
        report: rendering.report,
        build_time,
        write_time: phase.elapsed(),
        tests_per_ray,
    })
}

/// What stands in the way of a picture: the options of the camera where they were given, or else the mesh.
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
    /// Where the camera stands, in the coordinates of the file.
    fn eye(&self, input: &Input) -> DVec3 {
        self.report.camera.eye().as_dvec3() + input.offset
    }

    fn render_time(&self) -> Duration {
        self.report.time_prepare + self.report.time_trace
    }

    fn json(&self, input: &Input, arguments: &RenderArguments) -> Map<String, Value> {
        let mut result = Map::new();
        let mut insert = |name: &str, value: Value| result.insert(name.to_owned(), value);
        let report = &self.report;
        insert("command", json!("render"));
        insert("input", input.json.clone());
        insert("build_s", json!(self.build_time.as_secs_f64()));
        insert("render_s", json!(self.render_time().as_secs_f64()));
        insert("write_s", json!(self.write_time.as_secs_f64()));
        insert(
            "rays",
            json!({
                "primary": report.rays_primary,
                "hit": report.rays_hit,
                "shadow": report.rays_shadow,
                "per_second": report.rays_per_second(),
            }),
        );
        insert(
            "tree",
            json!({
                "tests_per_ray": self.tests_per_ray,
                "is_slow": self.tests_per_ray > TESTS_SLOW,
            }),
        );
        insert(
            "camera",
            json!({
                "eye": self.eye(input).to_array(),
                "forward": report.camera.axes()[0].to_array(),
                "fov_degrees": report.camera.fov_degrees(),
                "setting": report.setting,
            }),
        );
        insert(
            "picture",
            json!({
                "file": arguments.output.display().to_string(),
                "width": arguments.size.width,
                "height": arguments.size.height,
                "samples": arguments.samples,
            }),
        );
        insert("memory_peak_bytes", json!(memory::peak_bytes()));
        result
    }

    fn text(&self, input: &Input, arguments: &RenderArguments, worker_count: usize) -> String {
        let report = &self.report;
        let eye = coordinates(self.eye(input));
        let seen_from = match report.setting {
            Setting::Room => "inside",
            Setting::Object => "outside",
        };
        let mut table = Table::default();
        input.describe(&mut table);
        table
            .row(
                "tree built in",
                format!(
                    "{} by {worker_count} {}",
                    table::time(self.build_time),
                    table::plural(worker_count, "worker")
                ),
            )
            .row(
                "rendered in",
                format!(
                    "{}, {:.2} million rays a second",
                    table::time(self.render_time()),
                    report.rays_per_second() / 1e6
                ),
            )
            .row(
                "camera",
                format!(
                    "{seen_from}, at {eye}, field of view {:.0}°",
                    report.camera.fov_degrees()
                ),
            );
        if let Some(peak) = memory::peak_bytes() {
            table.row("memory peak", table::bytes(peak));
        }
        table.row(
            "picture",
            format!(
                "{} ({}, {} {} a pixel)",
                arguments.output.display(),
                arguments.size,
                arguments.samples,
                table::plural(arguments.samples as usize, "sample")
            ),
        );
        table.text()
    }
}
