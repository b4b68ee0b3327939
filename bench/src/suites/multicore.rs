//! The steps of the multicore study: what each of them gains for kNeighbor.
//!
//! As in the study, the ring has 7 elements with 3 neighbours on each side, and every byte of a
//! message is written before it is sent and read when it has arrived. Each case measures an
//! iteration, in µs, over the size of a message. `raddle` is the state after the step, and the
//! peers are the states before it.
//!
//! | case | figure | `raddle` | peers |
//! |---|---|---|---|
//! | `modes` | 2, 10 | workers of one process | `shm`, `socket` |
//! | `progress` | 3 | workers receive between tasks | `send`, `any-send`, `thread` |
//! | `allocation` | 4 | a received buffer is sent on | `system`, `system-locked` |
//! | `sections` | 5 | a mailbox has a mutex | `send-locked` |
//! | `mailbox` | 6 | mailboxes without a lock | `locked`, `producer-lock`, `pairs` |
//! | `private` | 7 | private variables in thread-local storage | `array`, `padded`, `none` |
//! | `affinity` | 9 | each worker is bound to a CPU | `unbound` |
//!
//! - In `modes`, `shm` and `socket` have a process for each worker.
//! - In `progress`, the workers are in two processes, which share memory. `send` also receives
//!   after each message to the other process, `any-send` after each message, and `thread` in a
//!   thread that does nothing else.
//! - In `allocation`, each message of `system` has a new buffer. `system-locked` also has one mutex
//!   around each allocation and each release.
//! - In `sections`, the mutex of a mailbox protects its queue. `send-locked` has one more mutex for
//!   all elements, which is held during each send.
//! - In `private`, four variables are updated for each message sent and for each message received.
//!   `array` and `padded` have them in arrays, and `none` has no such variables.
//!
//! Tables 1 and 2 of the study are cases of the suite `memory`.
//!
//! # Source
//! Mei, Zheng, Gioachin, Kalé: Optimizing a parallel runtime system for multicore clusters. 2010,
//! sect. 3.

mod team;

use raddle::{Builder, MailboxKind, Runtime};
use raddle_messages::kneighbor::{Buffers, KNeighbor, PrivateForm, Shape, Variant, together};
use raddle_topology::Affinity;

use self::team::Team;
use crate::chart::{Chart, Lines};
use crate::error::BenchError;
use crate::harness::{Case, Contender, Local, Sample, Unit};
use crate::pools::RaddlePools;
use crate::record::Record;
use crate::suites::Measurement;

pub(crate) use self::team::follow;

/// The names of the cases.
pub(crate) const CASES: [&str; 7] = [
    "modes",
    "progress",
    "allocation",
    "sections",
    "mailbox",
    "private",
    "affinity",
];

/// A help text for each case.
pub(crate) const ABOUT: [(&str, &str); 7] = [
    ("modes", "figures 2 and 10: threads against processes"),
    (
        "progress",
        "figure 3: the sends after which workers receive",
    ),
    ("allocation", "figure 4: the memory of messages"),
    (
        "sections",
        "figure 5: how much of a send is a critical section",
    ),
    ("mailbox", "figure 6: the queues of messages"),
    ("private", "figure 7: the location of private variables"),
    (
        "affinity",
        "figure 9: workers with and without a CPU of their own",
    ),
];

/// The approximate number of messages in a run within a process.
const MESSAGES: u64 = 600_000;
/// The maximum number of iterations in a run between processes.
const ITERATIONS: u64 = 3_000;
/// The maximum number of bytes that each element sends in a run.
const BYTES: u64 = 100_000_000;
/// The message sizes.
const SIZES: [usize; 7] = [16, 64, 256, 1_024, 4_096, 16_384, 65_536];

/// Runs the suite. If it has several numbers of workers, it leaves out a single worker, which
/// exchanges no messages with others.
///
/// # Errors
/// Those of [`Measurement::compare`].
pub(crate) fn run(measurement: &mut Measurement<'_>) -> Result<(), BenchError> {
    measurement.only_near = true;
    if measurement.workers.iter().any(|&workers| workers > 1) {
        measurement.workers.retain(|&workers| workers > 1);
    }
    for workers in measurement.workers.clone() {
        for name in CASES {
            if !measurement.wants(name) {
                continue;
            }
            match name {
                "modes" => between_teams(measurement, name, workers, &Team::of_modes(workers))?,
                "progress" => {
                    between_teams(measurement, name, workers, &Team::of_progress(workers))?;
                }
                _ => within_process(measurement, name, workers)?,
            }
        }
    }
    Ok(())
}

/// Returns the curves of all cases.
pub(crate) fn charts(records: &[Record]) -> Vec<Chart<'_>> {
    Chart::of_curves(records, Lines::OfMostWorkers, |_, _| Some("bytes"))
}

/// Compares the contenders of a case for each size. All of them are workers of this process.
fn within_process(
    measurement: &mut Measurement<'_>,
    name: &str,
    workers: usize,
) -> Result<(), BenchError> {
    for bytes in SIZES {
        let shape = shape(bytes);
        let iterations = iterations(bytes, MESSAGES / shape.messages());
        let mut all = contenders(name)
            .into_iter()
            .map(|contender| Box::new(contender.of_shape(shape)) as Box<dyn Contender>);
        let mut raddle = all.next().expect("each case begins with Raddle");
        let mut peers: Vec<_> = all.collect();
        let name = format!("{name}/{bytes}");
        let case = case(&name, iterations, shape);
        measurement.compare_on(workers, &case, &mut *raddle, &mut peers)?;
    }
    Ok(())
}

