//! `raddle pingpong --nodes`: one message from process to process and back, with each way to
//! receive it.

use std::time::Duration;

use raddle_messages::nodes::{Crew, Receive};

use super::super::crew;
use super::super::kneighbor::check_memory;
use super::latencies::Latencies;
use super::{NODES_LIMIT, overheads, symmetric};
use crate::arguments::{Options, PingpongArguments};
use crate::error::CliError;
use crate::report::{Column, Columns, RanOn, Report, Row};
use crate::units;

/// Measures, and reports. In a process that was started as a node, carries out what the first node
/// asks for, and returns `None`.
///
/// # Errors
/// [`CliError`]: nodes that do not start or end early, or messages that need too much memory.
pub(super) fn run(
    nodes: u16,
    arguments: &PingpongArguments,
    options: &Options,
) -> Result<Option<Report>, CliError> {
    let largest = arguments.bytes.iter().map(|bytes| bytes.0).max();
    let of_times = arguments
        .trips()
        .saturating_mul(size_of::<Duration>() as u64);
    // Each node has a segment, and a second copy while it reads all of it.
    let of_bytes = 4 * largest.unwrap_or_default() as u64;
    check_memory(of_times.saturating_add(of_bytes), || {
        "--bytes and --trips".to_owned()
    })?;
    let Some((crew, plan)) = crew::start(arguments.transport(), nodes, options)? else {
        return Ok(None);
    };
    let measured = if arguments.overheads {
        overheads::report(&crew, arguments)
    } else if arguments.symmetric {
        symmetric::report(&crew, arguments)
    } else {
        report(&crew, arguments)
    };
    let measured = measured.map(|mut report| {
        crew::describe(&crew, &mut report);
        report
    });
    let report = crew::finish(crew, measured)?;
    Ok(Some(report.on(RanOn::Plan(plan))))
}

fn report(crew: &Crew, arguments: &PingpongArguments) -> Result<Report, CliError> {
    let mut table = empty_table();
    for &receive in arguments.receive.all() {
        for bytes in &arguments.bytes {
            let times = crew.rally(receive, bytes.0, arguments.trips(), NODES_LIMIT);
            let times = times.map_err(|source| crew::failed(crew.transport(), source))?;
            table.push(row(receive, bytes.0, &Latencies::of(times)));
        }
    }
    let mut report = Report::new();
    report
        .text(format!(
            "round trips of a message, {}; {}\n\n",
            crew::about(crew),
            crew::receivers(crew.seats().receive_apart())
        ))
        .field("trips", arguments.trips())
        .field("limit_s", NODES_LIMIT.as_secs_f64())
        .list("round_trips", &table);
    Ok(report)
}

fn empty_table() -> Columns {
    let columns = [
        Column::left("receive", 8),
        Column::right("size", 8),
        Column::right("trips", 9),
    ];
    Columns::new(columns.into_iter().chain(Latencies::columns()))
}

/// Creates the row for the measurements of one way to receive and one size.
fn row(receive: Receive, bytes: usize, times: &Latencies) -> Row {
    let mut row = Row::new();
    row.cell(receive.name())
        .field("receive", receive.name())
        .cell(units::bytes(bytes as u64))
        .field("bytes", bytes)
        .cell(units::grouped(times.count()))
        .field("trips", times.count())
        .fields(&times.object());
    times.add_cells(&mut row);
    row
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cells_are_aligned_below_their_headings() {
        let times = Latencies::of([1_500, 512].map(Duration::from_nanos).to_vec());
        let mut table = empty_table();
        table.push(row(Receive::Notify, 3_456, &times));
        let text = table.text();
        let rows: Vec<_> = text.lines().map(|row| row.chars().count()).collect();
        assert_eq!(rows[0], rows[1], "{text}");
        assert!(text.contains("3.46 kB"), "{text}");
    }
}
