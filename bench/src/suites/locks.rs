//! The cost of locks and of pools: `ticket`, `simple`, `clh`, `contended-*`, `queue`, `private`.
//!
//! - `ticket`, `simple`, `clh`: lock, count, unlock. Peer `pthread`: the same under a Pthreads
//!   mutex.
//! - `contended-ticket`, `contended-simple`, `contended-clh`: the same by several threads at once,
//!   which do nothing else. By default, there are as many threads as CPUs, and then twice as many.
//! - `queue`: a task is put into the worker's own queue of DQ-TL-PRIV-C and taken back. Peer `cas`:
//!   an uncontended compare-and-swap.
//! - `private`: a task is put into the private buffer of that pool and taken back. Peer `cas`.
//!
//! All other cases run on one thread. A second thread exists during the measurement. Without it,
//! glibc omits the atomic operations of the mutex.

mod contended;

use std::sync::mpsc;
use std::thread;

use raddle::pool::probe::{Probe, get};
use raddle::pool::{self, Task};
use raddle::{BlockShape, PoolKind};
use raddle_sync::lock::{ClhLock, Lock, Locked, PthreadLock, SimpleLock, TicketLock};
use raddle_sync::prim::{AtomicU64, Relaxed};

use crate::error::BenchError;
use crate::harness::{Case, Contender, Local, Sample, Unit, timed};
use crate::suites::Measurement;

/// The names of the cases.
pub(crate) const CASES: [&str; 8] = [
    "ticket",
    "simple",
    "clh",
    "contended-ticket",
    "contended-simple",
    "contended-clh",
    "queue",
    "private",
];

const ROUNDS: u64 = 5_000_000;
/// The number of tasks in the queue at a time: more than the private buffer holds.
const DEPTH: usize = 16;

/// Runs the suite.
///
/// # Errors
/// Those of [`Measurement::compare`].
pub(crate) fn run(measurement: &mut Measurement<'_>) -> Result<(), BenchError> {
    let threads = contended::thread_counts(&measurement.workers, measurement.are_workers_asked);
    measurement.workers = vec![1];
    let (end, ended) = mpsc::channel::<()>();
    let companion = thread::spawn(move || ended.recv());
    let done = CASES.into_iter().try_for_each(|name| match name {
        _ if !measurement.wants(name) => Ok(()),
        "ticket" => compare::<TicketLock>(measurement, name),
        "simple" => compare::<SimpleLock>(measurement, name),
        "clh" => compare::<ClhLock>(measurement, name),
        "contended-ticket" => contended::compare::<TicketLock>(measurement, name, &threads),
        "contended-simple" => contended::compare::<SimpleLock>(measurement, name, &threads),
        "contended-clh" => contended::compare::<ClhLock>(measurement, name, &threads),
        "queue" => put_and_get(measurement, name, DEPTH),
        _ => put_and_get(measurement, name, 1),
    });
    drop(end);
    // The receiver of the companion returns an error now, which ends the thread.
    let _ended = companion.join();
    done
}

fn case(name: &'static str) -> Case<'static> {
    Case {
        suite: "locks",
        name,
        unit: Unit::Nanoseconds,
        repetitions: ROUNDS,
        file: None,
        expected: ROUNDS,
        tolerance: 0,
    }
}

fn compare<L: Lock + 'static>(
    measurement: &mut Measurement<'_>,
    name: &'static str,
) -> Result<(), BenchError> {
    let mut own = Local::new("raddle", |_| Ok(count::<L>()));
    let mut peers: Vec<Box<dyn Contender>> = vec![Box::new(Local::new("pthread", |_| {
        Ok(count::<PthreadLock>())
    }))];
    measurement.compare(&case(name), &mut own, &mut peers)
}

/// Counts the rounds under a lock.
fn count<L: Lock>() -> Sample {
    let number = Locked::<L, u64>::new(0);
    timed(1, || {
        let number = std::hint::black_box(&number);
        for _ in 0..ROUNDS {
            number.with(|number| *number += 1);
        }
        number.with(|number| *number)
    })
}

fn put_and_get(
    measurement: &mut Measurement<'_>,
    name: &'static str,
    depth: usize,
) -> Result<(), BenchError> {
    let mut own = Local::new("raddle", move |_| {
        let pool = Probe::new(PoolKind::DqTlPrivC, 2, BlockShape::default());
        let seat = pool.seat(0);
        let mut tasks: Vec<_> = (0..depth).map(|_| pool.task()).collect();
        Ok(timed(1, || {
            let rounds = ROUNDS / depth as u64;
            let got: u64 = (0..rounds)
                .map(|_| put_and_get_all(&*seat, &mut tasks))
                .sum();
            got + ROUNDS % depth as u64
        }))
    });
    let mut peers: Vec<Box<dyn Contender>> = vec![Box::new(Local::new("cas", |_| Ok(swap())))];
    measurement.compare(&case(name), &mut own, &mut peers)
}

/// Counts the rounds by compare-and-swap, which is the cheapest atomic change.
fn swap() -> Sample {
    let number = AtomicU64::new(0);
    timed(1, || {
        let number = std::hint::black_box(&number);
        for round in 0..ROUNDS {
            // Relaxed: one thread.
            let swapped = number.compare_exchange(round, round + 1, Relaxed, Relaxed);
            swapped.expect("no other thread changes the number");
        }
        // Relaxed: as above.
        number.load(Relaxed)
    })
}

/// Puts all tasks, takes them back, and returns their number.
///
/// The pool keeps one task in its private buffer. All the others pass through the queue.
#[inline]
fn put_and_get_all(seat: &dyn pool::Seat, tasks: &mut Vec<Task>) -> u64 {
    let count = tasks.len();
    while let Some(task) = tasks.pop() {
        let _is_visible = seat.put(task);
    }
    while tasks.len() < count
        && let Some(task) = get(seat)
    {
        tasks.push(task);
    }
    tasks.len() as u64
}
