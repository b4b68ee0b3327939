//! Improves a placement by moves and swaps, for numbers of parties and places that fit a table.
//!
//! The table holds the cost of each party on each place. With it a swap is rated in a few steps,
//! and a step that is made updates one row of the table for each neighbour. First every party makes
//! its best step until no step improves the placement. Then the search continues: it makes the best
//! step that was not undone lately even if the cost rises, and keeps the best placement on the way.
//! The amount of work is counted and bounded, so the result does not depend on a clock.
//!
//! # Source
//! Taillard: Robust taboo search for the quadratic assignment problem. Parallel Computing 17, 1991.

use super::assignment::Assignment;
use super::random::Random;
use super::traffic::Traffic;

/// The gain from which a step is an improvement, relative to the cost of the initial placement. It
/// excludes effects of rounding.
const GAIN_MIN: f64 = 1e-9;

/// The largest number of entries of the table: 8 MiB.
pub(super) const TABLE_ENTRIES_MAX: usize = 1 << 20;

/// The search ends after this many turns, plus this many per party, without an improvement.
const TURNS_IDLE: u32 = 100;
const TURNS_IDLE_PER_PARTY: u32 = 12;

/// A change of the placement.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Step {
    Move { party: usize, to: usize },
    Swap { one: usize, other: usize },
}

/// A placement under improvement.
#[derive(Debug)]
pub(super) struct Refiner<'run> {
    traffic: &'run Traffic,
    assignment: Assignment<'run>,
    /// The cost of each party on each place, in rows of parties. The products in the sums are
    /// exact, so that a step and its reverse gain nothing.
    costs_at: Vec<f64>,
    /// The traffic between all parties, as a dense matrix.
    weights: Vec<f32>,
    /// The class of each place. Places of the same class are interchangeable, so steps between them
    /// are not considered.
    classes: Vec<u32>,
    class_count: usize,
    /// One place with space in each class that has one.
    free: Vec<usize>,
    /// The remaining work, in visited entries of the table.
    budget: i64,
    /// The least gain of an improvement.
    gain_min: f64,
}

/// Improves a placement with a bounded number of steps.
pub(super) fn refine(
    traffic: &Traffic,
    assignment: Assignment<'_>,
    budget: i64,
    seed: u64,
) -> Vec<u32> {
    let mut refiner = Refiner::new(traffic, assignment, budget);
    refiner.descend();
    refiner.search(seed);
    refiner.assignment.places
}

/// Returns true if the table of `refine` is small enough for these numbers.
pub(super) fn fits(party_count: usize, place_count: usize) -> bool {
    party_count.saturating_mul(place_count.max(party_count)) <= TABLE_ENTRIES_MAX
}

impl<'run> Refiner<'run> {
    fn new(traffic: &'run Traffic, assignment: Assignment<'run>, budget: i64) -> Self {
        let (parties, places) = (traffic.order(), assignment.target.place_count());
        let mut weights = vec![0.0; parties * parties];
        let mut costs_at = vec![0.0; parties * places];
        for party in 0..parties {
            let row = &mut costs_at[party * places..(party + 1) * places];
            for (other, weight) in traffic.neighbours(party) {
                weights[party * parties + other] = weight;
                let there = assignment.place(other);
                for (place, cost) in row.iter_mut().enumerate() {
                    *cost +=
                        f64::from(weight) * f64::from(assignment.target.distance(place, there));
                }
            }
        }
        let made = traffic.entry_count() * places;
        let (classes, class_count) = assignment.classes();
        let gain_min = GAIN_MIN * assignment.cost(traffic);
        let mut refiner = Self {
            traffic,
            assignment,
            costs_at,
            weights,
            classes,
            class_count,
            free: Vec::new(),
            budget: budget - made as i64,
            gain_min,
        };
        refiner.find_free();
        refiner
    }

