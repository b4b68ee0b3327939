//! The search where runs are dear: work that takes milliseconds is not run some dozens of times to find out how.
//!
//! Long runs are less noisy, and the valley is wide (see [`super::search`]): one look at a number of tasks tells most about it. The first run
//! counts for nothing, since it finds memory and caches cold. Then the search goes from the best number that it knows to those two octaves
//! beside it, and, when none of these is better, to those one octave beside it; with what is left of its runs it looks again
//! at the best. Eight runs are all.
//!
//! # Source
//! R. Hooke, T. A. Jeeves: "Direct search" solution of numerical and statistical problems. Journal of the ACM 8(2), 1961.

use super::search::Candidate;

/// Runs in all, the first included.
const RUNS: usize = 8;
/// Half octaves from the best number to the next that is looked at, at first and in the end.
const STEP_FIRST: usize = 4;
const STEP_LAST: usize = 2;
/// What costs at most so much more than the best may be better than it.
const RIVAL: f64 = 1.1;
/// What costs at most so much more than the best is as good: of such numbers the least wins, which needs the least memory.
const AS_GOOD: f64 = 1.02;

/// What some runs have cost.
#[derive(Clone, Debug)]
pub(super) struct Quick {
    start: Candidate,
    last: Candidate,
    /// The least that each number has cost, and how often it was tried.
    costs: Vec<(Candidate, f64, usize)>,
    runs: usize,
}

impl Quick {
    /// A search from `start` among numbers up to `last`, after a first run that does not count.
    pub(super) fn new(start: Candidate, last: Candidate) -> Self {
        Self {
            start,
            last,
            costs: Vec::new(),
            runs: 1,
        }
    }

    /// What the next run shall try.
    pub(super) fn next(&self) -> Candidate {
        let Some((best, least)) = self.best() else {
            return self.start;
        };
        let mut step = STEP_FIRST;
        while step >= STEP_LAST {
            let unknown = best
                .beside(step)
                .find(|&candidate| candidate <= self.last && self.trials(candidate) == 0);
            if let Some(candidate) = unknown {
                return candidate;
            }
            step /= 2;
        }
        let rivals = self.costs.iter().filter(|known| known.1 <= least * RIVAL);
        let (candidate, ..) = rivals
            .min_by(|a, b| a.2.cmp(&b.2).then(a.1.total_cmp(&b.1)))
            .expect("the best is its own rival");
        *candidate
    }

    /// Learns what a run has cost; what was found, and its cost, when that was the last.
    pub(super) fn learn(&mut self, candidate: Candidate, cost: f64) -> Option<(Candidate, f64)> {
        self.runs += 1;
        match self.costs.iter_mut().find(|known| known.0 == candidate) {
            Some((_, least, trials)) => {
                *least = least.min(cost);
                *trials += 1;
            }
            None => self.costs.push((candidate, cost, 1)),
        }
        if self.runs < RUNS {
            return None;
        }
        let (_, least) = self.best()?;
        let as_good = self.costs.iter().filter(|known| known.1 <= least * AS_GOOD);
        let (candidate, cost, _) = as_good.min_by_key(|known| known.0)?;
        Some((*candidate, *cost))
    }

    fn best(&self) -> Option<(Candidate, f64)> {
        let known = self
            .costs
            .iter()
            .map(|&(candidate, cost, _)| (candidate, cost));
        known.min_by(|a, b| a.1.total_cmp(&b.1))
    }

    fn trials(&self, candidate: Candidate) -> usize {
        let known = self.costs.iter().find(|known| known.0 == candidate);
        known.map_or(0, |known| known.2)
    }
}
