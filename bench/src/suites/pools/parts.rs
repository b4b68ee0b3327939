//! Quicksort with a task for every part, as in the study.

use raddle_numerics::random::fill;
use raddle_numerics::sort::{CUTOFF, Part};

use super::job::{Job, Runner, Workload};
use crate::harness::{Sample, timed};
use crate::suites::sort::checksum;

const SEED: u64 = 2004;

/// Numbers to be sorted.
#[derive(Debug)]
pub(super) struct Parts {
    input: Vec<i32>,
}

impl Parts {
    /// Creates `len` random numbers.
    pub(super) fn new(len: usize) -> Self {
        Self { input: random(len) }
    }
}

impl Workload for Parts {
    fn measure(&self, runner: Runner) -> Sample {
        let mut items = self.input.clone();
        let sample = timed(1, || {
            runner.run(Sorting(Part::whole(&mut items)));
            0
        });
        Sample {
            result: checksum(&items),
            ..sample
        }
    }
}

#[derive(Debug)]
struct Sorting<'items>(Part<'items, i32>);

impl Job for Sorting<'_> {
    fn run(self, put: &mut impl FnMut(Self)) {
        if let Some((left, right)) = split(self.0) {
            put(Self(left));
            put(Self(right));
        }
    }
}

/// Returns `len` random numbers, always the same.
pub(super) fn random(len: usize) -> Vec<i32> {
    let mut items = vec![0; len];
    fill(&mut items, SEED);
    items
}

/// Does the work of one task: splits a part, or sorts it if it is at most as long as the cut-off.
#[inline]
pub(super) fn split(part: Part<'_, i32>) -> Option<(Part<'_, i32>, Part<'_, i32>)> {
    if part.len() <= CUTOFF {
        part.sort_sequential();
        return None;
    }
    Some(part.split())
}
