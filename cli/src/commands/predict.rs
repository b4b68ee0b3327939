//! `raddle predict`: how long a frame of the distributed ray tracer takes, and what the study asks about it.

mod calibrate;
mod figures;

use raddle_model::units::Nanoseconds;
use raddle_model::{Parameters, Prediction, predict};
use serde_json::{Map, Value, json};

use self::calibrate::Calibration;
use super::model;
use crate::arguments::{Options, PredictArguments};
use crate::error::CliError;
use crate::table::{self, Table};
use crate::{output, schema};

/// Predicts what was asked for, and reports.
///
/// # Errors
/// [`CliError`]: parameters or a question that the model does not hold for, a machine that cannot be measured, an output that fails.
pub(crate) fn run(arguments: &PredictArguments, options: &Options) -> Result<(), CliError> {
    let mut parameters = model::parameters(&arguments.machine)?;
    let mut calibration = None;
    if arguments.calibrate {
        let Some(found) = calibrate::here(&mut parameters, options)? else {
            // A node that was started to measure with, and is through.
            return Ok(());
        };
        calibration = Some(found);
    }
    if let Some(path) = &arguments.calibrate_from {
        calibration = Some(calibrate::from(path, &mut parameters)?);
    }
    let calibration = calibration.unwrap_or_default();
    calibration.warn(options);
    if let Some(path) = &arguments.output {
        output::write_file(path, &calibration.toml(&parameters))?;
    }
    if arguments.show_parameters {
        return show(&parameters, &calibration, options);
    }
    let measured = calibration.json();
    if !arguments.figure.is_empty() {
        return figures::run(arguments, &parameters, measured, options);
    }
    let found = predict(&parameters, &arguments.scenario.one_scenario()?)?;
    if options.json {
        let mut result = head(&parameters);
        result.extend(measured);
        result.extend(schema::object(&found));
        schema::print(result)
    } else if options.quiet {
        Ok(())
    } else {
        output::print(&text_of(&parameters, &found))
    }
}

/// What every answer in JSON begins with.
fn head(parameters: &Parameters) -> Map<String, Value> {
    Map::from_iter([
        ("command".to_owned(), json!("predict")),
        ("parameters".to_owned(), json!(parameters.name)),
    ])
}

/// Prints all parameters.
fn show(
    parameters: &Parameters,
    calibration: &Calibration,
    options: &Options,
) -> Result<(), CliError> {
    if !options.json {
        return output::print(&calibration.toml(parameters));
    }
    let rows = raddle_model::parameters::ALL.iter().map(|parameter| {
        json!({
            "key": parameter.key,
            "value": parameter.written(parameters),
            "expected": parameter.expected(),
            "about": parameter.about,
            "origin": parameters.origin(parameter.key).to_string(),
        })
    });
    let mut result = head(parameters);
    result.extend(calibration.json());
    result.insert("values".to_owned(), rows.collect());
    schema::print(result)
}

/// The quantities in words.
fn text_of(parameters: &Parameters, found: &Prediction) -> String {
    let percent = |share: f64| format!("{:.1} %", 100.0 * share);
    let ns = |time: Nanoseconds| format!("{:.1} ns", time.0);
    let ms = |time: Nanoseconds| format!("{:.4} ms", time.milliseconds());
    let mut rows = Table::default();
    rows.row("mean frame, N_M X", ms(found.mean_frame))
        .row(
            "frame, T_F",
            format!(
                "{}, {} of it waiting for the last node",
                ms(found.frame),
                percent(found.imbalance)
            ),
        )
        .row(
            "misses, N_M",
            format!("{:.2} of each renderer in a frame", found.misses),
        )
        .row("cycle of a renderer, X", ns(found.cycle))
        .row(
            "  rendering, T_r",
            format!(
                "{} alone, {} at the speed S_r {:.6}",
                ns(found.render),
                ns(found.render_shared),
                found.renderer_speed.0
            ),
        )
        .row("  waiting for a miss, T_c", ns(found.miss))
        .row("    on its way, l", ns(found.round_trip))
        .row(
            "handler's work, T_h",
            format!(
                "{} alone, {} at the speed S_h {:.6}",
                ns(found.handle),
                ns(found.handle_shared),
                found.handler_speed.0
            ),
        )
        .row("handler's wait, T_m", ns(found.idle))
        .row("bytes on the wire, b", ns(found.port))
        .row(
            "load of the handler's queue",
            format!(
                "{}, limited by {}",
                percent(found.queue_load),
                if found.service == found.port {
                    "the bytes"
                } else {
                    "its work"
                }
            ),
        )
        .row("load of a link", percent(found.link_load));
    format!(
        "ray tracer on {} {}, {} {} each, by the model of {}\n\n{}",
        table::grouped(found.nodes),
        table::plural(found.nodes as usize, "node"),
        found.renderers,
        table::plural(found.renderers as usize, "renderer"),
        parameters.name,
        rows.text()
    )
}
