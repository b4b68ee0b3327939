//! `raddle pingpong`: one message, there and back, and its time.

mod arguments;
mod latencies;
mod nodes;
mod overheads;
mod symmetric;
mod waits;

use std::time::Duration;

use raddle_messages::pingpong::{Layer, PingPong};

pub(super) use self::arguments::{EXAMPLES, PingpongArguments};

use self::arguments::LayerChoice;
use self::latencies::Latencies;
use super::kneighbor::check_memory;
use crate::arguments::Options;
use crate::error::CliError;
use crate::report::{ByteCount, Column, Columns, Plain, RanOn, Report, Row};
use crate::{units, workers};

/// The longest time of the measurement of a row between nodes.
const NODES_LIMIT: Duration = Duration::from_secs(2);

/// Makes the round trips, and reports. Returns `None` in a process that was started as a node.
///
/// # Errors
/// [`CliError`]: messages that need too much memory, a chare that failed, or a way to wait that the
/// machine does not have.
pub(super) fn run(
    arguments: &PingpongArguments,
    options: &Options,
) -> Result<Option<Report>, CliError> {
    let arguments = &arguments.clone().or_environment(options)?;
    if let Some(wait) = arguments.wait {
        return waits::run(wait, arguments, options).map(Some);
    }
    if let Some(count) = arguments.nodes {
        return nodes::run(count, arguments, options);
    }
    let runtime = workers::start(options)?;
    let layers = match arguments.layer {
        LayerChoice::Array => &[Layer::Array][..],
        LayerChoice::Chare => &[Layer::Chare],
        LayerChoice::Post => &[Layer::Post],
        LayerChoice::All => &Layer::ALL,
    };
    let largest = arguments.bytes.iter().map(|bytes| bytes.0).max();
    let times_bytes = arguments
        .trips()
        .saturating_mul(2 * size_of::<Duration>() as u64);
    let needed = times_bytes.saturating_add(largest.unwrap_or_default() as u64);
    check_memory(needed, || "--bytes and --trips".to_owned())?;
    let mut table = empty_table();
    for &layer in layers {
        for &bytes in &arguments.bytes {
            let sides = PingPong::new(&runtime, layer, bytes.0);
            let times =
                sides
                    .run_each(arguments.trips())
                    .map_err(|source| CliError::MessagesWrong {
                        what: format!("{layer}, {} bytes", bytes.0),
                        source,
                    })?;
            table.push(row(layer, bytes.0, &Latencies::of(times)));
        }
    }
    let (trips, workers) = (arguments.trips(), runtime.worker_count());
    let mut report = Report::new();
    report
        .text(format!(
            "{} round trips, {workers} {}, mailbox {}\n\n",
            units::grouped(trips),
            units::plural(workers, "worker"),
            runtime.mailbox()
        ))
        .field("trips", trips)
        .field("mailbox", runtime.mailbox().name())
        .list("round_trips", &table);
    Ok(Some(report.on(RanOn::Workers(runtime))))
}

fn empty_table() -> Columns {
    let columns = [Column::left("layer", 6), Column::right("size", 8)];
    Columns::new(columns.into_iter().chain(Latencies::columns()))
}

/// Creates the row for the measurements of one layer and one size.
fn row(layer: Layer, bytes: usize, times: &Latencies) -> Row {
    let mut row = Row::new();
    row.quantity("layer", &Plain(layer.name()))
        .quantity("bytes", &ByteCount(bytes as u64))
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
        table.push(row(Layer::Post, 16, &times));
        let text = table.text();
        let rows: Vec<_> = text.lines().map(|row| row.chars().count()).collect();
        assert_eq!(rows[0], rows[1], "{text}");
        assert!(
            text.contains("512 ns") && text.contains("1.50 µs"),
            "{text}"
        );
    }
}
