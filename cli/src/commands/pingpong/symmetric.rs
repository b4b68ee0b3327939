//! `raddle pingpong --nodes N --symmetric`: the cost of answering requests while computing.

use std::time::{Duration, Instant};

use raddle_messages::nodes::{Kernel, NodeGroup, Receive, Served};

use super::super::node_group;
use super::NODES_LIMIT;
use super::arguments::PingpongArguments;
use super::latencies::Latencies;
use crate::error::CliError;
use crate::report::{Column, Columns, Count, Decimal, Plain, Report, Row};
use crate::units;

/// The explanation below the table.
const NOTES: &str = "
min to 99 %: from the request until the thread that computes has the answer
computing: its speed, relative to its speed alone; receiver: CPU share of the receiving thread
study, 1 thread that computes: polling costs it up to 18.5 % of its speed, and a round trip takes
886 ns instead of 901
";

/// The number of steps from which the time of one step is measured.
const STEPS: u64 = 2_000_000;

/// Runs the kernel with each way to receive messages.
///
/// # Errors
/// [`CliError`] if a node has ended.
pub(super) fn report(group: &NodeGroup, arguments: &PingpongArguments) -> Result<Report, CliError> {
    let steps = steps_in(arguments.compute);
    let mut table = empty_table();
    for &receive in arguments.receive.all() {
        let served = group.serve(Kernel {
            receive,
            requests: arguments.trips(),
            steps,
            limit: NODES_LIMIT,
        });
        let served = served.map_err(|source| node_group::failed(group.transport(), source))?;
        table.push(row(receive, served));
    }
    let mut report = Report::new();
    report
        .text(format!(
            "each computes for about {}, asks the next and waits for its answer: {}; {}\n\n",
            units::time(arguments.compute),
            node_group::about(group),
            node_group::receivers(group.cpus().receive_apart())
        ))
        .field("trips", arguments.trips())
        .field("limit_s", NODES_LIMIT.as_secs_f64())
        .field("compute_s", arguments.compute.as_secs_f64())
        .list("symmetric", &table)
        .text(NOTES);
    Ok(report)
}

/// Returns the number of steps that take about this time, at least one.
fn steps_in(time: Duration) -> u64 {
    let start = Instant::now();
    raddle_messages::nodes::work(STEPS);
    let one = start.elapsed().as_secs_f64() / STEPS as f64;
    ((time.as_secs_f64() / one.max(1e-12)) as u64).max(1)
}

fn empty_table() -> Columns {
    let headings = [
        "requests",
        "min",
        "median",
        "99 %",
        "per request",
        "computing",
        "receiver",
    ];
    let numbers = headings.map(|heading| Column::right(heading, heading.len().max(9)));
    Columns::new([Column::left("receive", 8)].into_iter().chain(numbers))
}

/// Creates the row for the measurements of one way to receive messages.
fn row(receive: Receive, served: Served) -> Row {
    let (speed, share) = (served.speed(), served.receiver_share());
    // The mean time of a request: computing and waiting for the answer.
    let count = served.round_trips.len().max(1);
    let request = served.elapsed.div_f64(count as f64);
    // Without a receiving thread there is no share of a CPU that it uses.
    let receiver = (receive != Receive::Notify).then_some(share);
    let trips = Latencies::of(served.round_trips);
    let percent = |share| Decimal::percent(share, 1);
    let mut row = Row::new();
    row.quantity("receive", &Plain(receive.name()))
        .quantity("requests", &Count(trips.count()))
        .cell(units::time(trips.min()))
        .cell(units::time(trips.quantile(500)))
        .cell(units::time(trips.quantile(990)))
        .fields(&trips.object())
        .quantity("request_s", &request)
        .quantity("speed", &percent(speed))
        .quantity("receiver_share", &receiver.map(percent));
    row
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cells_are_aligned_below_their_headings() {
        let served = Served {
            round_trips: [1_500, 512].map(Duration::from_nanos).to_vec(),
            alone: Duration::from_micros(8),
            beside: Duration::from_micros(10),
            receiver_cpu: Duration::from_micros(5),
            elapsed: Duration::from_micros(50),
        };
        let mut table = empty_table();
        for receive in [Receive::Poll, Receive::Notify] {
            table.push(row(receive, served.clone()));
        }
        let text = table.text();
        let rows: Vec<_> = text.lines().map(|row| row.chars().count()).collect();
        assert_eq!((rows[0], rows[0]), (rows[1], rows[2]), "{text}");
        assert!(text.contains("80.0 %    10.0 %"), "{text}");
        assert!(text.contains("80.0 %         -"), "{text}");
        assert!(steps_in(Duration::from_micros(1)) >= 1);
    }
}
