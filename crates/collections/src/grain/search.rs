//! The search for the number of tasks with which work is done soonest, by nothing but the times of its runs.
//!
//! Times over the logarithm of the number of tasks make a valley (figure 1 of the study in [`crate::grain`]), sometimes with a flat
//! side, and each time is noisy. The search has three stages:
//!
//! 1. It walks from a start in octaves, to either side, until a number is clearly worse than the best on the way. So what is
//!    far off is never tried, and a hump of noise stops nobody.
//! 2. The octaves race: whoever may still be the best, as far as the noise lets one say, runs again.
//! 3. The half octaves beside the best join the race, and the octaves beside it have another chance: a walk may have ended at them
//!    because a machine was busy.
//!
//! Then it stays. Costs are compared by the median, so that a run that was disturbed counts for no more than one. When the median
//! of many runs is off, something has changed, or the winner had nothing but luck: the search begins anew from where it stood.

use super::quick::Quick;

/// Runs of a number of tasks before it is judged,
const TRIALS_MIN: usize = 3;
/// before it ends a walk,
const TRIALS_CONFIRMED: usize = 5;
/// before it wins without a rival,
const TRIALS_ALONE: usize = 9;
/// and in the end.
const TRIALS_MAX: usize = 15;
/// The race is on while costs that differ by so much may be equal but for the noise, at least and at most.
const SLACK_MIN: f64 = 0.02;
const SLACK_MAX: f64 = 0.5;
/// What costs so much more is clearly worse, and ends a walk.
const CLEARLY_WORSE: f64 = 1.25;
/// A median of runs that is off by so much is no noise: the search is opened again.
const DRIFT: f64 = 1.25;
/// The same for the first median after a quick search, which hands on the least of a few costs and not their median.
const DRIFT_FROM_LEAST: f64 = 2.0;
/// Runs to that median.
const WINDOW: usize = 25;
/// The most tasks a worker, as a power of two.
const TASKS_PER_WORKER_LOG2_MAX: u32 = 10;
/// Where nothing is known the search begins with so many, as a power of two.
const TASKS_PER_WORKER_LOG2_START: u32 = 3;

/// A number of tasks that can be tried: two to the power of half this number.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Candidate(usize);

/// What is to be run next, or was run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Trial {
    candidate: Candidate,
    /// The search that it belongs to.
    round: u32,
}

/// A search for one shape of work on one number of workers.
#[derive(Clone, Debug)]
pub(super) struct Search {
    start: Candidate,
    last: Candidate,
    /// Costs of the runs of this search, for each candidate from 0 to `last`.
    costs: Vec<Vec<f64>>,
    /// Searches before this one.
    round: u32,
    is_alone: bool,
    /// The search instead of this one where runs are dear.
    quick: Option<Quick>,
    found: Option<Found>,
}

/// What a search has found.
#[derive(Clone, Debug)]
struct Found {
    candidate: Candidate,
    /// What a run should cost.
    cost: f64,
    /// False while `cost` is that of the search, whose winner had some luck: the first window puts it right.
    is_firm: bool,
    window: Vec<f64>,
}

impl Candidate {
    /// Tasks that the work is cut into.
    pub(super) fn task_count(self) -> usize {
        (self.0 as f64 / 2.0).exp2().round() as usize
    }

    fn nearest(task_count: usize) -> Self {
        Self((2.0 * (task_count.max(1) as f64).log2()).round() as usize)
    }

    fn octave(log2: u32) -> Self {
        Self(2 * log2 as usize)
    }

    /// Those that lie so many half octaves beside it. A task and a half is none.
    pub(super) fn beside(self, distance: usize) -> impl Iterator<Item = Self> {
        [self.0.checked_sub(distance), Some(self.0 + distance)]
            .into_iter()
            .flatten()
            .filter(|&number| number != 1)
            .map(Self)
    }
}

impl Trial {
    pub(super) fn task_count(self) -> usize {
        self.candidate.task_count()
    }
}

impl Search {
    /// A search among numbers of tasks that make sense for work of 2^`weight_log2` on so many workers. It begins at
    /// `task_count`, if that is known for similar work.
    pub(super) fn new(worker_count: usize, weight_log2: u32, task_count: Option<usize>) -> Self {
        let workers_log2 = worker_count.max(1).ilog2();
        let last = Candidate::octave(weight_log2.min(workers_log2 + TASKS_PER_WORKER_LOG2_MAX));
        let start = match task_count {
            Some(task_count) => Candidate::nearest(task_count),
            None => Candidate::octave(workers_log2 + TASKS_PER_WORKER_LOG2_START),
        };
        let mut search = Self {
            start,
            // One worker has nobody to share with: where runs are dear and nothing is known, more tasks than one have to show that
            // they are worth it.
            is_alone: worker_count == 1 && task_count.is_none(),
            last,
            costs: Vec::new(),
            round: 0,
            quick: None,
            found: None,
        };
        search.open(start);
        search
    }

