//! `raddle predict`: the frame time of the distributed ray tracer, and the questions of the study
//! about it.

mod arguments;
mod calibrate;
mod figures;

use raddle_model::units::Nanoseconds;
use raddle_model::{Parameters, Prediction, predict};
use serde_json::{Value, json};

pub(super) use self::arguments::{EXAMPLES, PredictArguments};

use self::calibrate::Calibration;
use super::model;
use crate::arguments::Options;
use crate::error::CliError;
use crate::output;
use crate::report::{RanOn, Report};
use crate::units;

/// Predicts, and reports. Returns `None` in a process that was started as a node to measure with.
///
/// # Errors
/// [`CliError`]: parameters or a question for which the model is not valid, a machine that cannot
/// be measured, or a file that cannot be written.
pub(super) fn run(
    arguments: &PredictArguments,
    options: &Options,
) -> Result<Option<Report>, CliError> {
    let mut parameters = model::parameters(&arguments.machine)?;
    let mut calibration = Calibration::default();
    if arguments.calibrate {
        let Some(found) = calibrate::here(&mut parameters, options)? else {
            // This process was started as a node, and has finished.
            return Ok(None);
        };
        calibration = found;
    }
    if let Some(path) = &arguments.calibrate_from {
        calibration = calibrate::from(path, &mut parameters)?;
    }
    calibration.warn(options);
    if let Some(path) = &arguments.output {
        output::write_file(path, &calibration.toml(&parameters))?;
    }
    let mut report = Report::new();
    report.field("parameters", &parameters.name);
    if let Some(measured) = calibration.measured() {
        report.field("measured", measured);
    }
    if arguments.show_parameters {
        show(&parameters, &calibration, &mut report);
    } else if arguments.figure.is_empty() {
        let scenario = arguments.scenario.one_scenario()?;
        let mut found = predict(&parameters, &scenario)?;
        found.supervisor = found.supervisor.with_saturation(&parameters, &scenario)?;
        if found.supervisor.link_load > 1.0 && !options.quiet {
            output::warn(&format!(
                "the supervisor's link carries at most {:.0} frames/s, of the {:.0} that are \
                 predicted without it",
                found.supervisor.frames_max,
                1e9 / found.frame.0
            ));
        }
        describe(&parameters, &found, &mut report);
    } else {
        figures::answer(arguments, &parameters, &mut report)?;
    }
    let ran_on = calibration.plan.map_or(RanOn::Nothing, RanOn::Plan);
    Ok(Some(report.on(ran_on)))
}

/// Reports all parameters.
fn show(parameters: &Parameters, calibration: &Calibration, report: &mut Report) {
    let rows = raddle_model::parameters::ALL.iter().map(|parameter| {
        json!({
            "key": parameter.key,
            "value": parameter.written(parameters),
            "expected": parameter.expected(),
            "about": parameter.about,
            "origin": parameters.origin(parameter.key).to_string(),
        })
    });
    report
        .requested(&calibration.toml(parameters))
        .field("values", rows.collect::<Value>());
}

/// Describes the number of nodes from which on the supervisor's link is saturated.
fn saturation(found: &Prediction) -> String {
    match found.supervisor.saturated_nodes {
        Some(nodes) => {
            let renderers = units::counted(found.renderers as usize, "renderer");
            format!(", saturated from {nodes} nodes with {renderers} on")
        }
        None => String::new(),
    }
}

/// Reports the predicted quantities.
fn describe(parameters: &Parameters, found: &Prediction, report: &mut Report) {
    let percent = |share: f64| format!("{:.1} %", 100.0 * share);
    let ns = |time: Nanoseconds| format!("{:.1} ns", time.0);
    let ms = |time: Nanoseconds| format!("{:.4} ms", time.milliseconds());
    let limit = match found.service == found.port {
        true => "the bytes",
        false => "its work",
    };
    report
        .fields(found)
        .text(format!(
            "ray tracer on {}, {} {} each, by the model of {}\n\n",
            units::counted(found.nodes as usize, "node"),
            found.renderers,
            units::plural(found.renderers as usize, "renderer"),
            parameters.name,
        ))
        .row("mean frame, N_M X", ms(found.mean_frame))
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
            format!("{:.2} per renderer and frame", found.misses),
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
            format!("{}, limited by {limit}", percent(found.queue_load)),
        )
        .row("load of a link", percent(found.link_load))
        .row(
            "load of the supervisor's link",
            format!(
                "{}{}",
                percent(found.supervisor.link_load),
                saturation(found)
            ),
        );
}
