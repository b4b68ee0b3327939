//! Quicksort with a task for every part, as in the study.

use raddle_numerics::random;
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
        let mut input = vec![0; len];
        random::fill(&mut input, SEED);
        Self { input }
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
        let Self(part) = self;
        if part.len() <= CUTOFF {
            return part.sort_sequential();
        }
        let (left, right) = part.split();
        put(Self(left));
        put(Self(right));
    }
}
