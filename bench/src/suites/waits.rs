//! What it takes until a waiting thread hears: the wait cell against all else that a thread can
//! wait with.
//!
//! | case | measured | unit | peers |
//! |---|---|---|---|
//! | `soon` | a round trip of a number between two threads that answer at once | ns | all |
//! | `late` | from the decision to answer until the waiter runs, where the other side has slept for 500 µs | µs | all |
//! | `idle` | CPU time of a thread that waits for 10 s | % | `futex` |
//!
//! `raddle` waits in a wait cell, from one way to the next as the wait goes on. `spin` looks at an
//! atomic again and again, `spin-pause` with the processor's pause between two looks; `futex`
//! sleeps and is woken, without a cell; `eventfd` reads a counter of the kernel; `crossbeam` is a
//! channel with room for one. `tokio` is two tasks on a runtime of two workers, which may run on
//! one of them; `tokio-threads` two threads that each wait for one task. All threads are bound to
//! one of two CPUs each, but whoever only starts them.

mod rally;
mod tokio_peer;

use std::time::Duration;

use raddle_messages::waits::{Kind, Places, Waits, WaitsError};
use raddle_topology::{Affinity, Topology};

use self::rally::{Channel, Direction, FutexWord, SpinWord, Tally};
use crate::error::BenchError;
use crate::harness::{Case, Contender, Local, Sample, Unit};
use crate::probe;
use crate::suites::Measurement;

/// The names of the cases.
pub(crate) const CASES: [&str; 3] = ["soon", "late", "idle"];

/// How long the other side sleeps before a late answer.
const PAUSE: Duration = Duration::from_micros(500);
/// How long nobody answers an idle thread.
const IDLE: Duration = Duration::from_secs(10);

/// What is asked of two threads.
#[derive(Debug, Clone, Copy)]
struct Asked {
    /// What their case is called.
    name: &'static str,
    unit: Unit,
    trips: u32,
    /// How long the answerer sleeps first, if it does.
    pause: Option<Duration>,
}

/// In the order of [`CASES`].
const ASKED: [Asked; 3] = [
    Asked {
        name: CASES[0],
        unit: Unit::Nanoseconds,
        trips: 20_000,
        pause: None,
    },
    Asked {
        name: CASES[1],
        unit: Unit::Microseconds,
        trips: 400,
        pause: Some(PAUSE),
    },
    Asked {
        name: CASES[2],
        unit: Unit::Percent { of: IDLE },
        trips: 1,
        pause: Some(IDLE),
    },
];

/// Runs the suite, between two threads at whatever numbers of workers were asked for.
///
/// # Errors
/// As [`Measurement::compare`].
pub(crate) fn run(measurement: &mut Measurement<'_>) -> Result<(), BenchError> {
    measurement.workers = vec![2];
    for asked in ASKED {
        if !measurement.wants(asked.name) {
            continue;
        }
        let case = Case {
            suite: "waits",
            name: asked.name,
            unit: asked.unit,
            repetitions: asked.trips.into(),
            file: None,
            expected: asked.trips.into(),
            tolerance: 0,
        };
        let mut peers = if asked.is_idle() {
            vec![bare("futex", asked, FutexWord::default)]
        } else {
            all_peers(asked)
        };
        let mut raddle = in_a_way("raddle", asked, Kind::Auto);
        measurement.compare(&case, raddle.as_mut(), &mut peers)?;
    }
    Ok(())
}

impl Asked {
    /// Whether the CPU time counts, and not how long an answer takes.
    const fn is_idle(&self) -> bool {
        matches!(self.unit, Unit::Percent { .. })
    }

    fn sample(&self, tally: Tally) -> Sample {
        Sample {
            time: if self.is_idle() {
                tally.cpu
            } else {
                tally.time
            },
            result: tally.right,
        }
    }
}

fn all_peers(asked: Asked) -> Vec<Box<dyn Contender>> {
    let tokio = Local::new("tokio", move |_| {
        Ok(asked.sample(tokio_peer::tasks(two_cpus()?, asked.trips, asked.pause)?))
    });
    let threads = Local::new("tokio-threads", move |_| {
        let tally = tokio_peer::threads(two_cpus()?, asked.trips, asked.pause)?;
        Ok(asked.sample(tally))
    });
    vec![
        bare("spin", asked, SpinWord::<false>::default),
        bare("spin-pause", asked, SpinWord::<true>::default),
        bare("futex", asked, FutexWord::default),
        in_a_way("eventfd", asked, Kind::Eventfd),
        bare("crossbeam", asked, Channel::default),
        Box::new(tokio),
        Box::new(threads),
    ]
}

/// Two threads of ours that wait in a way.
fn in_a_way(who: &'static str, asked: Asked, kind: Kind) -> Box<dyn Contender> {
    Box::new(Local::new(who, move |_| {
        let tally = tally_of(asked, kind).map_err(|error| BenchError::Contender {
            contender: who.to_owned(),
            message: error.to_string(),
        })?;
        Ok(asked.sample(tally))
    }))
}

/// Every number that comes back is looked at there.
fn tally_of(asked: Asked, kind: Kind) -> Result<Tally, Box<dyn std::error::Error>> {
    let topology = Topology::this_machine()?;
    let (first, second) = two_cpus()?;
    let cpus = [first, second].map(|cpu| raddle_topology::CpuId(cpu as u32));
    let places = Places::of(topology, &Affinity::Explicit(cpus.to_vec()))?;
    let waits = Waits::new(topology, &places, kind)?;
    let trips = u64::from(asked.trips);
    let tally = |pause| -> Result<Tally, WaitsError> {
        let late = waits.late(trips, Duration::MAX, pause)?;
        Ok(Tally {
            time: late.latencies.iter().sum(),
            cpu: late.cpu,
            right: late.latencies.len() as u64,
        })
    };
    Ok(match asked.pause {
        Some(pause) => tally(pause)?,
        None => Tally {
            time: waits.run(trips)?,
            cpu: Duration::ZERO,
            right: trips,
        },
    })
}

/// Two threads with nothing but two directions between them.
fn bare<D: Direction>(
    who: &'static str,
    asked: Asked,
    direction: impl Fn() -> D + 'static,
) -> Box<dyn Contender> {
    Box::new(Local::new(who, move |_| {
        let (there, back) = (direction(), direction());
        let tally = rally::play(&there, &back, two_cpus()?, asked.trips, asked.pause);
        Ok(asked.sample(tally))
    }))
}

fn two_cpus() -> Result<(usize, usize), BenchError> {
    probe::two_cpus().ok_or_else(|| BenchError::Contender {
        contender: "two threads".to_owned(),
        message: "there are no two CPUs".to_owned(),
    })
}
