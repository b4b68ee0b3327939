//! `raddle kneighbor`: messages between neighbours in a ring, and what an iteration of them takes.

mod by_mpi;
mod sweep;

use std::time::Duration;

use raddle::chare::nodes::Progress;
use raddle::{MailboxKind, Runtime};
use raddle_messages::kneighbor::{KNeighbor, Shape};
use serde_json::{Map, Value, json};

use crate::arguments::{KneighborArguments, Mode, Options};
use crate::error::CliError;
use crate::output;
use crate::table::{self, Table};
use crate::times::Times;
use crate::{memory, schema, workers};

/// Runs the iterations, and reports.
///
/// # Errors
/// [`CliError`]: buffers that memory is too small for, messages that did not come as they were sent, an output that fails.
pub(crate) fn run(arguments: &KneighborArguments, options: &Options) -> Result<(), CliError> {
    let arguments = &arguments
        .clone()
        .or_environment()
        .map_err(|source| CliError::Job {
            what: "kneighbor".to_owned(),
            source,
        })?;
    if arguments.ways() != [Progress::Pending] && arguments.modes() == [Mode::Threads] {
        return Err(CliError::WrongCall {
            options: "--progress".to_owned(),
            reason: "workers of one process receive nothing from other nodes; expected --mode"
                .to_owned(),
        });
    }
    if arguments.compares() {
        return sweep::run(arguments, options);
    }
    let runtime = workers::start(options)?;
    let shape = Shape {
        elements: arguments
            .elements
            .map_or(runtime.worker_count(), |count| count as usize),
        k: arguments.k as usize,
        // One size: with several, runs are compared.
        bytes: arguments.bytes.0[0].0,
        touch: arguments.touch,
    };
    check_memory(shape.memory_bytes(), || name(&shape))?;
    let times = measure(&runtime, shape, arguments)?;
    let exchanged = Exchanged {
        shape,
        times,
        iterations: arguments.iterations(),
        worker_count: runtime.worker_count(),
        mailbox: runtime.mailbox(),
    };
    if options.json {
        let mut result = exchanged.json();
        workers::describe(&runtime, options, &mut result);
        schema::print(result)?;
    } else if !options.quiet {
        output::print(&exchanged.text())?;
    }
    workers::print_stats(&runtime, options)
}

/// The times of an iteration, one for each run.
fn measure(
    runtime: &Runtime,
    shape: Shape,
    arguments: &KneighborArguments,
) -> Result<Times, CliError> {
    let ring = KNeighbor::new(runtime, shape);
    let iterations = arguments.iterations();
    let mut times = Vec::new();
    for _ in 0..arguments.repeat {
        let exchange = ring
            .run(iterations)
            .map_err(|source| CliError::MessagesWrong {
                what: name(&shape),
                source,
            })?;
        times.push(exchange.time.div_f64(iterations as f64));
    }
    Ok(Times::of(times))
}

/// The ring in one line, as the options have it.
fn name(shape: &Shape) -> String {
    let Shape {
        elements, k, bytes, ..
    } = shape;
    format!("--elements {elements} -k {k} --bytes {bytes}")
}

/// Refuses messages that the machine has no memory for: once they are made, the lack of it would end the process.
pub(super) fn check_memory(bytes: u64, what: impl Fn() -> String) -> Result<(), CliError> {
    let available = memory::available_bytes();
    // Beyond what is available the system gives addresses, and ends the process when they are used.
    let is_there = available.is_none_or(|available| bytes <= available)
        && usize::try_from(bytes).is_ok_and(|bytes| Vec::<u8>::new().try_reserve(bytes).is_ok());
    if is_there {
        return Ok(());
    }
    Err(CliError::MessagesTooLarge {
        what: what(),
        bytes,
        available: available.map_or_else(
            || "fewer or smaller messages".to_owned(),
            |available| format!("at most {available} bytes"),
        ),
    })
}

/// What there is to say about the runs.
struct Exchanged {
    shape: Shape,
    /// Of an iteration.
    times: Times,
    iterations: u64,
    worker_count: usize,
    mailbox: MailboxKind,
}

impl Exchanged {
    /// Messages a second, in the median.
    fn rate(&self) -> f64 {
        // A clock that did not move between two readings.
        let iteration = self.times.median.max(Duration::from_nanos(1));
        self.shape.messages() as f64 / iteration.as_secs_f64()
    }

    /// Bytes a second, in the median.
    fn byte_rate(&self) -> f64 {
        self.rate() * self.shape.bytes as f64
    }

    fn json(&self) -> Map<String, Value> {
        let mut result = Map::new();
        let mut insert = |name: &str, value: Value| result.insert(name.to_owned(), value);
        insert("command", json!("kneighbor"));
        insert("elements", json!(self.shape.elements));
        insert("neighbours_per_side", json!(self.shape.k));
        insert("bytes", json!(self.shape.bytes));
        insert("touch", json!(self.shape.touch));
        insert("iterations", json!(self.iterations));
        insert("mailbox", json!(self.mailbox.name()));
        insert("messages_per_iteration", json!(self.shape.messages()));
        insert("iteration_s", self.times.json());
        insert("messages_per_s", json!(self.rate()));
        insert("bytes_per_s", json!(self.byte_rate()));
        result
    }

    fn text(&self) -> String {
        let Shape {
            elements, k, bytes, ..
        } = self.shape;
        let mut table = Table::default();
        table
            .row(
                "ring",
                format!(
                    "{} {}, each with {k} {} on either side",
                    table::grouped(elements as u64),
                    table::plural(elements, "element"),
                    table::plural(k, "neighbour")
                ),
            )
            .row(
                "messages",
                format!(
                    "{} an iteration, {} each{}",
                    table::grouped(self.shape.messages()),
                    table::bytes(bytes as u64),
                    if self.shape.touch {
                        ", all of it written and read"
                    } else {
                        ""
                    }
                ),
            )
            .row(
                "exchanged by",
                format!(
                    "{} {}, mailbox {}",
                    self.worker_count,
                    table::plural(self.worker_count, "worker"),
                    self.mailbox
                ),
            )
            .row("an iteration", self.times.text())
            .row("a second", {
                let bytes = table::bytes(self.byte_rate() as u64);
                format!("{} messages, {bytes}", table::large(self.rate()))
            })
            .row(
                "check",
                format!(
                    "every message of {} iterations came in its turn",
                    table::grouped(self.iterations)
                ),
            );
        table.text()
    }
}