    /// Makes this the search that found `task_count` before, at this cost.
    pub(super) fn found_before(mut self, task_count: usize, cost: f64) -> Self {
        self.found = Some(Found {
            candidate: Candidate::nearest(task_count).min(self.last),
            cost,
            is_firm: true,
            window: Vec::new(),
        });
        self
    }

    /// The number of tasks and the cost that were found, once they are.
    pub(super) fn found(&self) -> Option<(usize, f64)> {
        let found = self.found.as_ref()?;
        Some((found.candidate.task_count(), found.cost))
    }

    /// What the next run shall try.
    pub(super) fn next(&self) -> Trial {
        let candidate = match (&self.found, &self.quick) {
            (Some(found), _) => found.candidate,
            (None, Some(quick)) => quick.next(),
            (None, None) => self.wanted().expect("an open search wants to know more"),
        };
        Trial {
            candidate,
            round: self.round,
        }
    }

    /// As [`learn`](Self::learn), of a run that was long: a search that begins with one has to do with few.
    pub(super) fn learn_expensive(&mut self, trial: Trial, cost: f64) -> bool {
        let is_first = self.costs.iter().all(Vec::is_empty);
        let is_open = self.found.is_none() && self.quick.is_none();
        if trial.round == self.round && is_open && is_first {
            let start = if self.is_alone {
                Candidate::octave(0)
            } else {
                self.start
            };
            self.quick = Some(Quick::new(start, self.last));
            return false;
        }
        self.learn(trial, cost)
    }

    /// Learns what a run has cost. True when that changes what was [`found`](Self::found).
    pub(super) fn learn(&mut self, trial: Trial, cost: f64) -> bool {
        if trial.round != self.round {
            return false;
        }
        match &mut self.found {
            Some(found) if found.candidate == trial.candidate => {
                found.window.push(cost);
                found.window.len() == WINDOW && self.end_window()
            }
            // Begun before the search ended, with a number that lost.
            Some(_) => false,
            None => {
                if let Some(quick) = &mut self.quick {
                    let best = quick.learn(trial.candidate, cost);
                    return best.is_some_and(|best| self.settle(best));
                }
                self.costs[trial.candidate.0].push(cost);
                self.settle_if_done()
            }
        }
    }

    /// Begins anew, at `start` or the octave below it.
    fn open(&mut self, start: Candidate) {
        self.start = Candidate(start.min(self.last).0 & !1);
        self.costs = vec![Vec::new(); self.last.0 + 1];
        self.quick = None;
        self.found = None;
    }

    /// Compares what a window of runs has cost with what it should have. True when that changes what was found.
    fn end_window(&mut self) -> bool {
        let Some(found) = &mut self.found else {
            return false;
        };
        let cost = median(std::mem::take(&mut found.window));
        let is_least = !found.is_firm && self.quick.is_some();
        let drift = if is_least { DRIFT_FROM_LEAST } else { DRIFT };
        if cost > found.cost * drift || cost * DRIFT < found.cost {
            let candidate = found.candidate;
            self.round += 1;
            self.open(candidate);
            return true;
        }
        if found.is_firm {
            return false;
        }
        found.cost = cost;
        found.is_firm = true;
        true
    }

    fn settle_if_done(&mut self) -> bool {
        if self.wanted().is_some() {
            return false;
        }
        self.best().is_some_and(|best| self.settle(best))
    }

    fn settle(&mut self, (candidate, cost): (Candidate, f64)) -> bool {
        self.found = Some(Found {
            candidate,
            cost,
            is_firm: false,
            window: Vec::new(),
        });
        self.costs = vec![Vec::new(); self.last.0 + 1];
        true
    }

    /// The candidate about which more must be known; none when the search is over.
    fn wanted(&self) -> Option<Candidate> {
        self.wanted_on_walks()
            .or_else(|| self.wanted_in_race())
            .or_else(|| self.wanted_beside_best())
    }

    fn wanted_on_walks(&self) -> Option<Candidate> {
        let down = (0..=self.start.0).rev().step_by(2).map(Candidate);
        let up = (self.start.0..=self.last.0).step_by(2).map(Candidate);
        if let Some(candidate) = self.wanted_on_walk(down) {
            return Some(candidate);
        }
        if self.trials(self.start) < TRIALS_MIN {
            return Some(self.start);
        }
        // Who has come a good way down need not look on the other side.
        let is_downhill = self
            .best()
            .is_some_and(|(_, best)| self.lower_quartile(self.start) > best * CLEARLY_WORSE);
        if is_downhill {
            None
        } else {
            self.wanted_on_walk(up)
        }
    }

