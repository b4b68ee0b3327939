//! The assignment of parties to places while a placement is made, and the allowed changes.
//!
//! # Invariants
//! 1. An allowed move or swap keeps every core and every place within its limits, if they were
//!    within them before.
//! 2. With loads, an allowed change never raises the work of a place above the limit.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use super::target::Target;
use super::traffic::Traffic;

/// The work that a place may always have, relative to the mean.
const LOAD_SLACK: f64 = 1.05;

/// The largest estimated work of a repair, in visited matrix entries.
const REPAIR_WORK_MAX: usize = 20_000_000;

/// The work of each party, and the most work that a place may have.
#[derive(Clone, Debug)]
pub(super) struct Loads {
    pub(super) work: Vec<f64>,
    pub(super) place_work_max: f64,
}

impl Loads {
    /// Computes the limit: the work of the fullest place under longest-first scheduling, but at
    /// least the mean times [`LOAD_SLACK`].
    pub(super) fn new(work: &[f64], place_count: usize) -> Self {
        let mut loads = Self {
            work: work.to_vec(),
            place_work_max: f64::INFINITY,
        };
        let mut totals = vec![0.0_f64; place_count];
        for (party, place) in loads.longest_first(place_count).into_iter().enumerate() {
            totals[place] += work[party];
        }
        let mean = work.iter().sum::<f64>() / place_count.max(1) as f64;
        let fullest = totals.iter().copied().fold(0.0, f64::max);
        loads.place_work_max = (fullest * (1.0 + 1e-9)).max(mean * LOAD_SLACK);
        loads
    }

    /// Returns a placement that keeps the limit and ignores the traffic.
    pub(super) fn balanced(&self, target: &Target<'_>) -> Vec<u32> {
        self.longest_first(target.place_count())
            .into_iter()
            .map(|place| place as u32)
            .collect()
    }

    /// Assigns parties in order of falling work, each to the place with the least work so far.
    fn longest_first(&self, place_count: usize) -> Vec<usize> {
        let mut order: Vec<usize> = (0..self.work.len()).collect();
        order.sort_by(|&left, &right| self.work[right].total_cmp(&self.work[left]));
        // Work is not negative, so its bit patterns have the same order as its values.
        let mut emptiest: BinaryHeap<Reverse<(u64, usize, usize)>> = (0..place_count)
            .map(|place| Reverse((0, 0, place)))
            .collect();
        let mut places = vec![0; self.work.len()];
        for party in order {
            if let Some(mut top) = emptiest.peek_mut() {
                let Reverse((work, count, place)) = *top;
                places[party] = place;
                let more = f64::from_bits(work) + self.work[party];
                *top = Reverse((more.to_bits(), count + 1, place));
            }
        }
        places
    }
}

/// An assignment of parties to places, with the counters that are needed to change it.
#[derive(Clone, Debug)]
pub(super) struct Assignment<'run> {
    pub(super) target: &'run Target<'run>,
    loads: Option<&'run Loads>,
    pub(super) places: Vec<u32>,
    pub(super) place_counts: Vec<u32>,
    core_counts: Vec<u32>,
    place_work: Vec<f64>,
}

impl<'run> Assignment<'run> {
    pub(super) fn new(
        target: &'run Target<'run>,
        loads: Option<&'run Loads>,
        places: Vec<u32>,
    ) -> Self {
        let mut assignment = Self {
            target,
            loads,
            place_counts: vec![0; target.place_count()],
            core_counts: vec![0; target.core_limits.len()],
            place_work: vec![0.0; loads.map_or(0, |_| target.place_count())],
            places,
        };
        for (party, &place) in assignment.places.iter().enumerate() {
            let place = place as usize;
            assignment.place_counts[place] += 1;
            assignment.core_counts[target.cores[place] as usize] += 1;
            if let Some(loads) = loads {
                assignment.place_work[place] += loads.work[party];
            }
        }
        assignment
    }

    #[inline]
    pub(super) fn place(&self, party: usize) -> usize {
        self.places[party] as usize
    }

    /// Returns true if a party may move to a place without another party coming back.
    #[inline]
    pub(super) fn may_move(&self, party: usize, to: usize) -> bool {
        let from = self.place(party);
        if from == to || !self.may_leave(from) || !self.has_space(party, to) {
            return false;
        }
        let (core, core_to) = (self.core_of(from), self.core_of(to));
        self.loads.is_some()
            || core == core_to
            || self.core_counts[core] > self.target.core_limits[core].0
    }

