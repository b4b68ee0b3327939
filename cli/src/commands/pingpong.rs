//! `raddle pingpong`: one message, there and back, and what that takes.

use std::fmt::Write as _;
use std::time::Duration;

use raddle_messages::pingpong::{Layer, PingPong};
use serde_json::{Map, Value, json};

use super::kneighbor::check_memory;
use crate::arguments::{LayerChoice, Options, PingpongArguments};
use crate::error::CliError;
use crate::output;
use crate::table;
use crate::workers;

/// Of a thousand round trips, how many are no longer than what is reported besides the shortest and the longest.
const PER_MILLE: [(&str, usize); 4] = [
    ("median", 500),
    ("90 %", 900),
    ("99 %", 990),
    ("99.9 %", 999),
];
/// The same in JSON.
const KEYS: [&str; 4] = ["median", "p90", "p99", "p99_9"];

/// Makes the round trips, and reports.
///
/// # Errors
/// [`CliError`]: messages that memory is too small for, a chare that failed, an output that fails.
pub(crate) fn run(arguments: &PingpongArguments, options: &Options) -> Result<(), CliError> {
    let runtime = workers::start(options)?;
    let layers = match arguments.layer {
        LayerChoice::Array => &[Layer::Array][..],
        LayerChoice::Chare => &[Layer::Chare],
        LayerChoice::Post => &[Layer::Post],
        LayerChoice::All => &Layer::ALL,
    };
    let largest = arguments.bytes.iter().map(|bytes| bytes.0).max();
    let times_bytes = arguments
        .trips
        .saturating_mul(2 * size_of::<Duration>() as u64);
    let needed = times_bytes.saturating_add(largest.unwrap_or_default() as u64);
    check_memory(needed, || "--bytes and --trips".to_owned())?;
    let mut lines = Vec::new();
    for &layer in layers {
        for &bytes in &arguments.bytes {
            let sides = PingPong::new(&runtime, layer, bytes.0);
            let times =
                sides
                    .run_each(arguments.trips)
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
        insert("trips", json!(arguments.trips));
        insert("mailbox", json!(runtime.mailbox().name()));
        insert("round_trips", lines.iter().map(Line::json).collect());
        workers::describe(&runtime, options, &mut result);
        output::print(&format!("{}\n", Value::Object(result)))?;
    } else if !options.quiet {
        let count = runtime.worker_count();
        let trips = table::grouped(arguments.trips);
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

/// The times of many round trips, the shortest first.
struct Latencies(Vec<Duration>);

impl Latencies {
    /// There is at least one: the command line lets no `--trips 0` through.
    fn of(mut times: Vec<Duration>) -> Self {
        times.sort_unstable();
        Self(times)
    }

    fn min(&self) -> Duration {
        self.0[0]
    }

    fn max(&self) -> Duration {
        self.0[self.0.len() - 1]
    }

    /// The time than which so many of a thousand are no longer.
    fn quantile(&self, per_mille: usize) -> Duration {
        let rank = (self.0.len() * per_mille).div_ceil(1_000);
        self.0[rank.saturating_sub(1)]
    }

    fn json(&self) -> Map<String, Value> {
        let seconds = |time: Duration| json!(time.as_secs_f64());
        let mut value = Map::new();
        value.insert("min_s".to_owned(), seconds(self.min()));
        for (key, (_, per_mille)) in KEYS.into_iter().zip(PER_MILLE) {
            value.insert(format!("{key}_s"), seconds(self.quantile(per_mille)));
        }
        value.insert("max_s".to_owned(), seconds(self.max()));
        value
    }
}

/// A row for each layer and size.
fn table_of(lines: &[Line]) -> String {
    let mut text = format!("{:<6} {:>8} {:>9}", "layer", "size", "min");
    // Writing to a string cannot fail, here and below.
    for (name, _) in PER_MILLE {
        let _infallible = write!(text, " {name:>9}");
    }
    let _infallible = writeln!(text, " {:>9}", "max");
    for line in lines {
        let size = table::bytes(line.bytes as u64);
        let min = table::time(line.times.min());
        let _infallible = write!(text, "{:<6} {size:>8} {min:>9}", line.layer.name());
        for (_, per_mille) in PER_MILLE {
            let time = table::time(line.times.quantile(per_mille));
            let _infallible = write!(text, " {time:>9}");
        }
        let _infallible = writeln!(text, " {:>9}", table::time(line.times.max()));
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_quantile_is_a_time_than_which_so_many_are_no_longer() {
        let times = Latencies::of((1..=1_000).rev().map(Duration::from_nanos).collect());
        let at = |per_mille| times.quantile(per_mille).as_nanos();
        assert_eq!((at(500), at(900), at(999)), (500, 900, 999));
        assert_eq!((times.min().as_nanos(), times.max().as_nanos()), (1, 1_000));
        let few = Latencies::of([30, 10, 20].map(Duration::from_nanos).to_vec());
        assert_eq!(few.quantile(500), Duration::from_nanos(20));
        assert_eq!(few.quantile(999), Duration::from_nanos(30));
        let one = Latencies::of(vec![Duration::from_nanos(5)]);
        assert_eq!(one.quantile(1), Duration::from_nanos(5));
    }

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
