//! `raddle simulate tracer`: the distributed ray tracer, compared with the prediction of the model.

use std::time::Instant;

use raddle_model::simulate::tracer::{Found, Supervised, Tracer};
use raddle_model::simulate::{Layout, Silent};
use raddle_model::{Prediction, predict};
use serde_json::json;

use super::arguments::TracerProgram;
use super::{begin_report, begin_trace, check_memory, counts, finish_trace, parameters, tiles};
use crate::arguments::Options;
use crate::error::CliError;
use crate::output;
use crate::progress::Phase;
use crate::report::{Column, Columns, Report, Row};
use crate::units;

/// The share of time from which on a link counts as full.
const LINK_FULL: f64 = 0.95;

/// Simulates the ray tracer, and reports.
///
/// # Errors
/// [`CliError`]: impossible parameters, an impossible scenario, or a timeline that cannot be
/// written.
pub(super) fn run(program: &TracerProgram, options: &Options) -> Result<Report, CliError> {
    let parameters = parameters(&program.run, None)?;
    let scenario = program.scenario.one_scenario()?;
    let mut simulation = Tracer::new(scenario, program.frames, program.run.seed);
    simulation.work = program.work;
    simulation.injects = !program.no_injection;
    simulation.meets = !program.steady;
    if program.supervisor {
        let mut supervised = match &program.tiles {
            Some(path) => tiles::read(path)?,
            None => Supervised::default(),
        };
        supervised.ahead = program.ahead;
        simulation.supervised = Some(supervised);
    }
    check_memory(
        &Layout::new(scenario.nodes, scenario.renderers + 1),
        &parameters,
    )?;
    // The model may not be valid for a scenario that can be simulated, for example if a handler
    // receives more requests than it can serve.
    let predicted = predict(&parameters, &scenario);
    let phase = Phase::begin("simulate", options.quiet);
    let progress = |share: f64| phase.at_share(share as f32);
    let trace = begin_trace(&program.run, Some(scenario.renderers))?;
    let began = Instant::now();
    let found = match (trace, &program.run.trace) {
        (Some(trace), Some(path)) => {
            let (found, trace) = simulation.run(&parameters, trace, progress)?;
            finish_trace(trace, path)?;
            found
        }
        _ => simulation.run(&parameters, Silent, progress)?.0,
    };
    let took = began.elapsed();
    drop(phase);
    let events_per_s = found.counts.events as f64 / took.as_secs_f64().max(1e-9);
    let mut report = begin_report("tracer", &parameters, &program.run);
    report
        .text(format!(
            "ray tracer on {} simulated nodes, {} {} each ({}), {} {}, seed {}\n\n",
            units::grouped(found.nodes),
            found.renderers,
            units::plural(found.renderers as usize, "renderer"),
            parameters.name,
            program.frames,
            units::plural(program.frames as usize, "frame"),
            program.run.seed,
        ))
        .fields(&found)
        .field("frames", program.frames)
        .text(comparison(&found, predicted.as_ref().ok()).text());
    match &predicted {
        Ok(predicted) => report.field("predicted", predicted),
        Err(error) => report
            .text(format!("\nnot predicted: {error}\n"))
            .field("predicted", json!({ "error": error.to_string() })),
    };
    if let Some(supervisor) = &found.supervisor {
        report.text(format!(
            "\nsupervisor: {} tiles per frame; its link is busy {:.1} % of the time, its thread \
             {:.1} %; renderers wait for tiles {:.1} %\n",
            units::grouped(supervisor.tiles),
            100.0 * supervisor.link,
            100.0 * supervisor.work,
            100.0 * supervisor.imbalance,
        ));
        if supervisor.link > LINK_FULL && !options.quiet {
            output::warn(&format!(
                "the supervisor's link is full: it carries {:.0} frames/s, and more nodes do not \
                 make frames faster",
                1e9 / found.frame.0
            ));
        }
    }
    report
        .text(format!(
            "\nlinks busy: out {:.1} %, in {:.1} % of the time\n{} events in {}, {} per second\n",
            100.0 * found.link_out,
            100.0 * found.link_in,
            units::grouped(found.counts.events),
            units::time(took),
            units::large(events_per_s)
        ))
        .field("counts", counts(&found.counts))
        .field("took_s", took.as_secs_f64())
        .field("events_per_s", events_per_s);
    Ok(report)
}

/// Compares the simulated with the predicted quantities. The last column is the relative
/// difference.
fn comparison(found: &Found, predicted: Option<&Prediction>) -> Columns {
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
    let mut table = Columns::new([
        Column::left("", 28),
        Column::right("simulated", 12),
        Column::right("predicted", 12),
        Column::right("", 9),
    ]);
    for (name, simulated, quantity, digits) in rows {
        let mut row = Row::new();
        row.cell(name).cell(format!("{simulated:.digits$}"));
        if let Some(predicted) = predicted {
            let predicted = quantity(predicted);
            let off = 100.0 * (predicted / simulated - 1.0);
            row.cell(format!("{predicted:.digits$}"))
                .cell(format!("{off:+.2} %"));
        }
        table.push(row);
    }
    table
}
