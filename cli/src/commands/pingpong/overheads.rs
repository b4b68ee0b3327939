//! `raddle pingpong --nodes N --overheads`: the cost of each step of a message, compared with the
//! simulated node of the study.

use std::time::Duration;

use raddle_messages::nodes::{NodeGroup, Overheads};
use raddle_model::Parameters;
use raddle_model::parameters::{Curve, Message};
use raddle_model::simulate::Silent;
use raddle_model::simulate::pingpong::{PingPong, Receive};
use raddle_model::units::Nanoseconds;

use super::super::node_group;
use super::arguments::PingpongArguments;
use crate::error::CliError;
use crate::report::{Column, Columns, Plain, Report, Row};

/// The explanation below the table.
const NOTES: &str = "
wire: half a round trip of a number between two threads that spin; latencies together: half a round
trip of 1 byte, less the wire. The simulated node: 3 GHz, a network interface 10 ns from the core.
";

/// Measures, and compares with the values of the study.
///
/// # Errors
/// [`CliError`] if a node has ended.
pub(super) fn report(group: &NodeGroup, arguments: &PingpongArguments) -> Result<Report, CliError> {
    let samples = arguments.trips();
    let found = group.overheads(samples);
    let found = found.map_err(|source| node_group::failed(group.transport(), source))?;
    let steps = steps(&Study::simulated()?, &found);
    let mut report = Report::new();
    report
        .text(format!(
            "steps of a message, {}\n\n",
            node_group::about(group)
        ))
        .field("samples", samples)
        .list("overheads", &table_of(&steps))
        .text(NOTES);
    Ok(report)
}

/// The cost of a step, simulated and measured. A cost that is only known in the sum of two steps is
/// `None`.
struct Step {
    name: &'static str,
    simulated: Option<Nanoseconds>,
    here: Option<Duration>,
}

/// The node of the study: the times of its steps and of its simulated round trips.
struct Study {
    message: Message,
    wire: Nanoseconds,
    poll_trip: Nanoseconds,
    notify_trip: Nanoseconds,
}

impl Study {
    /// The number of simulated trips. It is large because a polling receiver may check at any time
    /// after a message arrives.
    const TRIPS: u32 = 1_000;

    fn simulated() -> Result<Self, CliError> {
        let mut parameters = Parameters::study();
        parameters.core.curve = Curve::Measured;
        let trip = |receive| -> Result<Nanoseconds, CliError> {
            let what = PingPong::new(receive, Self::TRIPS, 1);
            Ok(what.run(&parameters, Silent)?.0.mean)
        };
        Ok(Self {
            message: parameters.message,
            wire: parameters.network.wire,
            poll_trip: trip(Receive::Poll)?,
            notify_trip: trip(Receive::Notify)?,
        })
    }
}

fn steps(study: &Study, found: &Overheads) -> Vec<Step> {
    let message = &study.message;
    let step = |name, simulated, here| Step {
        name,
        simulated,
        here,
    };
    vec![
        step("send overhead", Some(message.send), Some(found.send)),
        // The stored data travels while the call continues. So only the sum of this latency and
        // that of the receiver can be measured, here and below.
        step("send initiation latency", Some(message.send_latency), None),
        step("wire", Some(study.wire), Some(found.wire)),
        step(
            "polling receive overhead (message waiting)",
            Some(message.poll),
            Some(found.poll_waiting),
        ),
        step(
            "polling period (no message waiting)",
            Some(message.poll_period),
            Some(found.poll_none),
        ),
        step(
            "polling receive latency (no message waiting)",
            Some(message.poll_latency),
            None,
        ),
        step(
            "send and polling receive latency together",
            Some(message.send_latency + message.poll_latency),
            Some(found.poll_latency()),
        ),
        step(
            "notified receive overhead (message waiting)",
            Some(message.notify),
            Some(found.notify_waiting),
        ),
        step(
            "notified receive latency (no message waiting)",
            Some(message.notify_latency),
            None,
        ),
        step(
            "send and notified receive latency together",
            Some(message.send_latency + message.notify_latency),
            Some(found.notify_latency()),
        ),
        step("thread wake overhead", Some(message.wake), Some(found.wake)),
        step(
            "thread wake latency (in its wait)",
            Some(message.wake_latency),
            Some(found.wake_latency),
        ),
        step(
            "thread wake latency (asleep in the kernel)",
            None,
            Some(found.wake_asleep),
        ),
        step(
            "round trip, polling",
            Some(study.poll_trip),
            Some(found.poll_trip),
        ),
        step(
            "round trip, notified",
            Some(study.notify_trip),
            Some(found.notify_trip),
        ),
    ]
}

fn table_of(steps: &[Step]) -> Columns {
    let mut table = Columns::new([
        Column::left("", 46),
        Column::right("simulated", 9),
        Column::right("here", 9),
    ]);
    for step in steps {
        let simulated = step.simulated;
        let simulated_text = simulated.map(|time| format!("{:.0} ns", time.0));
        let mut row = Row::new();
        row.quantity("quantity", &Plain(step.name))
            .cell(simulated_text.unwrap_or_else(|| "-".to_owned()))
            .field("simulated_s", simulated.map(|time| time.0 * 1e-9))
            .quantity("time_s", &step.here);
        table.push(row);
    }
    table
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cells_are_aligned_below_their_headings() {
        let found = Overheads {
            send: Duration::from_nanos(30),
            poll_trip: Duration::from_nanos(400),
            ..Overheads::default()
        };
        let study = Study::simulated().expect("the node of the study");
        let text = table_of(&steps(&study, &found)).text();
        let rows: Vec<_> = text.lines().map(|row| row.chars().count()).collect();
        assert_eq!(rows[0], rows[1], "{text}");
        assert!(text.contains("138 ns    200 ns"), "half of it: {text}");
        assert!(text.contains("45 ns         -"), "{text}");
    }
}