    /// Returns true if a place has space for a party without work.
    pub(super) fn may_enter(&self, place: usize) -> bool {
        self.loads.is_some()
            || (self.place_counts[place] < self.target.place_limits[place].1
                && self.core_counts[self.core_of(place)]
                    < self.target.core_limits[self.core_of(place)].1)
    }

    /// Assigns each place to a class, so that the places of a class are interchangeable for every
    /// party. Returns the class of each place and the number of classes.
    pub(super) fn classes(&self) -> (Vec<u32>, usize) {
        let target = self.target;
        let is_shared = target.place_limits.iter().any(|limits| limits.1 > 1);
        if self.loads.is_some() || is_shared {
            // Two parties on the same place are nearer to each other than on two places, however
            // similar the places are. So every place is a class of its own.
            let count = target.place_count();
            return ((0..count as u32).collect(), count);
        }
        let classes: Vec<u32> = (0..target.place_count())
            .map(|place| target.bundle(place))
            .collect();
        let count = classes.iter().max().map_or(0, |last| *last as usize + 1);
        (classes, count)
    }

    /// Returns true if a place may lose a party.
    #[inline]
    pub(super) fn may_leave(&self, place: usize) -> bool {
        self.loads.is_some() || self.place_counts[place] > self.target.place_limits[place].0
    }

    /// Returns true if two parties on different places may swap.
    #[inline]
    pub(super) fn may_swap(&self, one: usize, other: usize) -> bool {
        let Some(loads) = self.loads else { return true };
        let more = loads.work[other] - loads.work[one];
        let (here, there) = (self.place(one), self.place(other));
        if more > 0.0 {
            self.place_work[here] + more <= loads.place_work_max
        } else {
            self.place_work[there] - more <= loads.place_work_max
        }
    }

    /// Moves a party and updates the counters, without a check.
    pub(super) fn set_place(&mut self, party: usize, to: usize) {
        let from = self.place(party);
        let cores = &self.target.cores;
        self.place_counts[from] -= 1;
        self.core_counts[cores[from] as usize] -= 1;
        self.place_counts[to] += 1;
        self.core_counts[cores[to] as usize] += 1;
        if let Some(loads) = self.loads {
            self.place_work[from] -= loads.work[party];
            self.place_work[to] += loads.work[party];
        }
        self.places[party] = to as u32;
    }

    /// Moves parties until every limit is kept, at the least cost per move.
    ///
    /// Returns false if that is impossible, or if it is estimated to take too long.
    pub(super) fn repair(&mut self, traffic: &Traffic) -> bool {
        let visits = traffic.entry_count() + traffic.order();
        if self.moves_wanted().saturating_mul(visits) > REPAIR_WORK_MAX {
            return false;
        }
        for _ in 0..=self.places.len() * 2 {
            let places = 0..self.place_counts.len();
            let fullest = places.clone().find(|&place| self.is_overfull(place));
            let emptiest = places.clone().find(|&place| self.is_needy(place));
            let mut best: Option<(f64, usize, usize)> = None;
            let mut consider = |assignment: &Self, party: usize, to: usize| {
                let loss = assignment.cost_at(traffic, party, to)
                    - assignment.cost_at(traffic, party, assignment.place(party));
                if best.is_none_or(|(least, ..)| loss < least) {
                    best = Some((loss, party, to));
                }
            };
            // An overfull place loses a party to any place with space. If no place is overfull, a
            // place below its minimum gets a party from any place that may lose one.
            match (fullest, emptiest) {
                (None, None) => return true,
                (Some(from), _) => {
                    for party in (0..self.places.len()).filter(|&party| self.place(party) == from) {
                        for to in places.clone().filter(|&to| self.has_space(party, to)) {
                            consider(self, party, to);
                        }
                    }
                }
                (None, Some(to)) => {
                    for party in (0..self.places.len()).filter(|&party| self.may_move(party, to)) {
                        consider(self, party, to);
                    }
                }
            }
            let Some((_, party, to)) = best else {
                return false;
            };
            self.set_place(party, to);
        }
        false
    }

