//! `raddle pingpong --nodes`: one message from process to process and back, in each way to receive.

use std::fmt::Write as _;
use std::time::Duration;

use raddle_messages::nodes::{Crew, Receive};
use serde_json::{Map, Value, json};

use super::super::crew;
use super::super::kneighbor::check_memory;
use super::latencies::Latencies;
use super::{overheads, symmetric};
use crate::arguments::{Options, PingpongArguments};
use crate::error::CliError;
use crate::{output, schema, table};

/// A row takes no longer than this.
pub(super) const LIMIT: Duration = Duration::from_secs(2);

/// Measures what was asked for, and reports; in a process that was started for it, does what the first one says.
///
/// # Errors
/// [`CliError`]: nodes that do not come up or end early, messages that memory is too small for, an output that fails.
pub(super) fn run(
    nodes: u16,
    arguments: &PingpongArguments,
    options: &Options,
) -> Result<(), CliError> {
    let largest = arguments.bytes.iter().map(|bytes| bytes.0).max();
    let of_times = arguments
        .trips()
        .saturating_mul(size_of::<Duration>() as u64);
    // A segment in each node, and once more while all of it is looked at.
    let of_bytes = 4 * largest.unwrap_or_default() as u64;
    check_memory(of_times.saturating_add(of_bytes), || {
        "--bytes and --trips".to_owned()
    })?;
    let Some((crew, plan)) = crew::start(arguments.transport(), nodes, options)? else {
        return Ok(());
    };
    let measured = if arguments.overheads {
        overheads::report(&crew, arguments)
    } else if arguments.symmetric {
        symmetric::report(&crew, arguments)
    } else {
        report(&crew, arguments)
    };
    let about = crew::describe(&crew);
    let (text, json) = crew::finish(crew, measured)?;
    let mut result = Map::new();
    result.insert("command".to_owned(), json!("pingpong"));
    result.extend(about);
    result.extend(json);
    if options.show_binding {
        result.insert("binding".to_owned(), json!(plan));
    }
    if options.json {
        schema::print(result)
    } else if options.quiet {
        Ok(())
    } else {
        output::print(&text)
    }
}

/// A report for people, and what it adds to the one in JSON.
pub(super) type Report = (String, Map<String, Value>);

fn report(crew: &Crew, arguments: &PingpongArguments) -> Result<Report, CliError> {
    let mut lines = Vec::new();
    for &receive in arguments.receive.all() {
        for bytes in &arguments.bytes {
            let times = crew.rally(receive, bytes.0, arguments.trips(), LIMIT);
            let times = times.map_err(|source| crew::failed(crew.transport(), source))?;
            lines.push(Line {
                receive,
                bytes: bytes.0,
                times: Latencies::of(times),
            });
        }
    }
    let head = format!(
        "round trips of a message, {}; {}\n\n",
        crew::about(crew),
        crew::receivers(crew.seats().receive_apart())
    );
    let entries = [
        ("trips", json!(arguments.trips())),
        ("limit_s", json!(LIMIT.as_secs_f64())),
        ("round_trips", lines.iter().map(Line::json).collect()),
    ];
    let entries = entries.map(|(key, value)| (key.to_owned(), value));
    Ok((head + &table_of(&lines), Map::from_iter(entries)))
}

/// What was found for one way to receive and one size.
struct Line {
    receive: Receive,
    bytes: usize,
    times: Latencies,
}

impl Line {
    fn json(&self) -> Value {
        let mut value = self.times.json();
        value.insert("receive".to_owned(), json!(self.receive.name()));
        value.insert("bytes".to_owned(), json!(self.bytes));
        value.insert("trips".to_owned(), json!(self.times.count()));
        Value::Object(value)
    }
}

/// A row for each way to receive and size.
fn table_of(lines: &[Line]) -> String {
    let head = Latencies::head();
    let mut text = format!("{:<8} {:>8} {:>9} {head}\n", "receive", "size", "trips");
    for line in lines {
        let size = table::bytes(line.bytes as u64);
        let trips = table::grouped(line.times.count() as u64);
        // Writing to a string cannot fail.
        let _infallible = writeln!(
            text,
            "{:<8} {size:>8} {trips:>9} {}",
            line.receive.name(),
            line.times.columns()
        );
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_stand_below_their_heads() {
        let line = Line {
            receive: Receive::Notify,
            bytes: 3_456,
            times: Latencies::of([1_500, 512].map(Duration::from_nanos).to_vec()),
        };
        let text = table_of(&[line]);
        let rows: Vec<_> = text.lines().map(|row| row.chars().count()).collect();
        assert_eq!(rows[0], rows[1], "{text}");
        assert!(text.contains("3.46 kB"), "{text}");
    }
}
