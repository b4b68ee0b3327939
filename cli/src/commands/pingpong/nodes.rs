//! `raddle pingpong --nodes`: one message from process to process and back, with each way to
//! receive it.

use std::time::Duration;

use raddle_messages::nodes::{NodeGroup, Receive};

use super::super::kneighbor::check_memory;
use super::super::node_group;
use super::arguments::PingpongArguments;
use super::latencies::Latencies;
use super::{NODES_LIMIT, overheads, symmetric};
use crate::arguments::Options;
use crate::error::CliError;
use crate::report::{ByteCount, Column, Columns, Count, Plain, RanOn, Report, Row};

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
    let Some((group, plan)) = node_group::start(arguments.transport(), nodes, options)? else {
        return Ok(None);
    };
    let measured = if arguments.overheads {
        overheads::report(&group, arguments)
    } else if arguments.symmetric {
        symmetric::report(&group, arguments)
    } else {
        report(&group, arguments)
    };
    let measured = measured.map(|mut report| {
        node_group::describe(&group, &mut report);
        report
    });
    let report = node_group::finish(group, measured)?;
    Ok(Some(report.on(RanOn::Plan(plan))))
}

fn report(group: &NodeGroup, arguments: &PingpongArguments) -> Result<Report, CliError> {
    let mut table = empty_table();
    for &receive in arguments.receive.all() {
        for bytes in &arguments.bytes {
            let times = group.trip_times(receive, bytes.0, arguments.trips(), NODES_LIMIT);
            let times = times.map_err(|source| node_group::failed(group.transport(), source))?;
            table.push(row(receive, bytes.0, &Latencies::of(times)));
        }
    }
    let mut report = Report::new();
    report
        .text(format!(
            "round trips of a message, {}; {}\n\n",
            node_group::about(group),
            node_group::receivers(group.cpus().receive_apart())
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
    row.quantity("receive", &Plain(receive.name()))
        .quantity("bytes", &ByteCount(bytes as u64))
        .quantity("trips", &Count(times.count()))
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
