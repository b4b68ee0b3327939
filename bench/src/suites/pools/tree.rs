//! A random tree of tasks with random times, in which the distribution of the work is unknown
//! beforehand.

use std::time::Instant;

use raddle_numerics::random;

use super::job::{Job, Runner, Sums, Workload};
use crate::harness::{Sample, timed};

/// The total time of all tasks of a tree on one worker.
const WORK_NS: f64 = 200e6;
/// The maximum number of children of a node. The minimum is one.
const CHILDREN_MAX: u64 = 4;
const SEED: u64 = 2004;

/// A tree, described by the parameters from which it unfolds.
#[derive(Debug)]
pub(super) struct Tree {
    node_count: u64,
    /// The mean work of a node.
    steps: f64,
    sums: Sums,
}

impl Tree {
    /// Creates a tree of nodes that take `mean_us` microseconds on average on this machine.
    pub(super) fn new(mean_us: f64) -> Self {
        Self {
            node_count: (WORK_NS / (mean_us * 1e3)) as u64,
            steps: mean_us * 1e3 / step_ns(),
            sums: Sums::default(),
        }
    }
}

impl Workload for Tree {
    fn measure(&self, runner: Runner) -> Sample {
        let root = Node {
            tree: self,
            seed: SEED,
            count: self.node_count,
        };
        timed(1, || {
            runner.run(root);
            self.sums.take()
        })
    }
}

/// A node, with the number of nodes in its subtree.
#[derive(Debug, Clone, Copy)]
struct Node<'tree> {
    tree: &'tree Tree,
    seed: u64,
    count: u64,
}

impl Job for Node<'_> {
    fn run(self, put: &mut impl FnMut(Self)) {
        let Self { tree, seed, count } = self;
        // An exponential deviate, by inversion of the distribution.
        let uniform = (random::number(seed, 0) >> 11) as f64 / (1_u64 << 53) as f64;
        let steps = -(1.0 - uniform).ln() * tree.steps;
        tree.sums.add(work(seed, steps as u64));
        let mut left = count - 1;
        let children = 1 + random::number(seed, 1) % CHILDREN_MAX;
        for child in 0..children {
            let count = if child + 1 == children {
                left
            } else {
                random::number(seed, 2 + 2 * child) % (left + 1)
            };
            if count > 0 {
                let seed = random::number(seed, 3 + 2 * child);
                put(Self { tree, seed, count });
            }
            left -= count;
        }
    }
}

/// Computes `steps` steps, each of which depends on the previous one.
fn work(seed: u64, steps: u64) -> u64 {
    (0..steps).fold(seed, |state, _| random::mixed(state))
}

/// Measures the time of a step on this machine.
fn step_ns() -> f64 {
    const STEPS: u64 = 1_000_000;
    let run = |seed| {
        let start = Instant::now();
        std::hint::black_box(work(seed, STEPS));
        start.elapsed().as_nanos() as f64 / STEPS as f64
    };
    (0..10).map(run).fold(f64::INFINITY, f64::min)
}
