//! The cost of a fork: `fib38`, `tree24` and `queens12`, all without a cut-off.
//!
//! | case | workload | forks |
//! |---|---|---|
//! | `fib38` | Fibonacci by its definition | 63 million, next to no work in each |
//! | `tree24` | sum over a balanced tree of 2^24 − 1 nodes | 8 million, one cache line each |
//! | `queens12` | all ways to place 12 queens | 0.5 million, about 0.1 µs each |
//!
//! Peers: `plain` and `plain-cpp` (no runtime), `rayon`, `chili`, `onetbb`, `openmp`.

use crate::error::BenchError;
use crate::harness::{Case, Contender, Local, Unit, timed};
use crate::peer::{ONETBB, OPENMP, PLAIN_CPP};
use crate::pools::{ChiliPools, RaddlePools, RayonPools};
use crate::suites::Measurement;
use crate::workload::{
    FIB_ARGUMENT, Fib, Fork, Node, Plain, Queens, Raddle, Rayon, Sum, TREE_DEPTH, Task,
};

/// The names of the cases.
pub(crate) const CASES: [&str; 3] = ["fib38", "tree24", "queens12"];

const QUEENS_SOLUTIONS: u64 = 14_200;
const FIB_RESULT: u64 = 39_088_169;

/// Runs the suite.
///
/// # Errors
/// Those of [`Measurement::compare`].
pub(crate) fn run(measurement: &mut Measurement<'_>) -> Result<(), BenchError> {
    if measurement.wants("fib38") {
        compare(measurement, case("fib38", FIB_RESULT, 1), &FibCase)?;
    }
    if measurement.wants("tree24") {
        let mut node_count = 0;
        let tree = TreeCase(Node::tree(TREE_DEPTH, &mut node_count));
        let expected = node_count * (node_count - 1) / 2;
        compare(measurement, case("tree24", expected, 4), &tree)?;
    }
    if measurement.wants("queens12") {
        compare(
            measurement,
            case("queens12", QUEENS_SOLUTIONS, 2),
            &QueensCase,
        )?;
    }
    Ok(())
}

fn case(name: &'static str, expected: u64, repetitions: u64) -> Case<'static> {
    Case {
        suite: "forks",
        name,
        unit: Unit::Milliseconds,
        repetitions,
        file: None,
        expected,
        tolerance: 0,
    }
}

/// A workload that can be run repeatedly on any runtime.
trait Workload: Sync {
    fn run<F: Fork>(&self, fork: &mut F) -> u64;
}

struct FibCase;

impl Workload for FibCase {
    fn run<F: Fork>(&self, fork: &mut F) -> u64 {
        // Hide the argument from the optimiser, which would compute the result in advance.
        Fib(std::hint::black_box(FIB_ARGUMENT)).run(fork)
    }
}

struct TreeCase(Box<Node>);

impl Workload for TreeCase {
    fn run<F: Fork>(&self, fork: &mut F) -> u64 {
        Sum(std::hint::black_box(&self.0)).run(fork)
    }
}

struct QueensCase;

impl Workload for QueensCase {
    fn run<F: Fork>(&self, fork: &mut F) -> u64 {
        std::hint::black_box(Queens::new()).run(fork)
    }
}

fn compare(
    measurement: &mut Measurement<'_>,
    case: Case<'_>,
    workload: &impl Workload,
) -> Result<(), BenchError> {
    let mut raddle_pools = RaddlePools::default();
    let mut rayon_pools = RayonPools::default();
    let mut chili_pools = ChiliPools::default();
    let mut raddle = Local::new("raddle", move |request| {
        raddle_pools.install(request.workers, || {
            timed(request.repetitions, || workload.run(&mut Raddle))
        })
    });
    let mut peers: Vec<Box<dyn Contender + '_>> = vec![
        Box::new(Local::new("plain", |request| {
            Ok(timed(request.repetitions, || workload.run(&mut Plain)))
        })),
        Box::new(Local::new("rayon", move |request| {
            rayon_pools.install(request.workers, || {
                timed(request.repetitions, || workload.run(&mut Rayon))
            })
        })),
        Box::new(Local::new("chili", move |request| {
            let mut scope = chili_pools.pool(request.workers).scope();
            Ok(timed(request.repetitions, || workload.run(&mut scope)))
        })),
    ];
    for source in [PLAIN_CPP, ONETBB, OPENMP] {
        peers.extend(measurement.peer(source));
    }
    measurement.compare(&case, &mut raddle, &mut peers)
}
