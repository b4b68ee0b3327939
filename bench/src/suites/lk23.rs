//! Livermore kernel 23 by locations, 100 sweeps: `lk23-4096` over 4096 × 4096 points, which exceed
//! any cache, and `lk23-512`, which fits into one.
//!
//! All contenders cut the matrix into the same blocks and make the same number of sweeps of a block
//! per turn. Each language has one inner loop. In C++ the values are stored by rows, in Rust by
//! pairs of rows. The coefficients are stored by pairs of rows in both. So `serial` shows the
//! effect of the runtime, and `openmp` with one thread beside `serial` shows the difference of the
//! inner loops. A run is timed from the first block to the last. The blocks are created before
//! that. Results equal those of the plain loops, bit by bit.
//!
//! - `raddle`: a task for each block, with nine operations and with borders in locations. Rows of
//!   blocks are distributed to the workers.
//! - `placed`: the same, placed by the communication of the operations.
//! - `serial`: Raddle's blocks on one thread, one after another.
//! - `plain`: the loops as written in the definition, on one thread.
//! - `apart`: a thread for each worker, with an equal part of the rows as a separate matrix, which
//!   it sweeps over like `serial`. This is the speed of the machine for work that is divided
//!   perfectly and exchanges nothing.
//! - `openmp`: C++, the blocks of a diagonal in a parallel loop with static chunks, as in the
//!   study.
//! - `openmp-tasks`: C++, a task for each turn of each block, with dependencies on other blocks.
//!
//! # Source
//! Gustedt, Jeannot, Mansouri: Fully-abstracted affinity optimization for task-based models. Inria
//! RR-8993, 2016, sections 5.1 and 6.2.1.

use std::num::NonZeroUsize;
use std::panic::resume_unwind;
use std::path::PathBuf;
use std::sync::Barrier;
use std::thread;

use raddle_numerics::lk23::{self, Blocks, Form, Input, Lk23, Loops, Plan, Wanted};

use crate::error::BenchError;
use crate::harness::{Case, Contender, Local, Request, Sample, Unit, timed};
use crate::peer::{LK23_OPENMP, LK23_TASKS};
use crate::pools::RaddlePools;
use crate::suites::Measurement;

/// The names of the cases.
pub(crate) const CASES: [&str; 2] = ["lk23-4096", "lk23-512"];

/// The seed of the numbers. The C++ peers use the same seed.
const SEED: u64 = 23;
const SWEEPS: u64 = 100;

/// The parameters of a case, chosen for a cache of 1 MiB: rows and columns, blocks along a side,
/// and the maximum number of sweeps of a block per turn.
struct Setting {
    name: &'static str,
    size: usize,
    blocks: usize,
    depth: usize,
}

const SETTINGS: [Setting; 2] = [
    Setting {
        name: CASES[0],
        size: 4096,
        blocks: 32,
        depth: 32,
    },
    Setting {
        name: CASES[1],
        size: 512,
        blocks: 8,
        depth: 16,
    },
];

/// A contender with another name.
struct Renamed<'a>(&'static str, Box<dyn Contender + 'a>);

impl Contender for Renamed<'_> {
    fn name(&self) -> &str {
        self.0
    }

    fn process(&self) -> Option<u32> {
        self.1.process()
    }

    fn measure(&mut self, request: &Request<'_>) -> Result<Sample, BenchError> {
        self.1.measure(request)
    }
}

/// Runs the suite.
///
/// # Errors
/// Those of [`Measurement::compare`].
pub(crate) fn run(measurement: &mut Measurement<'_>) -> Result<(), BenchError> {
    for setting in &SETTINGS {
        if measurement.wants(setting.name) {
            compare(measurement, setting)?;
        }
    }
    Ok(())
}

