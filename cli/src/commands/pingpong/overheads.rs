//! `raddle pingpong --nodes N --overheads`: what each step of a message costs, beside the study's simulated node.

use std::fmt::Write as _;
use std::time::Duration;

use raddle_messages::nodes::{Crew, Overheads};
use raddle_model::Parameters;
use raddle_model::parameters::{Curve, Message};
use raddle_model::simulate::Silent;
use raddle_model::simulate::pingpong::{PingPong, Receive};
use raddle_model::units::Nanoseconds;
use serde_json::{Map, Value, json};

use super::super::crew;
use super::nodes::Report;
use crate::arguments::PingpongArguments;
use crate::error::CliError;
use crate::table;

/// Measures, and puts the study's figures beside it.
///
/// # Errors
/// [`CliError`]: a node that ended.
pub(super) fn report(crew: &Crew, arguments: &PingpongArguments) -> Result<Report, CliError> {
    let samples = arguments.trips();
    let found = crew.overheads(samples);
    let found = found.map_err(|source| crew::failed(crew.transport(), source))?;
    let rows = rows(&Study::simulated()?, &found);
    let values = rows.iter().map(|row| {
        json!({
            "quantity": row.name,
            "simulated_s": row.simulated.map(|time| time.0 * 1e-9),
            "time_s": row.here.map(|time| time.as_secs_f64()),
        })
    });
    let entries = Map::from_iter([
        ("samples".to_owned(), json!(samples)),
        ("overheads".to_owned(), Value::Array(values.collect())),
    ]);
    let head = format!("steps of a message, {}\n\n", crew::about(crew));
    Ok((head + &table_of(&rows), entries))
}

/// One quantity.
struct Row {
    name: &'static str,
    simulated: Option<Nanoseconds>,
    here: Option<Duration>,
}

/// The study's node: what its steps take, and its simulated round trips.
struct Study {
    message: Message,
    wire: Nanoseconds,
    poll_trip: Nanoseconds,
    notify_trip: Nanoseconds,
}

impl Study {
    /// So many trips, since a look of a polling receiver may come at any time after a message.
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

fn rows(study: &Study, found: &Overheads) -> Vec<Row> {
    let message = &study.message;
    let row = |name, simulated, here| Row {
        name,
        simulated,
        here,
    };
    vec![
        row("send overhead", Some(message.send), Some(found.send)),
        // What was stored is under way while the call works on: only the sum with the receiver's latency can be told, here and below.
        row("send initiation latency", Some(message.send_latency), None),
        row("wire", Some(study.wire), Some(found.wire)),
        row(
            "polling receive overhead (message waiting)",
            Some(message.poll),
            Some(found.poll_waiting),
        ),
        row(
            "polling period (no message waiting)",
            Some(message.poll_period),
            Some(found.poll_none),
        ),
        row(
            "polling receive latency (no message waiting)",
            Some(message.poll_latency),
            None,
        ),
        row(
            "send and polling receive latency together",
            Some(message.send_latency + message.poll_latency),
            Some(found.poll_latency()),
        ),
        row(
            "notified receive overhead (message waiting)",
            Some(message.notify),
            Some(found.notify_waiting),
        ),
        row(
            "notified receive latency (no message waiting)",
            Some(message.notify_latency),
            None,
        ),
        row(
            "send and notified receive latency together",
            Some(message.send_latency + message.notify_latency),
            Some(found.notify_latency()),
        ),
        row("thread wake overhead", Some(message.wake), Some(found.wake)),
        row(
            "thread wake latency (in its wait)",
            Some(message.wake_latency),
            Some(found.wake_latency),
        ),
        row(
            "thread wake latency (asleep in the kernel)",
            None,
            Some(found.wake_asleep),
        ),
        row(
            "round trip, polling",
            Some(study.poll_trip),
            Some(found.poll_trip),
        ),
        row(
            "round trip, notified",
            Some(study.notify_trip),
            Some(found.notify_trip),
        ),
    ]
}

fn table_of(rows: &[Row]) -> String {
    let mut text = format!("{:<46} {:>9} {:>9}\n", "", "simulated", "here");
    for row in rows {
        let none = || "-".to_owned();
        let simulated = row
            .simulated
            .map_or_else(none, |time| format!("{:.0} ns", time.0));
        let here = row.here.map_or_else(none, table::time);
        // Writing to a string cannot fail.
        let _infallible = writeln!(text, "{:<46} {simulated:>9} {here:>9}", row.name);
    }
    text += "\nwire: half a round trip of a number between two threads that spin; latencies together: half a round trip of 1 byte,\n\
             less the wire. The simulated node: 3 GHz, a network interface 10 ns from the core.\n";
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_stand_below_their_heads() {
        let found = Overheads {
            send: Duration::from_nanos(30),
            poll_trip: Duration::from_nanos(400),
            ..Overheads::default()
        };
        let study = Study::simulated().expect("the study's node is right");
        let text = table_of(&rows(&study, &found));
        let rows: Vec<_> = text.lines().map(|row| row.chars().count()).collect();
        assert_eq!(rows[0], rows[1], "{text}");
        assert!(text.contains("138 ns    200 ns"), "half of it: {text}");
        assert!(text.contains("45 ns         -"), "{text}");
    }
}
