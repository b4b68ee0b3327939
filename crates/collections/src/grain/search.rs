//! The search for the number of tasks with the shortest run time, using only the times of runs.
//!
//! The times as a function of the logarithm of the number of tasks form a valley (figure 1 of the
//! study in [`crate::grain`]), sometimes with a flat side. Each time is noisy. The search has three
//! stages:
//!
//! 1. It walks from a start in octaves, first down and then up, until a number is clearly worse
//!    than the best on the way. So numbers that are far off are never tried, and a peak of noise
//!    does not end a walk.
//! 2. The octaves race: each number that may still be the best, considering the noise, runs again.
//! 3. The half octaves beside the best number join the race. The octaves beside it are tried again,
//!    since a walk may have ended at them because the machine was busy.
//!
//! Then the search is over, and all runs use the number that was found. Costs are compared by their
//! median, so that a disturbed run counts no more than any other. If the median of many later runs
//! differs from the expected cost, the work has changed, or the winner was only lucky. Then the
//! search begins again from the number that it had found.

use super::quick::Quick;

/// The number of runs of a candidate before it can be the best.
const TRIALS_MIN: usize = 3;
/// The number of runs of a candidate before it can end a walk.
const TRIALS_CONFIRMED: usize = 5;
/// The number of runs of a candidate before it wins without a rival.
const TRIALS_ALONE: usize = 9;
/// The greatest number of runs of a candidate in a race.
const TRIALS_MAX: usize = 15;
/// A candidate needs no more runs once the uncertainty of its cost is at most this part of it.
const SLACK_MIN: f64 = 0.02;
/// The greatest uncertainty that is assumed, as a part of the cost.
const SLACK_MAX: f64 = 0.5;
/// A candidate that costs more by this factor is clearly worse, and ends a walk.
const CLEARLY_WORSE: f64 = 1.25;
/// A median that differs from the expected cost by this factor is not noise. The search begins
/// again.
const DRIFT: f64 = 1.25;
/// The factor for the first median after a quick search.
///
/// It is larger since a quick search returns the least of a few costs and not their median.
const DRIFT_FROM_LEAST: f64 = 2.0;
/// The number of runs of such a median.
const WINDOW: usize = 25;
/// The greatest number of tasks per worker, as a power of two.
const TASKS_PER_WORKER_LOG2_MAX: u32 = 10;
/// The number of tasks per worker at which a search begins if nothing is known, as a power of two.
const TASKS_PER_WORKER_LOG2_START: u32 = 3;

/// A number of tasks that can be tried, as an exponent `e`: the number of tasks is 2^(e/2).
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Candidate(usize);

/// A run that is to be made, or was made.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Trial {
    candidate: Candidate,
    /// The number of the search to which it belongs.
    round: u32,
}

/// A search for one shape of work on one number of workers.
#[derive(Clone, Debug)]
pub(super) struct Search {
    start: Candidate,
    last: Candidate,
    /// The costs of the runs of this search, for each candidate from 0 to `last`.
    costs: Vec<Vec<f64>>,
    /// The number of searches before this one.
    round: u32,
    /// True if there is one worker and nothing is known of similar work.
    is_alone: bool,
    /// The search that is used instead of this one if runs are expensive.
    quick: Option<Quick>,
    found: Option<Found>,
}

/// The result of a search.
#[derive(Clone, Debug)]
struct Found {
    candidate: Candidate,
    /// The expected cost of a run.
    cost: f64,
    /// False while `cost` is the cost from the search, which is too low because the winner was also
    /// lucky. The first window corrects it.
    is_firm: bool,
    /// The costs of the runs since the last window.
    window: Vec<f64>,
}

impl Candidate {
    /// Returns the number of tasks.
    pub(super) fn task_count(self) -> usize {
        (self.0 as f64 / 2.0).exp2().round() as usize
    }

    fn nearest(task_count: usize) -> Self {
        Self((2.0 * (task_count.max(1) as f64).log2()).round() as usize)
    }

    fn octave(log2: u32) -> Self {
        Self(2 * log2 as usize)
    }

