//! `raddle kneighbor`: messages between neighbours in a ring, and the time of an iteration.

mod arguments;
mod by_mpi;
mod sweep;

use std::time::Duration;

use raddle::chare::nodes::Progress;
use raddle::{MailboxKind, Runtime};
use raddle_messages::kneighbor::{KNeighbor, Shape};

pub(super) use self::arguments::{EXAMPLES, KneighborArguments};

use self::arguments::Mode;
use crate::arguments::Options;
use crate::error::CliError;
use crate::report::{RanOn, Report};
use crate::system_counts::SystemCounts;
use crate::times::Times;
use crate::{memory, units, workers};

/// Runs the iterations, and reports. Returns `None` in a process that was started as a node.
///
/// # Errors
/// [`CliError`]: buffers that need too much memory, messages that were lost or changed, or nodes
/// that do not start.
pub(super) fn run(
    arguments: &KneighborArguments,
    options: &Options,
) -> Result<Option<Report>, CliError> {
    let arguments = &arguments
        .clone()
        .or_environment()
        .map_err(|source| CliError::Job {
            what: "kneighbor".to_owned(),
            source,
        })?;
    check_progress(arguments)?;
    if arguments.compares() {
        return sweep::run(arguments, options);
    }
    // The counters are created before the workers, so that they include the workers' counts.
    let mut counts = options.stats.then(SystemCounts::new);
    let runtime = workers::start(options)?;
    let shape = Shape {
        elements: arguments
            .elements
            .map_or(runtime.worker_count(), |count| count as usize),
        k: arguments.k as usize,
        // There is only one size: several sizes are compared above.
        bytes: arguments.bytes.0[0].0,
        touch: arguments.touch,
    };
    check_memory(shape.memory_bytes(), || name(&shape))?;
    let times = measure(&runtime, shape, arguments, &mut counts)?;
    let exchanged = Exchanged {
        shape,
        times,
        iterations: arguments.iterations(),
        worker_count: runtime.worker_count(),
        mailbox: runtime.mailbox(),
    };
    let mut report = exchanged.report();
    if let Some(counts) = counts {
        let facts = counts.end().facts();
        report.field("system", facts.object());
        report.requested(&format!("\n{}", facts.text()));
    }
    Ok(Some(report.on(RanOn::Workers(runtime))))
}

/// Refuses `--progress` if there are no other nodes, so that it would have no effect.
fn check_progress(arguments: &KneighborArguments) -> Result<(), CliError> {
    if arguments.ways() == [Progress::Pending] {
        return Ok(());
    }
    let (options, expected) = if arguments.modes() == [Mode::Threads] {
        ("--progress", "--mode")
    } else if arguments.nodes == Some(1) {
        ("--progress --nodes 1", "more nodes")
    } else {
        return Ok(());
    };
    Err(CliError::WrongCall {
        options: options.to_owned(),
        reason: format!(
            "workers of one process receive nothing from other nodes; expected {expected}"
        ),
    })
}

/// Measures the time of an iteration in each run, and counts what the system does meanwhile.
fn measure(
    runtime: &Runtime,
    shape: Shape,
    arguments: &KneighborArguments,
    counts: &mut Option<SystemCounts>,
) -> Result<Times, CliError> {
    let ring = KNeighbor::new(runtime, shape);
    let iterations = arguments.iterations();
    let mut times = Vec::new();
    for _ in 0..arguments.repeat {
        if let Some(counts) = counts {
            counts.begin();
        }
        let exchange = ring.run(iterations);
        if let Some(counts) = counts {
            counts.pause();
        }
        let exchange = exchange.map_err(|source| CliError::MessagesWrong {
            what: name(&shape),
            source,
        })?;
        times.push(exchange.time.div_f64(iterations as f64));
    }
    Ok(Times::of(times))
}

/// Describes the ring by the options that select it.
fn name(shape: &Shape) -> String {
    let Shape {
        elements, k, bytes, ..
    } = shape;
    format!("--elements {elements} -k {k} --bytes {bytes}")
}

/// Refuses messages that need more memory than the machine has. Without this check the system would
/// end the process.
pub(super) fn check_memory(bytes: u64, what: impl Fn() -> String) -> Result<(), CliError> {
    let available = memory::available_bytes();
    // The system may grant more memory than is available, and end the process when it is used.
    let is_enough = available.is_none_or(|available| bytes <= available)
        && usize::try_from(bytes).is_ok_and(|bytes| Vec::<u8>::new().try_reserve(bytes).is_ok());
    if is_enough {
        return Ok(());
    }
    Err(CliError::MessagesTooLarge {
        what: what(),
        bytes,
        available: memory::expected(available, "fewer or smaller messages"),
    })
}

/// The measurements of the runs.
struct Exchanged {
    shape: Shape,
    /// The time of an iteration.
    times: Times,
    iterations: u64,
    worker_count: usize,
    mailbox: MailboxKind,
}

impl Exchanged {
    fn report(&self) -> Report {
        let Shape {
            elements,
            k,
            bytes,
            touch,
        } = self.shape;
        // An iteration may take less time than the clock resolves.
        let median = self.times.median.max(Duration::from_nanos(1));
        let messages_per_s = self.shape.messages() as f64 / median.as_secs_f64();
        let bytes_per_s = messages_per_s * bytes as f64;
        let (workers, mailbox) = (self.worker_count, self.mailbox);
        let mut report = Report::new();
        report
            .row("ring", ring_in_words(&self.shape))
            .field("elements", elements)
            .field("neighbours_per_side", k)
            .row(
                "messages",
                format!(
                    "{} per iteration, {} each{}",
                    units::grouped(self.shape.messages()),
                    units::bytes(bytes as u64),
                    if touch {
                        ", all of it written and read"
                    } else {
                        ""
                    }
                ),
            )
            .field("messages_per_iteration", self.shape.messages())
            .field("bytes", bytes)
            .field("touch", touch)
            .row(
                "exchanged by",
                format!(
                    "{workers} {}, mailbox {mailbox}",
                    units::plural(workers, "worker")
                ),
            )
            .field("mailbox", mailbox.name())
            .quantity("per iteration", "iteration_s", &self.times)
            .row(
                "per second",
                format!(
                    "{} messages, {}",
                    units::large(messages_per_s),
                    units::bytes(bytes_per_s as u64)
                ),
            )
            .field("messages_per_s", messages_per_s)
            .field("bytes_per_s", bytes_per_s)
            .row(
                "check",
                format!(
                    "every message of {} iterations arrived in order",
                    units::grouped(self.iterations)
                ),
            )
            .field("iterations", self.iterations);
        report
    }
}

/// Describes the elements and their neighbours in words.
fn ring_in_words(shape: &Shape) -> String {
    let (elements, k) = (shape.elements, shape.k);
    format!(
        "{}, each with {k} {} on either side",
        units::counted(elements, "element"),
        units::plural(k, "neighbour")
    )
}
