//! Every pool on irregular work: the cost of a task and the use of the workers.
//!
//! - `sort1e7`, `sort1e8`: a quicksort of 10⁷ or 10⁸ random numbers. The tasks are parts of it,
//!   down to 1,000 items.
//! - `tree1us` … `tree420us`: 0.2 s of work in a random tree. The tasks are its nodes. Their times
//!   are exponentially distributed, with that mean.
//! - `tiles`: a picture of a knot of 100,000 triangles. The tasks are tiles of 8 × 8 pixels, which
//!   result from halving the whole picture.
//! - `blocks-tree6us`, `blocks-sort1e7`: DQ-BL-TL-C with blocks of different shapes, on the tasks
//!   of `tree6us` and `sort1e7`. Each shape is a contender with its own name, such as `8x2`.
//! - `sizes1e7`, `sizes1e8`: the number, mean time and share of the time of the tasks of each size,
//!   in one quicksort of 10⁷ or 10⁸ random numbers on one thread. There are no peers.
//! - `simulated1e7`, `simulated1e8`: the speedups of [`simulated`] pools on such recorded tasks,
//!   with up to 32 workers.
//!
//! `auto`, the default pool, is measured alternately with each of the others and with `base`: a
//! stack without any synchronisation, on one thread, with any number of workers. A speedup is that
//! of a pool over `base`, both taken as ratios to the `auto` of the same pairs. Creating a task
//! costs the base almost nothing. So the speedup on one worker shows the pool's own cost.
//!
//! `auto-malloc` is `auto` with the closure of each task in a block from the system's allocator.
//!
//! `--pool` restricts the comparison of all pools to `auto`, `base` and the pools that it names.
//!
//! `sort1e8` takes most of an hour for all pools. It and the other cases of 10⁸
//! numbers run only if `--case` names them.
//!
//! # Source
//! R. Hoffmann, M. Korch, T. Rauber: Performance evaluation of task pools based on hardware
//! synchronization. SC 2004, sections 3 to 6. The mean times of tasks are those of its
//! applications.

pub(in crate::suites) mod job;
mod parts;
mod picture;
mod recorded;
mod simulated;
mod tree;

use raddle::{BlockShape, PoolKind, Runtime, TaskMemory};

use self::job::{Runner, Workload};
use self::parts::Parts;
use self::picture::Picture;
use self::tree::Tree;
use crate::chart::{self, Chart};
use crate::error::BenchError;
use crate::harness::{Case, Contender, Local, Unit};
use crate::pools::RaddlePools;
use crate::record::Record;
use crate::suites::Measurement;

/// The names of the cases.
pub(crate) const CASES: [&str; 14] = [
    "tree1us",
    "tree6us",
    "tree84us",
    "tree109us",
    "tree420us",
    "tiles",
    "sort1e7",
    "sort1e8",
    "blocks-tree6us",
    "blocks-sort1e7",
    "sizes1e7",
    "sizes1e8",
    "simulated1e7",
    "simulated1e8",
];

const SUITE: &str = "pools";

/// The cases that run only if they are named.
const ONLY_BY_NAME: [&str; 3] = ["sort1e8", "sizes1e8", "simulated1e8"];

/// The shapes of blocks: single tasks, the study's shape, larger blocks, and more public blocks.
const SHAPES: [(&str, BlockShape); 6] = [
    ("1x2", BlockShape::new(1, 2)),
    ("2x2", BlockShape::new(2, 2)),
    ("4x2", BlockShape::new(4, 2)),
    ("8x2", BlockShape::new(8, 2)),
    ("32x2", BlockShape::new(32, 2)),
    ("4x16", BlockShape::new(4, 16)),
];

/// Returns true if the case compares the pools that `--pool` can name.
pub(crate) fn takes_pool(case: &str) -> bool {
    let others = ["blocks-", "sizes", "simulated"];
    !others.iter().any(|other| case.starts_with(other))
}

