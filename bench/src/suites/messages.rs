//! What messages cost: between elements of arrays, between chares, between workers.
//!
//! | case | measured | unit | peers |
//! |---|---|---|---|
//! | `kneighbor` | an iteration of kNeighbor: 2 and 8 elements, k = 1 to 3, 16 B, 1 KB and 64 KB, which nobody looks at | µs | `mpsc` |
//! | `observed` | the same with 2 and 8 elements, k = 3, 16 B, beside a ring whose traffic is observed by samples and whose elements never move | µs | `raddle-observed` |
//! | `trip` | a round trip between two workers: elements of an array, plain chares, messages without objects; 16 B, and for elements the sizes of the reference | µs | `spin`, `mpsc` |
//! | `one-way` | half a round trip of messages without objects | ns | `spin`, `mpsc` |
//! | `burst` | one of 1,000 empty entries in a row, to the own worker and to another | µs | `mpsc` |
//! | `broadcast` | a broadcast to an array with an element for each worker, and the reduction that answers it | µs | |
//! | `quiescence` | a request for quiescence in a chain of them, each made when the one before has come, when all else is done | µs | |
//! | `fib24` | Fibonacci's 24th number, a chare for each of 92,735 calls | µs | |
//! | `queens12` | all ways to place 12 queens: seeds that end in sequential work | ms | `chare-per-node`, `raddle-join`, `rayon`, `rayon-grain`, `plain` |
//! | `mailbox` | an iteration of kNeighbor, an element for each worker, k = 3, every byte written and read: over the size, through each kind of mailbox | µs | `locked`, `producer-lock`, `pairs` |
//! | `send` | what the sender pays for a message, over its size | ns | `copied` |
//! | `section` | a multicast to a section and the reduction that answers it, over the number of members, in each form | µs | `two-level`, `point-to-point`, `binomial` |
//! | `scan` | a scan and a barrier, over the number of elements, in each form | µs | `prescan-push`, `recursive-doubling` |
//! | `access` | an element of a chunked array, over the number of chunks: at random, in order, by an iterator; one thread | ns | `vec` |
//! | `update` | 16 tasks that each keep some of what they read, in one chunked array, over how much they read | µs | `vec` |
//!
//! `spin` is two threads that pass a word to and fro, `mpsc` two threads with a channel of the
//! standard library each, which they look into without ever sleeping. `copied` sends a copy of the
//! buffer. All are bound to two CPUs, as workers are. `vec` is an array in one piece; whoever
//! writes into it must know where, so that all tasks count before any writes.
//!
//! What Charm++ took on the same kind of machine was measured earlier ([`charm`]): its figure
//! stands beside ours, but not beside ours in time. The bound is half of it. Where there are two
//! workers only runs in the near mode count. Its array messages of 100 B and more are copied into
//! the message and out of it, as its users' parameters are by default; ours own their buffer, which
//! is moved.
//!
//! # Source
//! Mei, Zheng, Gioachin, Kalé: Optimizing a parallel runtime system for multicore clusters. 2010,
//! sect. 3 and fig. 6 and 10 (`kneighbor`, `mailbox`). Jetley, Kalé: Optimizations for message
//! driven applications on multicore architectures. 2011, fig. 3 (`section`), 5 (`scan`), 6 and 7
//! (`access`, `update`).

mod burst;
pub(crate) mod charm;
mod chunks;
mod fib;
mod queens;
mod ring;
mod rounds;
mod scan;
mod send;
mod trips;

use crate::chart::{Chart, Lines};
use crate::error::BenchError;
use crate::harness::{Case, Unit};
use crate::record::Record;
use crate::suites::Measurement;

/// The names of the cases.
pub(crate) const CASES: [&str; 15] = [
    "kneighbor",
    "observed",
    "trip",
    "one-way",
    "burst",
    "broadcast",
    "quiescence",
    "fib24",
    "queens12",
    "mailbox",
    "send",
    "section",
    "scan",
    "access",
    "update",
];

/// Those of them that are measured over something.
pub(crate) const CURVES: [&str; 6] = ["mailbox", "send", "section", "scan", "access", "update"];

/// Cases in which there is nothing to measure with one worker, if more are asked for.
const BETWEEN_WORKERS: [&str; 9] = [
    "kneighbor",
    "observed",
    "trip",
    "one-way",
    "mailbox",
    "send",
    "section",
    "scan",
    "update",
];

/// Runs the suite.
///
/// # Errors
/// As [`Measurement::compare`].
pub(crate) fn run(measurement: &mut Measurement<'_>) -> Result<(), BenchError> {
    measurement.only_near = true;
    let all = measurement.workers.clone();
    let several: Vec<_> = all.iter().copied().filter(|&workers| workers > 1).collect();
    for name in CASES {
        if !measurement.wants(name) {
            continue;
        }
        let needs_several = BETWEEN_WORKERS.contains(&name) && !several.is_empty();
        measurement
            .workers
            .clone_from(if needs_several { &several } else { &all });
        match name {
            "kneighbor" => ring::kneighbor(measurement),
            "observed" => ring::observed(measurement),
            "mailbox" => ring::mailboxes(measurement),
            "trip" => trips::all(measurement),
            "one-way" => trips::one_way(measurement),
            "burst" => burst::all(measurement),
            "broadcast" => rounds::broadcast(measurement),
            "quiescence" => rounds::quiescence(measurement),
            "section" => rounds::sections(measurement),
            "fib24" => fib::run(measurement),
            "queens12" => queens::run(measurement),
            "scan" => scan::run(measurement),
            "access" => chunks::access(measurement),
            "update" => chunks::update(measurement),
            _ => send::run(measurement),
        }?;
    }
    Ok(())
}

/// The curves of records.
pub(crate) fn charts(records: &[Record]) -> Vec<Chart<'_>> {
    Chart::of_curves(records, Lines::OfMostWorkers, |case, _| Some(over(case)))
}

/// What the curves of a case are over.
fn over(case: &str) -> &'static str {
    match case {
        "section" => "members",
        "scan" => "elements",
        "update" => "numbers read by a task",
        _ if case.starts_with("access") => "chunks",
        _ => "bytes",
    }
}

fn case(name: &str, unit: Unit, repetitions: u64, expected: u64) -> Case<'_> {
    Case {
        suite: "messages",
        name,
        unit,
        repetitions,
        file: None,
        expected,
        tolerance: 0,
    }
}

/// What ended one of ours.
fn failure(error: &dyn std::error::Error) -> BenchError {
    BenchError::Contender {
        contender: "raddle".to_owned(),
        message: error.to_string(),
    }
}
