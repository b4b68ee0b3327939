//! `raddle simulate symmetric`: all nodes compute, send requests and answer them.

use raddle_model::simulate::symmetric::{Found, Symmetric};
use raddle_model::simulate::{Layout, Silent, Way};

use super::arguments::{HandlerReceive, SpeedsChoice, SymmetricProgram};
use super::{begin_report, begin_trace, check_memory, counts, finish_trace, parameters};
use crate::arguments::Options;
use crate::error::CliError;
use crate::progress::Phase;
use crate::report::{Column, Columns, Decimal, Plain, Report, Row};

/// Simulates the nodes with each way in which handlers receive messages, and reports.
///
/// # Errors
/// [`CliError`]: parameters or numbers out of range, or a timeline that cannot be written.
pub(super) fn run(program: &SymmetricProgram, options: &Options) -> Result<Report, CliError> {
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
    let mut table = Columns::new([
        Column::left("handler", 9),
        Column::right("round trip", 12),
        Column::right("cycle", 12),
        Column::right("speed", 8),
        Column::right("handler active", 16),
    ]);
    for &way in ways {
        let mut simulation = Symmetric::new(program.nodes, program.computing, program.compute);
        simulation.way = way;
        simulation.seed = program.run.seed;
        // The command line does not accept more.
        simulation.rounds = u32::try_from(program.rounds).unwrap_or(u32::MAX);
        let phase = Phase::begin("simulate", options.quiet);
        let progress = |share: f64| phase.at_share(share as f32);
        let trace = begin_trace(&program.run, Some(program.computing))?;
        let found = match (trace, &program.run.trace) {
            (Some(trace), Some(path)) => {
                let (found, trace) = simulation.run(&parameters, trace, progress)?;
                finish_trace(trace, path)?;
                found
            }
            _ => simulation.run(&parameters, Silent, progress)?.0,
        };
        table.push(row(way, &found));
    }
    let mut report = begin_report("symmetric", &parameters, &program.run);
    report
        .text(format!(
            "{} simulated nodes ({}), {} threads each compute for {:.0} ns and ask\n\n",
            program.nodes, parameters.name, program.computing, program.compute.0,
        ))
        .field("nodes", program.nodes)
        .field("computing", program.computing)
        .field("compute_ns", program.compute)
        .list("handlers", &table);
    Ok(report)
}

/// Creates the row for the measurements of one way in which handlers receive messages.
fn row(way: Way, found: &Found) -> Row {
    let name = match way {
        Way::Poll => "polls",
        Way::Notify => "notified",
    };
    let mut row = Row::new();
    row.quantity("handler", &Plain(name))
        .quantity("round_trip_ns", &found.round_trip)
        .quantity("cycle_ns", &found.cycle)
        .quantity("speed", &Decimal::new(found.speed, 4))
        .quantity("handler_share", &Decimal::percent(found.handler_share, 2))
        .field("counts", counts(&found.counts));
    row
}