/// Compares teams of workers or processes for each size. All of them run from first to last.
fn between_teams(
    measurement: &mut Measurement<'_>,
    name: &str,
    workers: usize,
    teams: &[Team],
) -> Result<(), BenchError> {
    let jobs = teams.iter().map(|team| team.job());
    let measured = together(jobs, shape(SIZES[0]), |rings| {
        SIZES.into_iter().try_for_each(|bytes| {
            let iterations = iterations(bytes, ITERATIONS);
            let mut all = teams.iter().zip(rings).map(|(team, ring)| {
                Box::new(Local::new(team.name, move |_| {
                    sample(ring, bytes, iterations)
                })) as Box<dyn Contender + '_>
            });
            let mut raddle = all.next().expect("each case begins with Raddle");
            let mut peers: Vec<_> = all.collect();
            let name = format!("{name}/{bytes}");
            let case = case(&name, iterations, shape(bytes));
            measurement.compare_on(workers, &case, &mut *raddle, &mut peers)
        })
    });
    let measured = measured.map_err(|error| BenchError::contender("raddle", error))?;
    measured.ok_or_else(|| {
        BenchError::contender("raddle", "this process is not the first of its program")
    })?
}

/// A contender within this process: a runtime, and a variant of the program.
struct Within {
    name: &'static str,
    builder: Builder,
    variant: Variant,
}

impl Within {
    fn new(name: &'static str, builder: Builder, variant: Variant) -> Self {
        Self {
            name,
            builder,
            variant,
        }
    }

    fn of_shape(self, shape: Shape) -> impl Contender {
        let mut runtimes = RaddlePools::of(self.builder);
        Local::new(self.name, move |request| {
            let runtime = runtimes.of_workers(request.workers)?;
            let ring = KNeighbor::of_variant(runtime, shape, self.variant);
            sample(&ring, shape.bytes, request.repetitions)
        })
    }
}

/// Returns the contenders of a case within this process, Raddle first.
fn contenders(name: &str) -> Vec<Within> {
    let mailbox = |kind| Runtime::builder().mailbox(kind);
    let plain = Variant::default();
    let buffers = |buffers| Variant { buffers, ..plain };
    let private = |form| Variant {
        private: Some(form),
        ..plain
    };
    match name {
        "allocation" => vec![
            Within::new("raddle", Runtime::builder(), plain),
            Within::new("system", Runtime::builder(), buffers(Buffers::New)),
            Within::new(
                "system-locked",
                Runtime::builder(),
                buffers(Buffers::NewLocked),
            ),
        ],
        "sections" => {
            let send_locked = Variant {
                is_send_locked: true,
                ..plain
            };
            vec![
                Within::new("raddle", mailbox(MailboxKind::Locked), plain),
                Within::new("send-locked", mailbox(MailboxKind::Locked), send_locked),
            ]
        }
        "mailbox" => {
            let default = MailboxKind::default();
            let others = MailboxKind::ALL.into_iter().filter(|&kind| kind != default);
            let others = others.map(|kind| Within::new(kind.name(), mailbox(kind), plain));
            let raddle = Within::new("raddle", mailbox(default), plain);
            [raddle].into_iter().chain(others).collect()
        }
        "private" => vec![
            Within::new(
                "raddle",
                Runtime::builder(),
                private(PrivateForm::ThreadLocal),
            ),
            Within::new("array", Runtime::builder(), private(PrivateForm::Array)),
            Within::new("padded", Runtime::builder(), private(PrivateForm::Padded)),
            Within::new("none", Runtime::builder(), plain),
        ],
        _ => {
            let unbound = Runtime::builder().affinity(Affinity::None);
            vec![
                Within::new("raddle", Runtime::builder(), plain),
                Within::new("unbound", unbound, plain),
            ]
        }
    }
}

fn sample(ring: &KNeighbor<'_>, bytes: usize, iterations: u64) -> Result<Sample, BenchError> {
    let exchange = ring.run_with(bytes, iterations);
    let exchange = exchange.map_err(|error| BenchError::contender("raddle", error))?;
    Ok(Sample {
        time: exchange.time,
        result: exchange.messages,
    })
}

/// Returns the ring of the study.
const fn shape(bytes: usize) -> Shape {
    Shape {
        elements: 7,
        k: 3,
        bytes,
        touch: true,
    }
}

/// Returns the number of iterations of a run with messages of `bytes` bytes, at most `most`.
fn iterations(bytes: usize, most: u64) -> u64 {
    most.min(BYTES / (2 * shape(bytes).k * bytes) as u64)
}

fn case(name: &str, iterations: u64, shape: Shape) -> Case<'_> {
    Case {
        suite: "multicore",
        name,
        unit: Unit::Microseconds,
        repetitions: iterations,
        file: None,
        expected: shape.messages() * iterations,
        tolerance: 0,
    }
}

#[cfg(test)]
mod tests;