    /// Finds a place with space in each class.
    fn find_free(&mut self) {
        let mut is_found = vec![false; self.class_count];
        self.free.clear();
        for place in 0..self.classes.len() {
            let class = self.classes[place] as usize;
            if !is_found[class] && self.assignment.may_enter(place) {
                is_found[class] = true;
                self.free.push(place);
            }
        }
    }

    #[inline]
    /// Returns the cost of a party on a place.
    fn cost_at(&self, party: usize, place: usize) -> f64 {
        self.costs_at[party * self.assignment.target.place_count() + place]
    }

    #[inline]
    /// Returns the change of the cost by a move.
    fn move_delta(&self, party: usize, to: usize) -> f64 {
        self.cost_at(party, to) - self.cost_at(party, self.assignment.place(party))
    }

    #[inline]
    /// Returns the change of the cost by a swap. The distance between the two does not change, so
    /// the traffic between them is added back.
    fn swap_delta(&self, one: usize, other: usize) -> f64 {
        let (here, there) = (self.assignment.place(one), self.assignment.place(other));
        let weight = self.weights[one * self.traffic.order() + other];
        let distance = self.assignment.target.distance(here, there);
        let between = 2.0 * f64::from(weight) * f64::from(distance);
        self.cost_at(one, there) - self.cost_at(one, here) + self.cost_at(other, here)
            - self.cost_at(other, there)
            + between
    }

    /// Returns the change of the cost by a step.
    fn delta(&self, step: Step) -> f64 {
        match step {
            Step::Move { party, to } => self.move_delta(party, to),
            Step::Swap { one, other } => self.swap_delta(one, other),
        }
    }

    /// Moves a party and updates the rows of its neighbours.
    fn put(&mut self, party: usize, to: usize) {
        let from = self.assignment.place(party);
        let places = self.assignment.target.place_count();
        self.assignment.set_place(party, to);
        for (other, weight) in self.traffic.neighbours(party) {
            let row = &mut self.costs_at[other * places..(other + 1) * places];
            for (place, cost) in row.iter_mut().enumerate() {
                let distance = |to| f64::from(self.assignment.target.distance(place, to));
                *cost += f64::from(weight) * (distance(to) - distance(from));
            }
        }
        self.budget -= ((self.traffic.row(party).0.len() + 1) * places) as i64;
    }

    /// Makes a step.
    fn take(&mut self, step: Step) {
        match step {
            Step::Move { party, to } => self.put(party, to),
            Step::Swap { one, other } => {
                let (here, there) = (self.assignment.place(one), self.assignment.place(other));
                self.put(one, there);
                self.put(other, here);
            }
        }
        self.find_free();
    }

    /// Calls `visit` with every allowed step of a party and its delta. Swaps are tried with the
    /// parties from `first_other` on.
    #[inline]
    fn for_each_step(&self, party: usize, first_other: usize, mut visit: impl FnMut(Step, f64)) {
        let assignment = &self.assignment;
        let here = assignment.place(party);
        let class = self.classes[here];
        if assignment.may_leave(here) {
            for &to in &self.free {
                if self.classes[to] != class && assignment.may_move(party, to) {
                    visit(Step::Move { party, to }, self.move_delta(party, to));
                }
            }
        }
        for other in first_other..assignment.places.len() {
            let there = self.classes[assignment.place(other)];
            if there != class && assignment.may_swap(party, other) {
                let step = Step::Swap { one: party, other };
                visit(step, self.swap_delta(party, other));
            }
        }
    }

    /// Lets every party make its best step until no step improves the placement.
    fn descend(&mut self) {
        let parties = self.traffic.order();
        let mut since = 0;
        let mut party = 0;
        while since < parties && self.budget > 0 {
            let mut best: Option<(Step, f64)> = None;
            self.for_each_step(party, 0, |step, delta| {
                if delta < -self.gain_min && best.is_none_or(|(_, least)| delta < least) {
                    best = Some((step, delta));
                }
            });
            self.budget -= (parties + self.free.len()) as i64;
            since += 1;
            if let Some((step, _)) = best {
                self.take(step);
                since = 0;
            }
            party = (party + 1) % parties;
        }
    }