    fn wanted_on_walk(&self, walk: impl Iterator<Item = Candidate>) -> Option<Candidate> {
        let mut best: Option<(Candidate, f64)> = None;
        for candidate in walk {
            let trials = self.trials(candidate);
            if trials == 0 {
                return Some(candidate);
            }
            let cost = self.cost(candidate);
            let (_, least) = best.unwrap_or((candidate, f64::INFINITY));
            // Steeply downhill one look is enough to go on.
            let is_steep = cost * CLEARLY_WORSE < least;
            if !is_steep && trials < TRIALS_MIN {
                return Some(candidate);
            }
            if cost > least * CLEARLY_WORSE {
                if trials < TRIALS_CONFIRMED {
                    return Some(candidate);
                }
                // What a busy machine adds to several runs in a row is no wall.
                if self.lower_quartile(candidate) > least * CLEARLY_WORSE {
                    break;
                }
            }
            if cost < least {
                best = Some((candidate, cost));
            }
        }
        let (best, _) = best?;
        (self.trials(best) < TRIALS_MIN).then_some(best)
    }

    /// The candidate with the fewest trials among those that may still be the best.
    fn wanted_in_race(&self) -> Option<Candidate> {
        let (_, best) = self.best()?;
        let noise = self.noise();
        let slack = |candidate| slack(noise, self.trials(candidate));
        let in_race: Vec<Candidate> = self
            .tried()
            .filter(|&candidate| self.cost(candidate) <= best * (1.0 + slack(candidate)))
            .collect();
        let trials_max = match in_race.len() {
            1 => TRIALS_ALONE,
            _ => TRIALS_MAX,
        };
        in_race
            .into_iter()
            .filter(|&candidate| {
                self.trials(candidate) < trials_max && slack(candidate) > SLACK_MIN
            })
            .min_by_key(|&candidate| self.trials(candidate))
    }

    fn wanted_beside_best(&self) -> Option<Candidate> {
        let (best, _) = self.best()?;
        let is_quiet = slack(self.noise(), TRIALS_MIN) <= SLACK_MIN;
        let octave_trials = if is_quiet { 1 } else { TRIALS_ALONE };
        [(1, TRIALS_MIN), (2, octave_trials)]
            .into_iter()
            .flat_map(|(distance, trials)| best.beside(distance).map(move |it| (it, trials)))
            .find(|&(candidate, trials)| candidate <= self.last && self.trials(candidate) < trials)
            .map(|(candidate, _)| candidate)
    }

    /// Candidates with trials enough to be judged.
    fn tried(&self) -> impl Iterator<Item = Candidate> {
        (0..=self.last.0)
            .map(Candidate)
            .filter(|&candidate| self.trials(candidate) >= TRIALS_MIN)
    }

    fn best(&self) -> Option<(Candidate, f64)> {
        self.tried()
            .map(|candidate| (candidate, self.cost(candidate)))
            .min_by(|(_, a), (_, b)| a.total_cmp(b))
    }

    fn trials(&self, candidate: Candidate) -> usize {
        self.costs[candidate.0].len()
    }

    /// For a candidate with a trial.
    fn cost(&self, candidate: Candidate) -> f64 {
        median(self.costs[candidate.0].clone())
    }

    fn lower_quartile(&self, candidate: Candidate) -> f64 {
        quantile(self.costs[candidate.0].clone(), 4)
    }

    /// By how much runs of the same candidate differ, as a part of their cost: about one standard deviation.
    ///
    /// It is the median over the candidates, from the range of the first three runs of each, which is 1.7 deviations wide.
    fn noise(&self) -> f64 {
        let noise = |candidate: Candidate| {
            let costs = &self.costs[candidate.0][..TRIALS_MIN];
            let (least, most) = costs
                .iter()
                .fold((f64::INFINITY, 0.0_f64), |(least, most), &cost| {
                    (least.min(cost), most.max(cost))
                });
            (most - least) / least / 1.7
        };
        median(self.tried().map(noise).collect())
    }
}

/// By how much the cost of a candidate may be off after so many trials, as a part of it: three deviations.
fn slack(noise: f64, trials: usize) -> f64 {
    (3.0 * noise / (trials as f64).sqrt()).min(SLACK_MAX)
}

fn median(values: Vec<f64>) -> f64 {
    quantile(values, 2)
}

/// The value that one in `part` lies below.
fn quantile(mut values: Vec<f64>, part: usize) -> f64 {
    values.sort_by(f64::total_cmp);
    values[(values.len() - 1) / part]
}

#[cfg(all(test, not(any(loom, shuttle))))]
mod tests;
