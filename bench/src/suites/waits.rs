//! The time until a waiting thread notices a message, for the wait cell and for other ways to wait.
//!
//! - `soon`: a round trip of a number between two threads that answer at once, in ns. All peers.
//! - `late`: the time from the decision to answer until the waiter runs, in µs. The other side has
//!   slept for 500 µs before. All peers.
//! - `idle`: the CPU time of a thread that waits for 10 s, in percent. Peer `futex`.
//!
//! `raddle` waits in a wait cell, which changes its method as the wait continues. `spin` reads an
//! atomic repeatedly; `spin-pause` also executes the processor's pause instruction between two
//! reads. `futex` sleeps and is woken, without a cell. `eventfd` reads a counter of the kernel.
//! `crossbeam` is a channel with capacity one. `tokio` is two tasks on a runtime of two workers,
//! which may both run on the same worker. `tokio-threads` is two threads that each wait for one
//! task. Each thread is bound to one of two CPUs, except those that only start others.

mod round_trips;
mod tokio_peer;

use std::time::Duration;

use raddle_messages::waits::{Kind, Places, Waits, WaitsError};
use raddle_topology::{Affinity, Topology};

use self::round_trips::{Channel, Direction, FutexWord, SpinWord, Totals};
use crate::error::BenchError;
use crate::harness::{Case, Contender, Local, Sample, Unit};
use crate::suites::Measurement;
use crate::two_threads;

/// The names of the cases.
pub(crate) const CASES: [&str; 3] = ["soon", "late", "idle"];

/// The time for which the other side sleeps before a late answer.
const PAUSE: Duration = Duration::from_micros(500);
/// The time for which an idle thread gets no answer.
const IDLE: Duration = Duration::from_secs(10);

/// A case of the suite.
#[derive(Debug, Clone, Copy)]
struct WaitCase {
    /// The name of the case.
    name: &'static str,
    unit: Unit,
    trips: u32,
    /// The time for which the other side sleeps before it answers, if any.
    pause: Option<Duration>,
}

/// The cases, in the order of [`CASES`].
const WAIT_CASES: [WaitCase; 3] = [
    WaitCase {
        name: CASES[0],
        unit: Unit::Nanoseconds,
        trips: 20_000,
        pause: None,
    },
    WaitCase {
        name: CASES[1],
        unit: Unit::Microseconds,
        trips: 400,
        pause: Some(PAUSE),
    },
    WaitCase {
        name: CASES[2],
        unit: Unit::Percent { of: IDLE },
        trips: 1,
        pause: Some(IDLE),
    },
];

/// Runs the suite, always between two threads.
///
/// # Errors
/// Those of [`Measurement::compare`].
pub(crate) fn run(measurement: &mut Measurement<'_>) -> Result<(), BenchError> {
    measurement.workers = vec![2];
    for wait in WAIT_CASES {
        if !measurement.wants(wait.name) {
            continue;
        }
        let case = Case {
            suite: "waits",
            name: wait.name,
            unit: wait.unit,
            repetitions: wait.trips.into(),
            file: None,
            expected: wait.trips.into(),
            tolerance: 0,
        };
        let mut peers = if wait.is_idle() {
            vec![bare("futex", wait, FutexWord::default)]
        } else {
            all_peers(wait)
        };
        let mut raddle = of_kind("raddle", wait, Kind::Auto);
        measurement.compare(&case, raddle.as_mut(), &mut peers)?;
    }
    Ok(())
}

impl WaitCase {
    /// Returns true if the CPU time counts, not the time of an answer.
    const fn is_idle(&self) -> bool {
        matches!(self.unit, Unit::Percent { .. })
    }

    fn sample(&self, totals: Totals) -> Sample {
        Sample {
            time: if self.is_idle() {
                totals.cpu
            } else {
                totals.time
            },
            result: totals.right,
        }
    }
}

fn all_peers(wait: WaitCase) -> Vec<Box<dyn Contender>> {
    let tokio = Local::new("tokio", move |_| {
        Ok(wait.sample(tokio_peer::tasks(
            two_threads::cpus()?,
            wait.trips,
            wait.pause,
        )?))
    });
    let threads = Local::new("tokio-threads", move |_| {
        let totals = tokio_peer::threads(two_threads::cpus()?, wait.trips, wait.pause)?;
        Ok(wait.sample(totals))
    });
    vec![
        bare("spin", wait, SpinWord::<false>::default),
        bare("spin-pause", wait, SpinWord::<true>::default),
        bare("futex", wait, FutexWord::default),
        of_kind("eventfd", wait, Kind::Eventfd),
        bare("crossbeam", wait, Channel::default),
        Box::new(tokio),
        Box::new(threads),
    ]
}

/// Creates a contender: two threads that wait by a kind of raddle-messages.
fn of_kind(name: &'static str, wait: WaitCase, kind: Kind) -> Box<dyn Contender> {
    Box::new(Local::new(name, move |_| {
        let totals = totals_of(wait, kind).map_err(|error| BenchError::contender(name, error))?;
        Ok(wait.sample(totals))
    }))
}

/// Measures a case by a kind of wait. The measured threads check every number that they receive.
fn totals_of(wait: WaitCase, kind: Kind) -> Result<Totals, Box<dyn std::error::Error>> {
    let topology = Topology::this_machine()?;
    let (first, second) = two_threads::cpus()?;
    let cpus = [first, second].map(|cpu| raddle_topology::CpuId(cpu as u32));
    let places = Places::of(topology, &Affinity::Explicit(cpus.to_vec()))?;
    let waits = Waits::new(topology, &places, kind)?;
    let trips = u64::from(wait.trips);
    let totals = |pause| -> Result<Totals, WaitsError> {
        let late = waits.late(trips, Duration::MAX, pause)?;
        Ok(Totals {
            time: late.latencies.iter().sum(),
            cpu: late.cpu,
            right: late.latencies.len() as u64,
        })
    };
    Ok(match wait.pause {
        Some(pause) => totals(pause)?,
        None => Totals {
            time: waits.run(trips)?,
            cpu: Duration::ZERO,
            right: trips,
        },
    })
}

/// Creates a contender: two threads with only the two given directions between them.
fn bare<D: Direction>(
    name: &'static str,
    wait: WaitCase,
    direction: impl Fn() -> D + 'static,
) -> Box<dyn Contender> {
    Box::new(Local::new(name, move |_| {
        let (there, back) = (direction(), direction());
        let totals = round_trips::play(&there, &back, two_threads::cpus()?, wait.trips, wait.pause);
        Ok(wait.sample(totals))
    }))
}
