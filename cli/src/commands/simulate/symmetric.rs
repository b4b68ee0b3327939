//! `raddle simulate symmetric`: all nodes compute, ask and answer.

use std::fmt::Write as _;

use raddle_model::simulate::symmetric::{Found, Symmetric};
use raddle_model::simulate::{Layout, Silent, Way};
use serde_json::{Value, json};

use super::{begin_trace, check_memory, counts, finish_trace, head, parameters, report, told_of};
use crate::arguments::{HandlerReceive, Options, SpeedsChoice, SymmetricProgram};
use crate::error::CliError;
use crate::progress::Phase;

/// Simulates it.
///
/// # Errors
/// [`CliError`]: parameters or numbers out of range, an output that fails.
pub(super) fn run(program: &SymmetricProgram, options: &Options) -> Result<(), CliError> {
    let parameters = parameters(&program.run, Some(SpeedsChoice::Measured))?;
    let ways: &[Way] = match program.receive {
        HandlerReceive::Poll => &[Way::Poll],
        HandlerReceive::Notify => &[Way::Notify],
        HandlerReceive::All => &[Way::Poll, Way::Notify],
    };
    if program.run.trace.is_some() && ways.len() > 1 {
        return Err(CliError::WrongCall {
            options: "--trace".to_owned(),
            reason: "it shows one way to receive; expected --receive poll or notify".to_owned(),
        });
    }
    check_memory(
        &Layout::new(program.nodes, program.computing + 1),
        &parameters,
    )?;
    let mut rows = Vec::new();
    let mut left_out = 0;
    for &way in ways {
        let mut what = Symmetric::new(program.nodes, program.computing, program.compute);
        what.way = way;
        what.seed = program.run.seed;
        // No more than the command line takes.
        what.rounds = u32::try_from(program.rounds).unwrap_or(u32::MAX);
        let phase = Phase::begin("simulate", options.quiet);
        let progress = |share: f64| phase.at_share(share as f32);
        let trace = begin_trace(&program.run, Some(program.computing))?;
        let found = match (trace, &program.run.trace) {
            (Some(trace), Some(path)) => {
                let (found, trace) = what.run(&parameters, trace, progress)?;
                left_out = finish_trace(trace, path)?;
                found
            }
            _ => what.run(&parameters, Silent, progress)?.0,
        };
        rows.push((way, found));
    }
    let mut json = head("symmetric", &parameters, &program.run);
    json.insert("nodes".to_owned(), json!(program.nodes));
    json.insert("computing".to_owned(), json!(program.computing));
    json.insert("compute_ns".to_owned(), json!(program.compute));
    json.insert("handlers".to_owned(), rows.iter().map(row).collect());
    let mut text = format!(
        "{} simulated nodes ({}), {} threads each compute for {:.0} ns and ask\n\n{:<9} {:>12} {:>12} {:>8} {:>16}\n",
        program.nodes,
        parameters.name,
        program.computing,
        program.compute.0,
        "handler",
        "round trip",
        "cycle",
        "speed",
        "handler active"
    );
    for (way, found) in &rows {
        let ns = |time: f64| format!("{time:.1} ns");
        // Writing to a string cannot fail.
        let _infallible = writeln!(
            text,
            "{:<9} {:>12} {:>12} {:>8.4} {:>16}",
            name(*way),
            ns(found.round_trip.0),
            ns(found.cycle.0),
            found.speed,
            format!("{:.2} %", 100.0 * found.handler_share)
        );
    }
    report(json, &(text + &told_of(left_out, &program.run)), options)
}

const fn name(way: Way) -> &'static str {
    match way {
        Way::Poll => "polls",
        Way::Notify => "notified",
    }
}

fn row((way, found): &(Way, Found)) -> Value {
    json!({
        "handler": name(*way),
        "round_trip_ns": found.round_trip,
        "cycle_ns": found.cycle,
        "speed": found.speed,
        "handler_share": found.handler_share,
        "counts": counts(&found.counts),
    })
}
