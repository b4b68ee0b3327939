//! `raddle render`: from triangles to a picture.

use std::path::Path;
use std::time::{Duration, Instant};

use raddle_graphics::camera::{Setting, View};
use raddle_graphics::kdtree::{KdTree, Parameters};
use raddle_graphics::picture;
use raddle_graphics::render::{self, RenderOptions, RenderReport};
use serde_json::{Map, Value, json};

use crate::arguments::{Options, RenderArguments};
use crate::error::CliError;
use crate::input::Input;
use crate::output;
use crate::progress::Phase;
use crate::table::{self, Table};
use crate::workers;

/// Renders what the arguments name.
///
/// # Errors
/// [`CliError`]; an output that cannot be written is found out before any work is done.
pub(crate) fn run(arguments: &RenderArguments, options: &Options) -> Result<(), CliError> {
    picture::check_path(&arguments.output)?;
    let runtime = workers::start(options)?;
    let input = Input::get(&arguments.input, options.quiet)?;
    let view = View {
        eye: arguments.eye,
        look_at: arguments.look_at,
        up: arguments.up,
        fov_degrees: arguments.fov,
    };
    let render_options = RenderOptions {
        size: (arguments.size.width, arguments.size.height),
        samples: arguments.samples,
        view,
    };
    let made =
        runtime.install(|| make(&input, &render_options, &arguments.output, options.quiet))?;
    if options.json {
        let mut result = made.json(&input, arguments);
        workers::describe(&runtime, options, &mut result);
        output::print(&format!("{}\n", Value::Object(result)))?;
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
}

fn make(
    input: &Input,
    options: &RenderOptions,
    path: &Path,
    quiet: bool,
) -> Result<Made, CliError> {
    let began = Instant::now();
    let tree =
        KdTree::build(&input.mesh, &Parameters::default()).map_err(|source| CliError::Tree {
            input: input.name.clone(),
            source,
        })?;
    let build_time = began.elapsed();
    let phase = Phase::begin("rendering", quiet);
    let rendering = render::render(&input.mesh, &tree, options, |done| {
        phase.one_more_of(done.tile_count);
    })
    .map_err(|source| CliError::Render {
        input: input.name.clone(),
        source,
    })?;
    drop(phase);
    let began = Instant::now();
    rendering.picture.save(path)?;
    Ok(Made {
        report: rendering.report,
        build_time,
        write_time: began.elapsed(),
    })
}

impl Made {
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
            "camera",
            json!({
                "eye": report.camera.eye().to_array(),
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
        insert("memory_peak_bytes", json!(workers::memory_peak_bytes()));
        result
    }

    fn text(&self, input: &Input, arguments: &RenderArguments, worker_count: usize) -> String {
        let report = &self.report;
        let [x, y, z] = report.camera.eye().to_array();
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
                    "{seen_from}, at {x:.4},{y:.4},{z:.4}, field of view {:.0}°",
                    report.camera.fov_degrees()
                ),
            );
        if let Some(peak) = workers::memory_peak_bytes() {
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
