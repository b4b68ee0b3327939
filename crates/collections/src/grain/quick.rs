//! The search for expensive runs: work that takes milliseconds is not run dozens of times to tune
//! it.
//!
//! Long runs are less noisy, and the valley of times is wide (see [`super::search`]), so one run
//! with a number of tasks says most about it. The first run does not count, because it finds memory
//! and caches cold. Then the search tries the numbers two octaves beside the best known number and,
//! when none of these is better, the numbers one octave beside it. It spends the remaining runs on
//! trying the best numbers again. It makes eight runs in total.
//!
//! # Source
//! R. Hooke, T. A. Jeeves: "Direct search" solution of numerical and statistical problems. Journal
//! of the ACM 8(2), 1961.

use super::search::Candidate;

/// The total number of runs, including the first.
const RUNS: usize = 8;
/// The distance from the best number to the next one to try, in half octaves: at first and at last.
const STEP_FIRST: usize = 4;
const STEP_LAST: usize = 2;
/// A number that costs at most this factor more than the best may in fact be better.
const RIVAL: f64 = 1.1;
/// A number that costs at most this factor more than the best is considered equally good. The
/// smallest such number wins, because it needs the least memory.
const AS_GOOD: f64 = 1.02;

/// The search, with the costs of the runs so far.
#[derive(Clone, Debug)]
pub(super) struct Quick {
    start: Candidate,
    last: Candidate,
    /// The least cost of each number that was tried, and how often it was tried.
    costs: Vec<(Candidate, f64, usize)>,
    runs: usize,
}

impl Quick {
    /// Begins a search from `start` among numbers up to `last`, after a first run that does not
    /// count.
    pub(super) fn new(start: Candidate, last: Candidate) -> Self {
        Self {
            start,
            last,
            costs: Vec::new(),
            runs: 1,
        }
    }

    /// Returns the number of tasks that the next run should try.
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

    /// Records the cost of a run. After the last run, returns the number found and its cost.
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
