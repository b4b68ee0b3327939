//! The cost of messages between elements of arrays, between chares and between workers.
//!
//! - `kneighbor`: an iteration of kNeighbor in µs, with 2 and 8 elements, k = 1 to 3, and 16 B, 1
//!   KB and 64 KB, which are not looked at. Peer `mpsc`.
//! - `observed`: the same in µs with 2 and 8 elements, k = 3 and 16 B. Peer `raddle-observed`: a
//!   ring with sampled traffic, in which the elements never move.
//! - `trip`: a round trip between two workers in µs: elements of an array, plain chares, messages
//!   without objects. The size is 16 B, and for elements also the sizes of the reference. Peers
//!   `spin`, `mpsc`.
//! - `one-way`: half a round trip of messages without objects, in ns. Peers `spin`, `mpsc`.
//! - `burst`: one of 1,000 empty entries in a row, to the same worker and to another, in µs. Peer
//!   `mpsc`.
//! - `broadcast`: a broadcast to an array with an element for each worker, and the reduction that
//!   answers it, in µs.
//! - `quiescence`: a request for quiescence in µs. The requests form a chain: each is made after
//!   the previous one was answered. There is no other work.
//! - `fib24`: the 24th Fibonacci number, with a chare for each of 92,735 calls, in µs.
//! - `queens12`: all ways to place 12 queens, by seeds that end in sequential work, in ms. Peers
//!   `chare-per-node`, `raddle-join`, `rayon`, `rayon-grain`, `plain`.
//! - `mailbox`: an iteration of kNeighbor in µs over the size, through each kind of mailbox, with
//!   an element for each worker and k = 3. Every byte is written and read. Peers `locked`,
//!   `producer-lock`, `pairs`.
//! - `send`: the sender's cost of a message in ns, over its size. Peer `copied`.
//! - `section`: a multicast to a section and the reduction that answers it, in µs over the number
//!   of members, in each form. Peers `two-level`, `point-to-point`, `binomial`.
//! - `scan`: a scan and a barrier in µs over the number of elements, in each form. Peers
//!   `prescan-push`, `recursive-doubling`.
//! - `access`: an access to an element of a chunked array in ns over the number of chunks: at
//!   random, in order, and by an iterator, on one thread. Peer `vec`.
//! - `update`: 16 tasks that each write some of the numbers that they read into one chunked array,
//!   in µs over the amount read. Peer `vec`.
//!
//! `spin` is two threads that pass a word back and forth. `mpsc` is two threads with a channel of
//! the standard library each, which they poll without ever sleeping. `copied` sends a copy of the
//! buffer. All threads are bound to two CPUs, as workers are. `vec` is an array in one piece. A
//! writer into it must know its place, so all tasks count before any of them writes.
//!
//! The figures of Charm++ were measured earlier on the same kind of machine ([`charm`]). They are
//! shown beside Raddle's, but were not interleaved with them. Raddle's bound is half of the figure.
//! With two workers, only runs in the near mode count. Charm++ copies array messages of 100 B and
//! more into the message and out of it, which is the default for its users' parameters. Raddle's
//! messages own their buffer, which is moved.
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

/// The cases that are measured over a size.
pub(crate) const CURVES: [&str; 6] = ["mailbox", "send", "section", "scan", "access", "update"];

/// Cases that have nothing to measure with one worker. They use one only if no other number is
/// asked for.
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
/// Those of [`Measurement::compare`].
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

/// Returns the curves of the records.
pub(crate) fn charts(records: &[Record]) -> Vec<Chart<'_>> {
    Chart::of_curves(records, Lines::OfMostWorkers, |case, _| Some(over(case)))
}

/// Returns the quantity on the horizontal axis of a case's curves.
fn over(case: &str) -> &'static str {
    match case {
        "section" => "members",
        "scan" => "elements",
        "update" => "numbers read per task",
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

/// Converts a failure of Raddle.
fn failure(error: &dyn std::error::Error) -> BenchError {
    BenchError::contender("raddle", error)
}
