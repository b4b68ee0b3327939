//! Every pool on irregular work: the cost of a task and the use of the workers.
//!
//! - `sort1e7`, `sort1e8`: a quicksort of 10⁷ or 10⁸ random numbers. The tasks are parts of it,
//!   down to 1,000 items.
//! - `tree1us` … `tree420us`: 0.2 s of work in a random tree. The tasks are its nodes. Their times
//!   are exponentially distributed, with that mean.
//! - `tiles`: a picture of a knot of 100,000 triangles. The tasks are tiles of 8 × 8 pixels, which
//!   result from halving the whole picture.
//!
//! `auto`, the default pool, is measured alternately with each of the others and with `base`: a
//! stack without any synchronisation, on one thread, with any number of workers. A speedup is that
//! of a pool over `base`, both taken as ratios to the `auto` of the same pairs. Creating a task
//! costs the base almost nothing. So the speedup on one worker shows the pool's own cost.
//!
//! `auto-malloc` is `auto` with the closure of each task in a block from the system's allocator.
//!
//! `sort1e8` takes most of an hour and runs only if `--case` names it.
//!
//! # Source
//! R. Hoffmann, M. Korch, T. Rauber: Performance evaluation of task pools based on hardware
//! synchronization. SC 2004, sections 3 to 6. The mean times of tasks are those of its
//! applications.

mod job;
mod parts;
mod picture;
mod tree;

use raddle::{PoolKind, Runtime, TaskMemory};

use self::job::{Runner, Workload};
use self::parts::Parts;
use self::picture::Picture;
use self::tree::Tree;
use crate::error::BenchError;
use crate::harness::{Case, Contender, Local, Unit};
use crate::pools::RaddlePools;
use crate::suites::Measurement;

/// The names of the cases.
pub(crate) const CASES: [&str; 8] = [
    "tree1us",
    "tree6us",
    "tree84us",
    "tree109us",
    "tree420us",
    "tiles",
    "sort1e7",
    ONLY_BY_NAME,
];

const ONLY_BY_NAME: &str = "sort1e8";

/// Runs the suite.
///
/// # Errors
/// As [`Measurement::compare`].
pub(crate) fn run(measurement: &mut Measurement<'_>) -> Result<(), BenchError> {
    for name in CASES {
        if !measurement.wants(name) {
            continue;
        }
        match name {
            "tree1us" => compare(measurement, name, &Tree::new(1.0)),
            "tree6us" => compare(measurement, name, &Tree::new(6.0)),
            "tree84us" => compare(measurement, name, &Tree::new(84.0)),
            "tree109us" => compare(measurement, name, &Tree::new(109.0)),
            "tree420us" => compare(measurement, name, &Tree::new(420.0)),
            "tiles" => compare(measurement, name, &Picture::new()?),
            "sort1e7" => compare(measurement, name, &Parts::new(10_000_000)),
            _ if measurement.case.is_some() => compare(measurement, name, &Parts::new(100_000_000)),
            _ => Ok(()),
        }?;
    }
    Ok(())
}

fn compare(
    measurement: &mut Measurement<'_>,
    name: &'static str,
    workload: &dyn Workload,
) -> Result<(), BenchError> {
    let case = Case {
        suite: "pools",
        name,
        unit: Unit::Milliseconds,
        repetitions: 1,
        file: None,
        expected: workload.measure(Runner::Stack).result,
        tolerance: 0,
    };
    let on = |name: &'static str, kind: PoolKind, task_memory: TaskMemory| {
        let builder = Runtime::builder().pool(kind).task_memory(task_memory);
        let mut pools = RaddlePools::of(builder);
        Local::new(name, move |request| {
            pools.install(request.workers, || workload.measure(Runner::Pool))
        })
    };
    let auto = PoolKind::default();
    let base = Local::new("base", |_| Ok(workload.measure(Runner::Stack)));
    let malloc = on("auto-malloc", auto, TaskMemory::Malloc);
    let mut peers: Vec<Box<dyn Contender + '_>> = vec![Box::new(base), Box::new(malloc)];
    for kind in PoolKind::ALL {
        if kind != auto {
            peers.push(Box::new(on(kind.name(), kind, TaskMemory::Cells)));
        }
    }
    let mut auto = on(auto.name(), auto, TaskMemory::Cells);
    measurement.compare(&case, &mut auto, &mut peers)
}
