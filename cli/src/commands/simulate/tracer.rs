//! `raddle simulate tracer`: the distributed ray tracer, beside what the model says of it.

use std::time::{Duration, Instant};

use raddle_model::simulate::tracer::{Found, Tracer};
use raddle_model::simulate::{Layout, Silent};
use raddle_model::{ModelError, Parameters, Prediction, predict};
use serde_json::{Value, json};

use super::{begin_trace, check_memory, counts, finish_trace, head, parameters, report, told_of};
use crate::arguments::{Options, TracerProgram};
use crate::error::CliError;
use crate::progress::Phase;
use crate::{schema, table};

/// Simulates it.
///
/// # Errors
/// [`CliError`]: parameters or a scenario that make no sense, an output that fails.
pub(super) fn run(program: &TracerProgram, options: &Options) -> Result<(), CliError> {
    let parameters = parameters(&program.run, None)?;
    let scenario = program.scenario.one_scenario()?;
    let mut what = Tracer::new(scenario, program.frames, program.run.seed);
    what.work = program.work;
    what.injects = !program.no_injection;
    what.meets = !program.steady;
    check_memory(
        &Layout::new(scenario.nodes, scenario.renderers + 1),
        &parameters,
    )?;
    // What can be simulated need not be predictable, such as a handler that is asked for more than it serves.
    let predicted = predict(&parameters, &scenario);
    let phase = Phase::begin("simulate", options.quiet);
    let progress = |share: f64| phase.at_share(share as f32);
    let trace = begin_trace(&program.run, Some(scenario.renderers))?;
    let began = Instant::now();
    let mut left_out = 0;
    let found = match (trace, &program.run.trace) {
        (Some(trace), Some(path)) => {
            let (found, trace) = what.run(&parameters, trace, progress)?;
            left_out = finish_trace(trace, path)?;
            found
        }
        _ => what.run(&parameters, Silent, progress)?.0,
    };
    let took = began.elapsed();
    drop(phase);
    let mut json = head("tracer", &parameters, &program.run);
    json.insert("frames".to_owned(), json!(program.frames));
    json.extend(schema::object(&found));
    json.insert("counts".to_owned(), counts(&found.counts));
    json.insert("took_s".to_owned(), json!(took.as_secs_f64()));
    json.insert("events_per_s".to_owned(), json!(rate(&found, took)));
    let told = match &predicted {
        Ok(predicted) => Value::Object(schema::object(predicted)),
        Err(error) => json!({ "error": error.to_string() }),
    };
    json.insert("predicted".to_owned(), told);
    let text = text_of(&parameters, program, &found, &predicted, took);
    report(json, &(text + &told_of(left_out, &program.run)), options)
}

fn rate(found: &Found, took: Duration) -> f64 {
    found.counts.events as f64 / took.as_secs_f64().max(1e-9)
}

/// Simulated and predicted quantities beside each other.
fn text_of(
    parameters: &Parameters,
    program: &TracerProgram,
    found: &Found,
    predicted: &Result<Prediction, ModelError>,
    took: Duration,
) -> String {
    type Quantity = fn(&Prediction) -> f64;
    let rows: [(&str, f64, Quantity, usize); 7] = [
        (
            "mean frame, ms",
            found.mean_frame.milliseconds(),
            |it| it.mean_frame.milliseconds(),
            4,
        ),
        (
            "frame, ms",
            found.frame.milliseconds(),
            |it| it.frame.milliseconds(),
            4,
        ),
        (
            "cycle of a renderer, X, ns",
            found.cycle.0,
            |it| it.cycle.0,
            1,
        ),
        (
            "waiting for a miss, T_c, ns",
            found.miss.0,
            |it| it.miss.0,
            1,
        ),
        (
            "speed of a renderer, S_r",
            found.renderer_speed,
            |it| it.renderer_speed.0,
            4,
        ),
        (
            "speed of a handler, S_h",
            found.handler_speed,
            |it| it.handler_speed.0,
            4,
        ),
        (
            "handler runs, share of time",
            found.handler_share(),
            |it| it.with_handler.iter().sum(),
            4,
        ),
    ];
    let mut text = format!(
        "ray tracer on {} simulated nodes, {} {} each ({}), {} {}, seed {}\n\n{:<28} {:>12} {:>12} {:>9}\n",
        table::grouped(found.nodes),
        found.renderers,
        table::plural(found.renderers as usize, "renderer"),
        parameters.name,
        program.frames,
        table::plural(program.frames as usize, "frame"),
        program.run.seed,
        "",
        "simulated",
        "predicted",
        ""
    );
    for (name, simulated, quantity, digits) in rows {
        text += &format!("{name:<28} {simulated:>12.digits$}");
        if let Ok(predicted) = predicted {
            let predicted = quantity(predicted);
            let off = 100.0 * (predicted / simulated - 1.0);
            text += &format!(" {predicted:>12.digits$} {off:>+7.2} %");
        }
        text.push('\n');
    }
    if let Err(error) = predicted {
        text += &format!("\nnot predicted: {error}\n");
    }
    text += &format!(
        "\nlinks busy: out {:.1} %, in {:.1} % of the time\n{} events in {}, {} a second\n",
        100.0 * found.link_out,
        100.0 * found.link_in,
        table::grouped(found.counts.events),
        table::time(took),
        table::large(rate(found, took))
    );
    text
}
