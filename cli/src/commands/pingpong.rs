//! `raddle pingpong`: one message, there and back, and what that takes.

mod latencies;
mod nodes;
mod overheads;
mod symmetric;
mod waits;

use std::fmt::Write as _;
use std::time::Duration;

use raddle_messages::pingpong::{Layer, PingPong};
use serde_json::{Map, Value, json};

use self::latencies::Latencies;
use super::kneighbor::check_memory;
use crate::arguments::{LayerChoice, Options, PingpongArguments};
use crate::error::CliError;
use crate::output;
use crate::schema;
use crate::table;
use crate::workers;

/// Makes the round trips, and reports.
///
/// # Errors
/// [`CliError`]: messages that memory is too small for, a chare that failed, a way to wait that is not there, an output that fails.
pub(crate) fn run(arguments: &PingpongArguments, options: &Options) -> Result<(), CliError> {
    let arguments = &arguments.clone().or_environment(options)?;
    if let Some(wait) = arguments.wait {
        return waits::run(wait, arguments, options);
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
    let mut lines = Vec::new();
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
            lines.push(Line {
                layer,
                bytes: bytes.0,
                times: Latencies::of(times),
            });
        }
    }
    if options.json {
        let mut result = Map::new();
        let mut insert = |name: &str, value: Value| result.insert(name.to_owned(), value);
        insert("command", json!("pingpong"));
        insert("trips", json!(arguments.trips()));
        insert("mailbox", json!(runtime.mailbox().name()));
        insert("round_trips", lines.iter().map(Line::json).collect());
        workers::describe(&runtime, options, &mut result);
        schema::print(result)?;
    } else if !options.quiet {
        let count = runtime.worker_count();
        let trips = table::grouped(arguments.trips());
        let workers = table::plural(count, "worker");
        let head = format!(
            "{trips} round trips, {count} {workers}, mailbox {}\n\n",
            runtime.mailbox()
        );
        output::print(&(head + &table_of(&lines)))?;
    }
    workers::print_stats(&runtime, options)
}

/// What was found for one layer and one size.
struct Line {
    layer: Layer,
    bytes: usize,
    times: Latencies,
}

impl Line {
    fn json(&self) -> Value {
        let mut value = self.times.json();
        value.insert("layer".to_owned(), json!(self.layer.name()));
        value.insert("bytes".to_owned(), json!(self.bytes));
        Value::Object(value)
    }
}

/// A row for each layer and size.
fn table_of(lines: &[Line]) -> String {
    let head = Latencies::head();
    let mut text = format!("{:<6} {:>8} {head}\n", "layer", "size");
    for line in lines {
        let size = table::bytes(line.bytes as u64);
        // Writing to a string cannot fail.
        let _infallible = writeln!(
            text,
            "{:<6} {size:>8} {}",
            line.layer.name(),
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
        let times = Latencies::of([1_500, 512].map(Duration::from_nanos).to_vec());
        let line = Line {
            layer: Layer::Post,
            bytes: 16,
            times,
        };
        let text = table_of(&[line]);
        let rows: Vec<_> = text.lines().map(|row| row.chars().count()).collect();
        assert_eq!(rows[0], rows[1], "{text}");
        assert!(
            text.contains("512 ns") && text.contains("1.50 µs"),
            "{text}"
        );
    }
}
