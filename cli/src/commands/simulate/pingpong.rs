//! `raddle simulate pingpong`: a message there and back.

use raddle_model::simulate::Silent;
use raddle_model::simulate::pingpong::{Found, PingPong, Receive};

use super::arguments::{PingpongProgram, SpeedsChoice};
use super::{begin_report, begin_trace, counts, finish_trace, parameters};
use crate::error::CliError;
use crate::report::{Column, Columns, Plain, Report, Row};
use crate::units;

/// Simulates round trips with each way to receive, and reports.
///
/// # Errors
/// [`CliError`]: parameters or a size out of range, or a timeline that cannot be written.
pub(super) fn run(program: &PingpongProgram) -> Result<Report, CliError> {
    let parameters = parameters(&program.run, Some(SpeedsChoice::Measured))?;
    let ways = program.receive.all_simulated();
    if program.run.trace.is_some() && ways.len() > 1 {
        return Err(CliError::WrongCall {
            options: "--trace".to_owned(),
            reason: "it shows one way to receive; expected --receive poll, notify or thread"
                .to_owned(),
        });
    }
    let mut table = Columns::new([
        Column::left("receive", 8),
        Column::right("mean", 12),
        Column::right("min", 12),
        Column::right("max", 12),
    ]);
    for &receive in ways {
        // The command line does not accept more.
        let trips = u32::try_from(program.trips).unwrap_or(u32::MAX);
        let mut simulation = PingPong::new(receive, trips, program.run.seed);
        simulation.data_bytes = program.bytes;
        simulation.is_inline = program.inline;
        let handler = (receive == Receive::Thread).then_some(1);
        let found = match (begin_trace(&program.run, handler)?, &program.run.trace) {
            (Some(trace), Some(path)) => {
                let (found, trace) = simulation.run(&parameters, trace)?;
                finish_trace(trace, path)?;
                found
            }
            _ => simulation.run(&parameters, Silent)?.0,
        };
        table.push(row(receive, &found));
    }
    let mut report = begin_report("pingpong", &parameters, &program.run);
    report
        .text(format!(
            "round trips of {} on simulated nodes ({}), {} each\n\n",
            units::bytes(program.bytes.into()),
            parameters.name,
            units::grouped(program.trips),
        ))
        .field("bytes", program.bytes)
        .field("trips", program.trips)
        .list("round_trips", &table);
    Ok(report)
}

/// Creates the row for the measurements of one way to receive.
fn row(receive: Receive, found: &Found) -> Row {
    let mut row = Row::new();
    row.quantity("receive", &Plain(receive.name()))
        .quantity("mean_ns", &found.mean)
        .quantity("min_ns", &found.min)
        .quantity("max_ns", &found.max)
        .field("counts", counts(&found.counts));
    row
}