    /// Returns the candidates at a distance of `distance` half octaves.
    ///
    /// Candidate 1 is left out, since there are no 1.4 tasks.
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
    /// Creates a search among the numbers of tasks that make sense for work of 2^`weight_log2` on
    /// `worker_count` workers.
    ///
    /// The search begins at `task_count`, if that is known from similar work.
    pub(super) fn new(worker_count: usize, weight_log2: u32, task_count: Option<usize>) -> Self {
        let workers_log2 = worker_count.max(1).ilog2();
        let last = Candidate::octave(weight_log2.min(workers_log2 + TASKS_PER_WORKER_LOG2_MAX));
        let start = match task_count {
            Some(task_count) => Candidate::nearest(task_count),
            None => Candidate::octave(workers_log2 + TASKS_PER_WORKER_LOG2_START),
        };
        let mut search = Self {
            start,
            // A single worker needs only one task. If runs are expensive and nothing is known, the
            // search begins there, and more tasks have to show that they are better.
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

    /// Turns this into a search that has already found `task_count`, at this cost.
    pub(super) fn found_before(mut self, task_count: usize, cost: f64) -> Self {
        self.found = Some(Found {
            candidate: Candidate::nearest(task_count).min(self.last),
            cost,
            is_firm: true,
            window: Vec::new(),
        });
        self
    }

    /// Returns the number of tasks and the cost that were found, if the search is over.
    pub(super) fn found(&self) -> Option<(usize, f64)> {
        let found = self.found.as_ref()?;
        Some((found.candidate.task_count(), found.cost))
    }

    /// Returns the next run to make.
    pub(super) fn next(&self) -> Trial {
        let candidate = match (&self.found, &self.quick) {
            (Some(found), _) => found.candidate,
            (None, Some(quick)) => quick.next(),
            (None, None) => self.wanted().expect("an open search needs another run"),
        };
        Trial {
            candidate,
            round: self.round,
        }
    }

    /// Learns the cost of a long run, as [`learn`](Self::learn) does.
    ///
    /// If the first run of a search is long, the search continues as a quick search with few runs.
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

    /// Learns the cost of a run. Returns true if that changes the [found](Self::found) result.
    pub(super) fn learn(&mut self, trial: Trial, cost: f64) -> bool {
        if trial.round != self.round {
            return false;
        }
        match &mut self.found {
            Some(found) if found.candidate == trial.candidate => {
                found.window.push(cost);
                found.window.len() == WINDOW && self.end_window()
            }
            // The run began before the search ended, with a candidate that lost.
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

    /// Begins a search at `start`, or at the octave below it.
    fn open(&mut self, start: Candidate) {
        self.start = Candidate(start.min(self.last).0 & !1);
        self.costs = vec![Vec::new(); self.last.0 + 1];
        self.quick = None;
        self.found = None;
    }

    /// Compares the median cost of a window of runs with the expected cost.
    ///
    /// Returns true if that changes the result.
    fn end_window(&mut self) -> bool {
        let Some(found) = &mut self.found else {
            return false;
        };
        let cost = median(std::mem::take(&mut found.window));
        let is_least = !found.is_firm && self.quick.is_some();
        let drift = if is_least { DRIFT_FROM_LEAST } else { DRIFT };
        // If the cost has changed too much, search again from the present number.
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

    /// Returns the candidate to run next, or `None` if the search is over.
    fn wanted(&self) -> Option<Candidate> {
        self.wanted_on_walks()
            .or_else(|| self.wanted_in_race())
            .or_else(|| self.wanted_beside_best())
    }

    /// Returns the candidate to run next on a walk from the start, first down and then up.
    fn wanted_on_walks(&self) -> Option<Candidate> {
        let down = (0..=self.start.0).rev().step_by(2).map(Candidate);
        let up = (self.start.0..=self.last.0).step_by(2).map(Candidate);
        if let Some(candidate) = self.wanted_on_walk(down) {
            return Some(candidate);
        }
        if self.trials(self.start) < TRIALS_MIN {
            return Some(self.start);
        }
        // If the walk down has found a number that is clearly better than the start, there is no
        // need to walk up.
        let is_downhill = self
            .best()
            .is_some_and(|(_, best)| self.lower_quartile(self.start) > best * CLEARLY_WORSE);
        if is_downhill {
            None
        } else {
            self.wanted_on_walk(up)
        }
    }

    /// Returns the candidate to run next on a walk in one direction, or `None` if the walk is over.
    fn wanted_on_walk(&self, walk: impl Iterator<Item = Candidate>) -> Option<Candidate> {
        let mut best: Option<(Candidate, f64)> = None;
        for candidate in walk {
            let trials = self.trials(candidate);
            if trials == 0 {
                return Some(candidate);
            }
            let cost = self.cost(candidate);
            let (_, least) = best.unwrap_or((candidate, f64::INFINITY));
            // If the costs fall steeply, one run is enough to continue.
            let is_steep = cost * CLEARLY_WORSE < least;
            if !is_steep && trials < TRIALS_MIN {
                return Some(candidate);
            }
            if cost > least * CLEARLY_WORSE {
                if trials < TRIALS_CONFIRMED {
                    return Some(candidate);
                }
                // A machine that was busy during several runs must not end the walk.
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

    /// Returns the candidate with the fewest runs among those that may still be the best.
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

    /// Returns a candidate beside the best one that has not run often enough.
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

    /// Returns the candidates with enough runs to be compared.
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

    /// Returns the median cost of a candidate, which must have run.
    fn cost(&self, candidate: Candidate) -> f64 {
        median(self.costs[candidate.0].clone())
    }

    fn lower_quartile(&self, candidate: Candidate) -> f64 {
        quantile(self.costs[candidate.0].clone(), 4)
    }

    /// Estimates the noise: about one standard deviation of the runs of a candidate, as a part of
    /// their cost.
    ///
    /// It is the median over all candidates. The deviation of each is estimated from the range of
    /// its first three runs, which is 1.7 deviations on average.
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

/// Returns the uncertainty of the cost of a candidate after `trials` runs, as a part of the cost.
///
/// It is three standard deviations.
fn slack(noise: f64, trials: usize) -> f64 {
    (3.0 * noise / (trials as f64).sqrt()).min(SLACK_MAX)
}

fn median(values: Vec<f64>) -> f64 {
    quantile(values, 2)
}

/// Returns the value below which one in `part` values lies.
fn quantile(mut values: Vec<f64>, part: usize) -> f64 {
    values.sort_by(f64::total_cmp);
    values[(values.len() - 1) / part]
}

#[cfg(all(test, not(any(loom, shuttle))))]
mod tests;
