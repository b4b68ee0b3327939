//! `raddle pingpong --nodes N --symmetric`: what it costs that somebody is there for those who ask.

use std::fmt::Write as _;
use std::time::{Duration, Instant};

use raddle_messages::nodes::{Crew, Kernel, Receive, Served};
use serde_json::{Map, Value, json};

use super::super::crew;
use super::latencies::Latencies;
use super::nodes::{LIMIT, Report};
use crate::arguments::PingpongArguments;
use crate::error::CliError;
use crate::table;

/// Steps by which it is found out how long one takes.
const STEPS: u64 = 2_000_000;

/// Runs the kernel with each way to receive.
///
/// # Errors
/// [`CliError`]: a node that ended.
pub(super) fn report(crew: &Crew, arguments: &PingpongArguments) -> Result<Report, CliError> {
    let steps = steps_in(arguments.compute);
    let mut lines = Vec::new();
    for &receive in arguments.receive.all() {
        let served = crew.serve(Kernel {
            receive,
            requests: arguments.trips(),
            steps,
            limit: LIMIT,
        });
        let served = served.map_err(|source| crew::failed(crew.transport(), source))?;
        lines.push(Line::of(receive, served));
    }
    let head = format!(
        "each computes for about {}, asks the next and waits for its answer: {}; {}\n\n",
        table::time(arguments.compute),
        crew::about(crew),
        crew::receivers(crew.seats().receive_apart())
    );
    let entries = [
        ("trips", json!(arguments.trips())),
        ("limit_s", json!(LIMIT.as_secs_f64())),
        ("compute_s", json!(arguments.compute.as_secs_f64())),
        ("symmetric", lines.iter().map(Line::json).collect()),
    ];
    let entries = entries.map(|(key, value)| (key.to_owned(), value));
    Ok((head + &table_of(&lines), Map::from_iter(entries)))
}

/// Steps that take about so long, one at least.
fn steps_in(time: Duration) -> u64 {
    let start = Instant::now();
    raddle_messages::nodes::work(STEPS);
    let one = start.elapsed().as_secs_f64() / STEPS as f64;
    ((time.as_secs_f64() / one.max(1e-12)) as u64).max(1)
}

/// What was found for one way to receive.
struct Line {
    receive: Receive,
    round_trips: Latencies,
    /// Of the thread that computes, where it is 1 alone.
    speed: f64,
    /// What the receiving thread uses of a CPU, where there is one.
    receiver: Option<f64>,
    /// Work and answer together, in the mean.
    request: Duration,
}

impl Line {
    fn of(receive: Receive, served: Served) -> Self {
        let (speed, share) = (served.speed(), served.receiver_share());
        let count = served.round_trips.len().max(1);
        Self {
            receive,
            speed,
            receiver: (receive != Receive::Notify).then_some(share),
            request: served.elapsed.div_f64(count as f64),
            round_trips: Latencies::of(served.round_trips),
        }
    }

    fn json(&self) -> Value {
        let mut value = self.round_trips.json();
        value.insert("receive".to_owned(), json!(self.receive.name()));
        value.insert("requests".to_owned(), json!(self.round_trips.count()));
        value.insert("speed".to_owned(), json!(self.speed));
        value.insert("receiver_share".to_owned(), json!(self.receiver));
        value.insert("request_s".to_owned(), json!(self.request.as_secs_f64()));
        Value::Object(value)
    }
}

/// A row for each way to receive.
fn table_of(lines: &[Line]) -> String {
    let mut text = format!(
        "{:<8} {:>9} {:>9} {:>9} {:>9} {:>9} {:>9} {:>9}\n",
        "receive", "requests", "min", "median", "99 %", "a request", "computing", "receiver"
    );
    for line in lines {
        let trips = &line.round_trips;
        let percent = |share: f64| format!("{:.1} %", share * 100.0);
        // Writing to a string cannot fail.
        let _infallible = writeln!(
            text,
            "{:<8} {:>9} {:>9} {:>9} {:>9} {:>9} {:>9} {:>9}",
            line.receive.name(),
            table::grouped(trips.count() as u64),
            table::time(trips.min()),
            table::time(trips.quantile(500)),
            table::time(trips.quantile(990)),
            table::time(line.request),
            percent(line.speed),
            line.receiver.map_or_else(|| "-".to_owned(), percent),
        );
    }
    text += "\nmin to 99 %: from the request until the thread that computes has the answer\n\
             computing: its speed, of what it is alone; receiver: what the receiving thread uses of a CPU\n\
             study, 1 thread that computes: polling costs it up to 18.5 % of its speed, and takes 886 ns for a round trip instead of 901\n";
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_stand_below_their_heads() {
        let served = Served {
            round_trips: [1_500, 512].map(Duration::from_nanos).to_vec(),
            alone: Duration::from_micros(8),
            beside: Duration::from_micros(10),
            receiver_cpu: Duration::from_micros(5),
            elapsed: Duration::from_micros(50),
        };
        let lines =
            [Receive::Poll, Receive::Notify].map(|receive| Line::of(receive, served.clone()));
        let text = table_of(&lines);
        let rows: Vec<_> = text.lines().map(|row| row.chars().count()).collect();
        assert_eq!((rows[0], rows[0]), (rows[1], rows[2]), "{text}");
        assert!(text.contains("80.0 %    10.0 %"), "{text}");
        assert!(text.contains("80.0 %         -"), "{text}");
        assert!(steps_in(Duration::from_micros(1)) >= 1);
    }
}