fn compare(measurement: &mut Measurement<'_>, setting: &Setting) -> Result<(), BenchError> {
    let input = Input {
        rows: setting.size,
        columns: setting.size,
        seed: SEED,
    };
    let plan = plan(setting, 1).map_err(|error| BenchError::contender("raddle", error))?;
    // The parameters of the C++ peers. They read them in place of a file name.
    let shape = PathBuf::from(format!(
        "{} {} {} {SWEEPS}",
        setting.size, setting.blocks, setting.depth
    ));
    let case = Case {
        suite: "lk23",
        name: setting.name,
        unit: Unit::Milliseconds,
        repetitions: 1,
        file: Some(&shape),
        expected: lk23::checksum(&lk23::reference(&input, SWEEPS)),
        tolerance: 0,
    };
    let run = |pools: &mut RaddlePools, workers, is_dealt: bool| {
        let runtime = pools.of_workers(workers)?;
        let mut program = Lk23::new(runtime, &input, &plan, Form::Future, |_| ());
        if is_dealt {
            program.deal(runtime);
        }
        let ran = program
            .run_on(runtime)
            .map_err(|error| BenchError::contender("raddle", error))?;
        let values = ran
            .values()
            .map_err(|error| BenchError::contender("raddle", error))?;
        Ok::<_, BenchError>(Sample {
            time: ran.outcome.elapsed,
            result: lk23::checksum(&values),
        })
    };
    let (mut pools, mut placed_pools) = (RaddlePools::default(), RaddlePools::default());
    let mut raddle = Local::new("raddle", |request| run(&mut pools, request.workers, true));
    let placed = Local::new("placed", |request| {
        run(&mut placed_pools, request.workers, false)
    });
    let serial = Local::new("serial", |_| {
        let mut blocks = Blocks::new(&input, &plan);
        let mut sample = timed(1, || {
            blocks.run(|_| ());
            0
        });
        sample.result = lk23::checksum(&blocks.values());
        Ok(sample)
    });
    let plain = Local::new("plain", |_| {
        let mut loops = Loops::new(&input);
        let mut sample = timed(1, || {
            loops.run(SWEEPS);
            0
        });
        sample.result = lk23::checksum(loops.values());
        Ok(sample)
    });
    let apart = Local::new("apart", |request| {
        let mut sample = apart(setting, request.workers)?;
        sample.result ^= case.expected;
        Ok(sample)
    });
    let mut peers: Vec<Box<dyn Contender + '_>> = vec![
        Box::new(serial),
        Box::new(placed),
        Box::new(apart),
        Box::new(plain),
    ];
    for (name, source) in [("openmp", LK23_OPENMP), ("openmp-tasks", LK23_TASKS)] {
        let peer = measurement.peer(source);
        peers.extend(peer.map(|peer| Box::new(Renamed(name, peer)) as Box<dyn Contender>));
    }
    measurement.compare(&case, &mut raddle, &mut peers)
}

/// Measures equal parts of the rows, each on its own thread, without communication.
///
/// The result is the difference from the plain loops: 0.
fn apart(setting: &Setting, threads: usize) -> Result<Sample, BenchError> {
    let plan = plan(setting, threads).map_err(|error| BenchError::contender("apart", error))?;
    let input = Input {
        rows: setting.size / threads,
        columns: setting.size,
        seed: SEED,
    };
    let expected = lk23::checksum(&lk23::reference(&input, SWEEPS));
    let start = Barrier::new(threads);
    let part = || {
        let mut blocks = Blocks::new(&input, &plan);
        start.wait();
        let mut sample = timed(1, || {
            blocks.run(|_| ());
            0
        });
        sample.result = lk23::checksum(&blocks.values()) ^ expected;
        sample
    };
    let parts = thread::scope(|scope| {
        let threads: Vec<_> = (0..threads).map(|_| scope.spawn(part)).collect();
        let joined = threads
            .into_iter()
            .map(|thread| thread.join().unwrap_or_else(|panic| resume_unwind(panic)));
        joined.collect::<Vec<_>>()
    });
    Ok(Sample {
        time: parts.iter().map(|part| part.time).max().unwrap_or_default(),
        result: parts.iter().fold(0, |all, part| all | part.result),
    })
}

/// Returns the blocks of one of `parts` equal parts of the rows. A part may have fewer rows than a
/// block of the whole matrix.
fn plan(setting: &Setting, parts: usize) -> Result<Plan, lk23::PlanError> {
    let (rows, side) = (setting.size / parts, setting.size / setting.blocks);
    let wanted = Wanted {
        block: NonZeroUsize::new(side.min(rows)).zip(NonZeroUsize::new(side)),
        depth: NonZeroUsize::new(setting.depth.min(rows)),
        ..Wanted::default()
    };
    Plan::new(rows, setting.size, SWEEPS, &wanted)
}