    /// Continues from a placement that no step improves, and ends with the best placement seen.
    fn search(&mut self, seed: u64) {
        let (parties, places) = (self.traffic.order(), self.assignment.target.place_count());
        if parties < 2 || places < 2 {
            return;
        }
        let mut random = Random::new(seed);
        // The turn until which a party must not return to a class.
        let classes = self.class_count;
        let mut forbidden = vec![0_u32; parties * classes];
        let mut best_places = self.assignment.places.clone();
        let (mut excess, mut turn) = (0.0_f64, 0_u32);
        let idle_max = TURNS_IDLE + TURNS_IDLE_PER_PARTY * parties as u32;
        let mut improved_at = 0;
        while self.budget > 0 && turn - improved_at < idle_max {
            turn += 1;
            let mut best: Option<(Step, f64)> = None;
            for party in 0..parties {
                self.for_each_step(party, party + 1, |step, delta| {
                    if best.is_some_and(|(_, least)| delta >= least) {
                        return;
                    }
                    let banned = |party: usize, to: usize| {
                        forbidden[party * classes + self.classes[to] as usize] > turn
                    };
                    let is_banned = match step {
                        Step::Move { party, to } => banned(party, to),
                        Step::Swap { one, other } => {
                            let assignment = &self.assignment;
                            banned(one, assignment.place(other))
                                && banned(other, assignment.place(one))
                        }
                    };
                    if !is_banned || excess + delta < -self.gain_min {
                        best = Some((step, delta));
                    }
                });
            }
            // Make the best allowed step, even if the cost rises, and ban the way back for a while.
            self.budget -= (parties * (parties / 2 + self.free.len())) as i64;
            let Some((step, _)) = best else { continue };
            let tenure =
                |random: &mut Random| turn + 1 + (parties / 2 + random.below(parties)) as u32;
            let leaving = match step {
                Step::Move { party, .. } => [Some(party), None],
                Step::Swap { one, other } => [Some(one), Some(other)],
            };
            for party in leaving.into_iter().flatten() {
                let class = self.classes[self.assignment.place(party)] as usize;
                forbidden[party * classes + class] = tenure(&mut random);
            }
            excess += self.delta(step);
            self.take(step);
            // `excess` is the cost relative to the best placement. A negative one is a new best.
            if excess < -self.gain_min {
                excess = 0.0;
                improved_at = turn;
                best_places.clone_from(&self.assignment.places);
            }
        }
        self.assignment.places = best_places;
    }
}

#[cfg(test)]
mod tests {
    use super::super::distance::Distances;
    use super::super::target::{Target, usable_cores};
    use super::*;
    use crate::{Matrix, Topology};

    /// Checks that rounding does not make a step and its reverse look like a gain. It once did, and
    /// the search used up its budget: tens of milliseconds for two parties.
    #[test]
    fn a_search_that_finds_nothing_better_ends() {
        const BUDGET: i64 = 4_000_000;
        let topology = Topology::synthetic("package:2 l3:2 core:2 pu:2").expect("a machine");
        let distances = Distances::new(&topology);
        let cores = usable_cores(&topology, None);
        for order in [2, 5, 11] {
            let mut matrix = Matrix::new(order);
            for party in 1..order {
                matrix.add(0, party, 1e3 / party as f64);
                matrix.add(party, party - 1, 2.5);
            }
            let traffic = Traffic::new(&matrix);
            let target = Target::new(&topology, &distances, &cores, order);
            for seed in 0..3 {
                let places = (0..order as u32).rev().collect();
                let assignment = Assignment::new(&target, None, places);
                let mut refiner = Refiner::new(&traffic, assignment, BUDGET);
                refiner.descend();
                refiner.search(seed);
                assert!(
                    refiner.budget > BUDGET / 2,
                    "{order}: {} left",
                    refiner.budget
                );
            }
        }
    }
}
