//! Who sits where while a placement is made, and who may go where from there.
//!
//! # Invariants
//! 1. A move or an exchange that is allowed keeps every core and every place within its limits, if they were.
//! 2. With loads, no place gets more work than the limit by it, but for what it had before.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use super::target::Target;
use super::traffic::Traffic;

/// How much more work than the mean a place may get in any case.
const LOAD_SLACK: f64 = 1.05;

/// A placement is repaired when that takes about so many visits of an entry.
const REPAIR_WORK_MAX: usize = 20_000_000;

/// How much work each party has, and how much a place may get.
#[derive(Clone, Debug)]
pub(super) struct Loads {
    pub(super) work: Vec<f64>,
    pub(super) place_work_max: f64,
}

impl Loads {
    /// The limit is what longest-first gives the fullest place, or a twentieth above the mean, if that is more.
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

    /// A placement that keeps the limit, whoever talks to whom.
    pub(super) fn balanced(&self, target: &Target<'_>) -> Vec<u32> {
        self.longest_first(target.place_count())
            .into_iter()
            .map(|place| place as u32)
            .collect()
    }

    /// Gives the party with the most work to the place with the least, and so on.
    fn longest_first(&self, place_count: usize) -> Vec<usize> {
        let mut order: Vec<usize> = (0..self.work.len()).collect();
        order.sort_by(|&left, &right| self.work[right].total_cmp(&self.work[left]));
        // Work is not negative, so its bits are ordered as it is.
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

/// An assignment of parties to places, with what is needed to change it.
#[derive(Clone, Debug)]
pub(super) struct Seating<'run> {
    pub(super) target: &'run Target<'run>,
    loads: Option<&'run Loads>,
    pub(super) places: Vec<u32>,
    pub(super) place_counts: Vec<u32>,
    core_counts: Vec<u32>,
    place_work: Vec<f64>,
}

impl<'run> Seating<'run> {
    pub(super) fn new(
        target: &'run Target<'run>,
        loads: Option<&'run Loads>,
        places: Vec<u32>,
    ) -> Self {
        let mut seating = Self {
            target,
            loads,
            place_counts: vec![0; target.place_count()],
            core_counts: vec![0; target.core_limits.len()],
            place_work: vec![0.0; loads.map_or(0, |_| target.place_count())],
            places,
        };
        for (party, &place) in seating.places.iter().enumerate() {
            let place = place as usize;
            seating.place_counts[place] += 1;
            seating.core_counts[target.cores[place] as usize] += 1;
            if let Some(loads) = loads {
                seating.place_work[place] += loads.work[party];
            }
        }
        seating
    }

    #[inline]
    pub(super) fn place(&self, party: usize) -> usize {
        self.places[party] as usize
    }

    /// Tells whether a party may go to a place, and nobody comes back.
    #[inline]
    pub(super) fn may_move(&self, party: usize, to: usize) -> bool {
        let from = self.place(party);
        if from == to || !self.may_leave(from) || !self.has_room(party, to) {
            return false;
        }
        let (core, core_to) = (self.core_of(from), self.core_of(to));
        self.loads.is_some()
            || core == core_to
            || self.core_counts[core] > self.target.core_limits[core].0
    }

    /// Tells whether a place has room for somebody without work.
    pub(super) fn may_enter(&self, place: usize) -> bool {
        self.loads.is_some()
            || (self.place_counts[place] < self.target.place_limits[place].1
                && self.core_counts[self.core_of(place)]
                    < self.target.core_limits[self.core_of(place)].1)
    }

    /// Numbers the places so that those with one number are the same to everybody; returns how many numbers there are.
    pub(super) fn classes(&self) -> (Vec<u32>, usize) {
        let target = self.target;
        let is_shared = target.place_limits.iter().any(|limits| limits.1 > 1);
        if self.loads.is_some() || is_shared {
            // Parties on one place are nearer to each other than those on two places, however alike these are.
            let count = target.place_count();
            return ((0..count as u32).collect(), count);
        }
        let classes: Vec<u32> = (0..target.place_count())
            .map(|place| target.bundle(place))
            .collect();
        let count = classes.iter().max().map_or(0, |last| *last as usize + 1);
        (classes, count)
    }

    /// Tells whether a place can do with a party less.
    #[inline]
    pub(super) fn may_leave(&self, place: usize) -> bool {
        self.loads.is_some() || self.place_counts[place] > self.target.place_limits[place].0
    }

    /// Tells whether two parties on different places may change places.
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

    /// Moves parties until every limit is kept, those that lose least; returns whether that was possible.
    ///
    /// A placement that would take long is given up.
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
            let mut consider = |seating: &Self, party: usize, to: usize| {
                let loss = seating.cost_at(traffic, party, to)
                    - seating.cost_at(traffic, party, seating.place(party));
                if best.is_none_or(|(least, ..)| loss < least) {
                    best = Some((loss, party, to));
                }
            };
            match (fullest, emptiest) {
                (None, None) => return true,
                (Some(from), _) => {
                    for party in (0..self.places.len()).filter(|&party| self.place(party) == from) {
                        for to in places.clone().filter(|&to| self.has_room(party, to)) {
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

    /// How many moves it takes, about, until every limit is kept.
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
        // A core may be wrong where its places are not.
        wrong.map(|place| of(place).max(1)).sum()
    }

    fn core_of(&self, place: usize) -> usize {
        self.target.cores[place] as usize
    }

    fn is_overfull(&self, place: usize) -> bool {
        if let Some(loads) = self.loads {
            return self.place_work[place] > loads.place_work_max * (1.0 + 1e-9);
        }
        let core = self.core_of(place);
        self.place_counts[place] > self.target.place_limits[place].1
            || (self.core_counts[core] > self.target.core_limits[core].1
                && self.place_counts[place] > 0)
    }

    fn is_needy(&self, place: usize) -> bool {
        let core = self.core_of(place);
        self.loads.is_none()
            && (self.place_counts[place] < self.target.place_limits[place].0
                || self.core_counts[core] < self.target.core_limits[core].0
                    && self.place_counts[place] < self.target.place_limits[place].1)
    }

    /// Tells whether a place has room for a party, whatever that leaves behind.
    fn has_room(&self, party: usize, to: usize) -> bool {
        if let Some(loads) = self.loads {
            return self.place(party) != to
                && self.place_work[to] + loads.work[party] <= loads.place_work_max;
        }
        let core = self.core_of(to);
        self.place_counts[to] < self.target.place_limits[to].1
            && (self.core_counts[core] < self.target.core_limits[core].1
                || self.core_of(self.place(party)) == core)
    }

    /// The cost for one party if it were on `place`, and all others where they are.
    pub(super) fn cost_at(&self, traffic: &Traffic, party: usize, place: usize) -> f64 {
        let (to, weights) = traffic.row(party);
        summed(to, weights, |other| {
            self.target.distance(place, self.place(other))
        })
    }

    /// The whole cost: each pair once.
    pub(super) fn cost(&self, traffic: &Traffic) -> f64 {
        let (mut row, mut leaf_row) = (Vec::new(), Vec::new());
        let mut cost = 0.0;
        for party in 0..self.places.len() {
            let (to, weights) = traffic.row(party);
            // Rows are sorted: those behind the diagonal are each pair once.
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

/// Adds up weights times distances, four sums at a time: one alone would wait for each addition.
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
