//! `raddle pingpong --nodes N --overheads`: what each step of a message costs, beside the study's simulated node.

use std::fmt::Write as _;
use std::time::Duration;

use raddle_messages::nodes::{Crew, Overheads, SIMULATED};
use serde_json::{Map, Value, json};

use super::super::crew;
use super::nodes::Report;
use crate::arguments::PingpongArguments;
use crate::error::CliError;
use crate::table;

/// Calls that have to be looked at one by one are measured no more often.
const SAMPLES_MAX: u64 = 20_000;

/// Measures, and puts the study's figures beside it.
///
/// # Errors
/// [`CliError`]: a node that ended.
pub(super) fn report(crew: &Crew, arguments: &PingpongArguments) -> Result<Report, CliError> {
    let samples = arguments.trips.min(SAMPLES_MAX);
    let found = crew.overheads(samples);
    let found = found.map_err(|source| crew::failed(crew.transport(), source))?;
    let rows = rows(&found);
    let values = rows.iter().map(|row| {
        json!({
            "quantity": row.name,
            "simulated_s": row.simulated_ns.map(|ns| ns as f64 * 1e-9),
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
    simulated_ns: Option<u64>,
    here: Option<Duration>,
}

fn rows(found: &Overheads) -> Vec<Row> {
    let study = SIMULATED;
    let row = |name, simulated_ns, here| Row {
        name,
        simulated_ns,
        here,
    };
    vec![
        row("send overhead", Some(study.send_ns), Some(found.send)),
        // What was stored is under way while the call works on: only the sum with the receiver's latency can be told, here and below.
        row("send initiation latency", Some(study.send_latency_ns), None),
        row("wire", Some(study.wire_ns), Some(found.wire)),
        row(
            "polling receive overhead (message waiting)",
            Some(study.poll_waiting_ns),
            Some(found.poll_waiting),
        ),
        row(
            "polling period (no message waiting)",
            Some(study.poll_none_ns),
            Some(found.poll_none),
        ),
        row(
            "polling receive latency (no message waiting)",
            Some(study.poll_latency_ns),
            None,
        ),
        row(
            "send and polling receive latency together",
            Some(study.send_latency_ns + study.poll_latency_ns),
            Some(found.poll_latency()),
        ),
        row(
            "notified receive overhead (message waiting)",
            Some(study.notify_waiting_ns),
            Some(found.notify_waiting),
        ),
        row(
            "notified receive latency (no message waiting)",
            Some(study.notify_latency_ns),
            None,
        ),
        row(
            "send and notified receive latency together",
            Some(study.send_latency_ns + study.notify_latency_ns),
            Some(found.notify_latency()),
        ),
        row(
            "thread wake overhead",
            Some(study.wake_ns),
            Some(found.wake),
        ),
        row(
            "thread wake latency (in its wait)",
            Some(study.wake_latency_ns),
            Some(found.wake_latency),
        ),
        row(
            "thread wake latency (asleep in the kernel)",
            None,
            Some(found.wake_asleep),
        ),
        row(
            "round trip, polling",
            Some(study.poll_trip_ns),
            Some(found.poll_trip),
        ),
        row(
            "round trip, notified",
            Some(study.notify_trip_ns),
            Some(found.notify_trip),
        ),
    ]
}

fn table_of(rows: &[Row]) -> String {
    let mut text = format!("{:<46} {:>9} {:>9}\n", "", "simulated", "here");
    for row in rows {
        let none = || "-".to_owned();
        let simulated = row
            .simulated_ns
            .map_or_else(none, |ns| table::time(Duration::from_nanos(ns)));
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
        let text = table_of(&rows(&found));
        let rows: Vec<_> = text.lines().map(|row| row.chars().count()).collect();
        assert_eq!(rows[0], rows[1], "{text}");
        assert!(text.contains("138 ns    200 ns"), "half of it: {text}");
        assert!(text.contains("45 ns         -"), "{text}");
    }
}
