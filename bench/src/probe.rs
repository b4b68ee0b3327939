//! The mode of the machine: whether two CPUs currently communicate quickly or slowly.
//!
//! A hypervisor that moves virtual CPUs puts them near each other (with a common cache) or far
//! apart for seconds to minutes at a time. Every figure that involves two threads varies with that
//! by a factor of 2.5 to 4.5. A spinning round trip between two pinned threads distinguishes the
//! two modes within a millisecond.
//!
//! # Memory ordering
//! | label | release side              | acquire side            | what it publishes           |
//! |-------|---------------------------|-------------------------|-----------------------------|
//! | P1    | either side stores `turn` | the other side loads it | nothing but the turn itself |

use std::fmt;
use std::time::Duration;

use raddle_sync::prim::{AtomicU32, Ordering};
use rustix::thread::{CpuSet, sched_getaffinity, sched_setaffinity};

use crate::two_threads::time_round_trips;

/// The time below which a round trip counts as "near". Typical values are 105 ns near and 490 ns
/// far.
const NEAR_MAX: Duration = Duration::from_nanos(250);
/// The number of round trips in a batch. Tests measure hundreds of pairs and do not use the modes,
/// so they make few.
const ROUND_TRIPS: u32 = if cfg!(test) { 20 } else { 2_000 };
/// The number of batches, of which the median counts: one interrupt does not turn near into far.
const BATCHES: usize = 5;

/// The current distance between two CPUs of the machine.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Mode {
    /// There is only one worker, so there is no distance.
    OneThread,
    /// Round trips of about 100 ns.
    Near,
    /// Round trips of about 500 ns.
    Far,
}

impl fmt::Display for Mode {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(match self {
            Self::OneThread => "one-thread",
            Self::Near => "near",
            Self::Far => "far",
        })
    }
}

/// Determines the mode for a measurement on `workers` threads.
///
/// One worker, or a machine of one CPU, needs no probe. Cost: about 2 ms near, 10 ms far.
pub(crate) fn mode(workers: usize) -> Mode {
    if workers < 2 {
        return Mode::OneThread;
    }
    let Some((first, second)) = two_cpus() else {
        return Mode::OneThread;
    };
    let mut batches = [Duration::ZERO; BATCHES];
    for batch in &mut batches {
        *batch = round_trips(first, second, ROUND_TRIPS) / ROUND_TRIPS;
    }
    batches.sort_unstable();
    classify(batches[BATCHES / 2])
}

fn classify(round_trip: Duration) -> Mode {
    if round_trip < NEAR_MAX {
        Mode::Near
    } else {
        Mode::Far
    }
}

/// Returns the first two CPUs that this process may use.
pub(crate) fn two_cpus() -> Option<(usize, usize)> {
    match *cpus() {
        [first, second, ..] => Some((first, second)),
        _ => None,
    }
}

/// Returns the CPUs that this process may use, or none if the system does not tell.
pub(crate) fn cpus() -> Box<[usize]> {
    let Ok(allowed) = sched_getaffinity(None) else {
        return Box::default();
    };
    let all = 0..CpuSet::MAX_CPU;
    all.filter(|&cpu| allowed.is_set(cpu)).collect()
}

/// Measures `count` spinning round trips between threads on the two CPUs.
pub(crate) fn round_trips(first: usize, second: usize, count: u32) -> Duration {
    // Odd values are requests, even ones answers. The first trip is a warm-up.
    let turn = AtomicU32::new(0);
    time_round_trips(
        Some((first, second)),
        1,
        count,
        |number| {
            // ORDERING(P1): Release; only the turn is published.
            turn.store(2 * number - 1, Ordering::Release);
            spin_until(&turn, 2 * number);
        },
        || {
            for number in 1..=count + 1 {
                spin_until(&turn, 2 * number - 1);
                // ORDERING(P1): Release; only the turn is published.
                turn.store(2 * number, Ordering::Release);
            }
        },
    )
}

fn spin_until(turn: &AtomicU32, value: u32) {
    // ORDERING(P1): Acquire pairs with the other side's store.
    while turn.load(Ordering::Acquire) != value {
        std::hint::spin_loop();
    }
}

/// Binds the calling thread to `cpu`. If the system refuses, the probe is less accurate.
pub(crate) fn pin(cpu: usize) {
    let mut set = CpuSet::new();
    set.set(cpu);
    let _rough_without = sched_setaffinity(None, &set);
}

#[cfg(test)]
mod tests;