/// Runs the suite.
///
/// # Errors
/// Those of [`Measurement::compare`].
pub(crate) fn run(measurement: &mut Measurement<'_>) -> Result<(), BenchError> {
    for name in CASES {
        if !measurement.wants(name) || measurement.case.is_none() && ONLY_BY_NAME.contains(&name) {
            continue;
        }
        match name {
            "tree1us" => pools(measurement, name, &Tree::new(1.0)),
            "tree6us" => pools(measurement, name, &Tree::new(6.0)),
            "tree84us" => pools(measurement, name, &Tree::new(84.0)),
            "tree109us" => pools(measurement, name, &Tree::new(109.0)),
            "tree420us" => pools(measurement, name, &Tree::new(420.0)),
            "tiles" => pools(measurement, name, &Picture::new()?),
            "sort1e7" => pools(measurement, name, &Parts::new(10_000_000)),
            "sort1e8" => pools(measurement, name, &Parts::new(100_000_000)),
            "blocks-tree6us" => shapes(measurement, name, &Tree::new(6.0)),
            "blocks-sort1e7" => shapes(measurement, name, &Parts::new(10_000_000)),
            "sizes1e7" => recorded::sizes(measurement, name, 10_000_000),
            "sizes1e8" => recorded::sizes(measurement, name, 100_000_000),
            "simulated1e7" => recorded::speedups(measurement, name, 10_000_000),
            _ => recorded::speedups(measurement, name, 100_000_000),
        }?;
    }
    Ok(())
}

/// Returns the charts of the records: speedups, and curves over the size of the tasks.
pub(crate) fn charts(records: &[Record]) -> Vec<Chart<'_>> {
    let speedups = Chart::of_speedups(records, chart::BASE);
    let speedups = std::iter::once(speedups).filter(|chart| !chart.cases().is_empty());
    speedups.chain(recorded::charts(records)).collect()
}

/// Compares the pools in a case of this suite.
fn pools(
    measurement: &mut Measurement<'_>,
    name: &'static str,
    workload: &dyn Workload,
) -> Result<(), BenchError> {
    compare_pools(measurement, SUITE, name, workload, Vec::new())
}

/// Compares the pools, or those of them that the caller named, and `peers`.
pub(in crate::suites) fn compare_pools<'a>(
    measurement: &mut Measurement<'_>,
    suite: &'static str,
    name: &'static str,
    workload: &'a dyn Workload,
    mut peers: Vec<Box<dyn Contender + 'a>>,
) -> Result<(), BenchError> {
    let named = measurement.pools.clone();
    let is_wanted = |kind: PoolKind| named.is_empty() || named.contains(&kind);
    if named.is_empty() {
        let malloc = Runtime::builder().task_memory(TaskMemory::Malloc);
        peers.push(Box::new(on("auto-malloc", malloc, workload)));
    }
    for kind in PoolKind::ALL {
        if kind != PoolKind::default() && is_wanted(kind) {
            let builder = Runtime::builder().pool(kind);
            peers.push(Box::new(on(kind.name(), builder, workload)));
        }
    }
    compare(measurement, suite, name, workload, peers)
}

/// Compares a block-distributed pool with blocks of different shapes.
fn shapes(
    measurement: &mut Measurement<'_>,
    name: &'static str,
    workload: &dyn Workload,
) -> Result<(), BenchError> {
    let shaped = SHAPES.map(|(shape_name, shape)| {
        let builder = Runtime::builder().pool(PoolKind::DqBlTlC).blocks(shape);
        Box::new(on(shape_name, builder, workload)) as Box<dyn Contender + '_>
    });
    compare(measurement, SUITE, name, workload, shaped.into())
}

/// Creates a contender that does the work on runtimes of a builder.
fn on<'a>(
    name: &'static str,
    builder: raddle::Builder,
    workload: &'a dyn Workload,
) -> impl Contender + use<'a> {
    let mut pools = RaddlePools::of(builder);
    Local::new(name, move |request| {
        pools.install(request.workers, || workload.measure(Runner::Pool))
    })
}

/// Compares `auto` with the stack without synchronisation, and then with the other contenders.
fn compare<'a>(
    measurement: &mut Measurement<'_>,
    suite: &'static str,
    name: &'static str,
    workload: &'a dyn Workload,
    others: Vec<Box<dyn Contender + 'a>>,
) -> Result<(), BenchError> {
    // Loops of a workload outside of its tasks have one worker, too.
    let mut alone = RaddlePools::default();
    let mut on_stack = move || alone.install(1, || workload.measure(Runner::Stack));
    let case = Case {
        suite,
        name,
        unit: Unit::Milliseconds,
        repetitions: 1,
        file: None,
        expected: on_stack()?.result,
        tolerance: 0,
    };
    let auto = PoolKind::default();
    let mut auto = on(auto.name(), Runtime::builder().pool(auto), workload);
    let base = Local::new(chart::BASE, move |_| on_stack());
    let mut peers: Vec<Box<dyn Contender + 'a>> = vec![Box::new(base)];
    peers.extend(others);
    measurement.compare(&case, &mut auto, &mut peers)
}

#[cfg(test)]
mod tests;
