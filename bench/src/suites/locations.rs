//! The cost of locations: `section`, `grant`, `futures`.
//!
//! - `section`: a task writes a location without contention: it enters, counts, leaves and inserts
//!   its next request. Peer `rwlock`: lock, count and unlock of a standard read-write lock.
//! - `grant`: two tasks on threads of their own write one location alternately, both spinning. A
//!   round is there and back. Peer `raw`: two bound threads that pass a word.
//! - `futures`: one turn of each of 100,000 tasks in a ring, each a future. No peer.
//!
//! # Memory ordering
//! The round trips of `raw` are those of [`probe`].

use std::sync::RwLock;
use std::time::Duration;

use raddle::{Program, Runtime, Turns};

use crate::error::BenchError;
use crate::harness::{Case, Contender, Local, Sample, Unit, timed};
use crate::probe;
use crate::suites::Measurement;

/// The names of the cases.
pub(crate) const CASES: [&str; 3] = ["section", "grant", "futures"];

const SECTIONS: u64 = 5_000_000;
const GRANTS: u32 = 200_000;
const FUTURES: u64 = 100_000;
const FUTURE_TURNS: u64 = 5;

/// Runs the suite.
///
/// # Errors
/// Those of [`Measurement::compare`].
pub(crate) fn run(measurement: &mut Measurement<'_>) -> Result<(), BenchError> {
    let workers = measurement.workers.clone();
    if measurement.wants("section") {
        measurement.workers = vec![1];
        let peer = Local::new("rwlock", |_| Ok(locked()));
        compare(
            measurement,
            "section",
            SECTIONS,
            sections,
            Some(Box::new(peer)),
        )?;
    }
    if measurement.wants("grant") {
        measurement.workers = vec![2];
        let peer = probe::two_cpus().map(|(first, second)| {
            let raw = Local::new("raw", move |_| {
                Ok(Sample {
                    time: probe::round_trips(first, second, GRANTS),
                    result: u64::from(GRANTS),
                })
            });
            Box::new(raw) as Box<dyn Contender>
        });
        compare(measurement, "grant", u64::from(GRANTS), grants, peer)?;
    }
    measurement.workers = workers;
    if measurement.wants("futures") {
        compare(
            measurement,
            "futures",
            FUTURES * FUTURE_TURNS,
            futures,
            None,
        )?;
    }
    Ok(())
}

/// Measures a case. `own` receives the runtime and returns the time and the number of all rounds.
fn compare(
    measurement: &mut Measurement<'_>,
    name: &'static str,
    rounds: u64,
    own: fn(&Runtime) -> Result<Sample, BenchError>,
    peer: Option<Box<dyn Contender>>,
) -> Result<(), BenchError> {
    let case = Case {
        suite: "locations",
        name,
        unit: Unit::Nanoseconds,
        repetitions: rounds,
        file: None,
        expected: rounds,
        tolerance: 0,
    };
    let mut raddle = Local::new("raddle", move |request| {
        let runtime = Runtime::builder().workers(request.workers).build();
        own(&runtime.map_err(failed)?)
    });
    let mut peers: Vec<_> = peer.into_iter().collect();
    measurement.compare(&case, &mut raddle, &mut peers)
}

fn failed(error: impl std::error::Error) -> BenchError {
    BenchError::contender("raddle", error)
}

fn sections(runtime: &Runtime) -> Result<Sample, BenchError> {
    let mut program = Program::new("section");
    let number = program.location("number", 0_u64);
    program.task("count", |task| {
        let mut number = task.writes_each_turn(&number);
        move || number.section(|number| *number += 1)
    });
    let outcome = program.run_on(runtime, Turns(SECTIONS)).map_err(failed)?;
    let result = *number.read().map_err(failed)?;
    Ok(Sample {
        time: outcome.elapsed,
        result,
    })
}

/// Counts the rounds under an uncontended read-write lock.
fn locked() -> Sample {
    let number = RwLock::new(0_u64);
    timed(1, || {
        let number = std::hint::black_box(&number);
        for _ in 0..SECTIONS {
            *number.write().expect("no thread panics") += 1;
        }
        *number.read().expect("no thread panics")
    })
}

fn grants(runtime: &Runtime) -> Result<Sample, BenchError> {
    let mut program = Program::new("grant");
    let ball = program.location("ball", 0_u64);
    for player in ["ping", "pong"] {
        program.task(player, |task| {
            let mut ball = task.writes_each_turn(&ball);
            move || ball.section(|ball| *ball += 1)
        });
    }
    let turns = Turns(u64::from(GRANTS));
    let outcome = program.run_on(runtime, turns).map_err(failed)?;
    let result = *ball.read().map_err(failed)? / 2;
    Ok(Sample {
        time: outcome.elapsed,
        result,
    })
}

fn futures(runtime: &Runtime) -> Result<Sample, BenchError> {
    let mut program = Program::new("futures");
    let cells: Vec<_> = (0..FUTURES)
        .map(|cell| program.location(cell.to_string(), 0_u64))
        .collect();
    let lefts = cells.iter().cycle().skip(cells.len() - 1);
    for (cell, left) in cells.iter().zip(lefts) {
        program.async_task(cell.name(), |task| {
            let mut left = task.reads_each_turn(left);
            let mut own = task.writes_each_turn(cell);
            let mut turns = task.turns();
            async move {
                while turns.next() {
                    let left = *left.enter().await;
                    *own.enter().await = left + 1;
                }
            }
        });
    }
    let outcome = program
        .run_on(runtime, Turns(FUTURE_TURNS))
        .map_err(failed)?;
    let last = cells.last().expect("there are cells");
    let result = *last.read().map_err(failed)?;
    Ok(Sample {
        time: outcome.elapsed.max(Duration::from_nanos(1)),
        result,
    })
}