    /// Estimates the number of moves until every limit is kept.
    fn moves_wanted(&self) -> usize {
        let mean = self.loads.map_or(0.0, |loads| {
            loads.work.iter().sum::<f64>() / loads.work.len().max(1) as f64
        });
        let of = |place: usize| match self.loads {
            Some(loads) => ((self.place_work[place] - loads.place_work_max) / mean).ceil() as usize,
            None => {
                let (least, most) = self.target.place_limits[place];
                let count = self.place_counts[place];
                (count.saturating_sub(most) + least.saturating_sub(count)) as usize
            }
        };
        let places = 0..self.place_counts.len();
        let wrong = places.filter(|&place| self.is_overfull(place) || self.is_needy(place));
        // A core may be outside its limits although its places are within theirs.
        wrong.map(|place| of(place).max(1)).sum()
    }

    fn core_of(&self, place: usize) -> usize {
        self.target.cores[place] as usize
    }

    /// Returns true if a place has too many parties or too much work, or is on such a core.
    fn is_overfull(&self, place: usize) -> bool {
        if let Some(loads) = self.loads {
            return self.place_work[place] > loads.place_work_max * (1.0 + 1e-9);
        }
        let core = self.core_of(place);
        self.place_counts[place] > self.target.place_limits[place].1
            || (self.core_counts[core] > self.target.core_limits[core].1
                && self.place_counts[place] > 0)
    }

    /// Returns true if a place has too few parties, or could take one on a core that has too few.
    fn is_needy(&self, place: usize) -> bool {
        let core = self.core_of(place);
        self.loads.is_none()
            && (self.place_counts[place] < self.target.place_limits[place].0
                || self.core_counts[core] < self.target.core_limits[core].0
                    && self.place_counts[place] < self.target.place_limits[place].1)
    }

    /// Returns true if a place has space for a party, regardless of what its move leaves behind.
    fn has_space(&self, party: usize, to: usize) -> bool {
        if let Some(loads) = self.loads {
            return self.place(party) != to
                && self.place_work[to] + loads.work[party] <= loads.place_work_max;
        }
        let core = self.core_of(to);
        self.place_counts[to] < self.target.place_limits[to].1
            && (self.core_counts[core] < self.target.core_limits[core].1
                || self.core_of(self.place(party)) == core)
    }

    /// Returns the cost of one party if it were on `place` and all others stayed.
    pub(super) fn cost_at(&self, traffic: &Traffic, party: usize, place: usize) -> f64 {
        let (to, weights) = traffic.row(party);
        summed(to, weights, |other| {
            self.target.distance(place, self.place(other))
        })
    }

    /// Returns the cost of the assignment, with each pair counted once.
    pub(super) fn cost(&self, traffic: &Traffic) -> f64 {
        let (mut row, mut leaf_row) = (Vec::new(), Vec::new());
        let mut cost = 0.0;
        for party in 0..self.places.len() {
            let (to, weights) = traffic.row(party);
            // Rows are sorted, so the entries behind the diagonal count each pair once.
            let behind = to.partition_point(|&other| other as usize <= party);
            let (to, weights) = (&to[behind..], &weights[behind..]);
            let here = self.place(party);
            if to.len() < self.target.place_count() / 2 {
                cost += summed(to, weights, |other| {
                    self.target.distance(here, self.place(other))
                });
            } else {
                self.target.fill_row(here, &mut row, &mut leaf_row);
                cost += summed(to, weights, |other| row[self.places[other] as usize]);
            }
        }
        cost
    }
}

/// Returns the sum of weights times distances.
///
/// It keeps four partial sums, so that an addition need not wait for the one before.
#[inline]
fn summed(to: &[u32], weights: &[f32], distance: impl Fn(usize) -> f32) -> f64 {
    let mut sums = [0.0_f64; 4];
    let (to_fours, to_rest) = to.as_chunks::<4>();
    let (weight_fours, weight_rest) = weights.as_chunks::<4>();
    for (to, weights) in to_fours.iter().zip(weight_fours) {
        for lane in 0..4 {
            sums[lane] += f64::from(weights[lane] * distance(to[lane] as usize));
        }
    }
    for (&to, &weight) in to_rest.iter().zip(weight_rest) {
        sums[0] += f64::from(weight * distance(to as usize));
    }
    sums.iter().sum()
}
