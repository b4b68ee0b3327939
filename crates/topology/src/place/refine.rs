//! Improves a placement by single moves and exchanges, for as many parties and places as fit a table.
//!
//! The table says what each party would cost on each place; an exchange is then rated in a few steps, and one
//! that is made costs a row of the table for each neighbour. First every party takes the best step that it has
//! until nobody has one; then the best step that was not undone lately is taken even if it makes things worse, and the
//! best placement on the way is kept. Work is counted and bounded, so the result depends on no clock.
//!
//! # Source
//! Taillard: Robust taboo search for the quadratic assignment problem. Parallel Computing 17, 1991.

use super::random::Random;
use super::seating::Seating;
use super::traffic::Traffic;

/// A step is an improvement if it gains more than rounding can: so much of what the placement costs at first.
const GAIN_MIN: f64 = 1e-9;

/// Up to so many entries the table is made: 8 MiB.
pub(super) const TABLE_ENTRIES_MAX: usize = 1 << 20;

/// The search ends after so many turns, and so many for each party, without anything better.
const TURNS_IDLE: u32 = 100;
const TURNS_IDLE_PER_PARTY: u32 = 12;

/// What a party can do.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Step {
    Move { party: usize, to: usize },
    Swap { one: usize, other: usize },
}

/// A placement under improvement.
#[derive(Debug)]
pub(super) struct Refiner<'run> {
    traffic: &'run Traffic,
    seating: Seating<'run>,
    /// What each party would cost on each place, party by party. Sums of products that are exact, so that a way there and back gains nothing.
    costs_at: Vec<f64>,
    /// The weights between all parties.
    weights: Vec<f32>,
    /// Places of the same class are the same to everybody: steps between them are none.
    classes: Vec<u32>,
    class_count: usize,
    /// A place with room in each class that has one.
    free: Vec<usize>,
    /// How much may still be done, in visits of a table's entry.
    budget: i64,
    /// What an improvement gains at least.
    gain_min: f64,
}

/// Improves a placement with a bounded number of steps.
pub(super) fn refine(traffic: &Traffic, seating: Seating<'_>, budget: i64, seed: u64) -> Vec<u32> {
    let mut refiner = Refiner::new(traffic, seating, budget);
    refiner.descend();
    refiner.search(seed);
    refiner.seating.places
}

/// Tells whether `refine` can take so many.
pub(super) fn fits(party_count: usize, place_count: usize) -> bool {
    party_count.saturating_mul(place_count.max(party_count)) <= TABLE_ENTRIES_MAX
}

impl<'run> Refiner<'run> {
    fn new(traffic: &'run Traffic, seating: Seating<'run>, budget: i64) -> Self {
        let (parties, places) = (traffic.order(), seating.target.place_count());
        let mut weights = vec![0.0; parties * parties];
        let mut costs_at = vec![0.0; parties * places];
        for party in 0..parties {
            let row = &mut costs_at[party * places..(party + 1) * places];
            for (other, weight) in traffic.neighbours(party) {
                weights[party * parties + other] = weight;
                let there = seating.place(other);
                for (place, cost) in row.iter_mut().enumerate() {
                    *cost += f64::from(weight) * f64::from(seating.target.distance(place, there));
                }
            }
        }
        let made = traffic.entry_count() * places;
        let (classes, class_count) = seating.classes();
        let gain_min = GAIN_MIN * seating.cost(traffic);
        let mut refiner = Self {
            traffic,
            seating,
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

    /// Finds a place with room in each class.
    fn find_free(&mut self) {
        let mut is_found = vec![false; self.class_count];
        self.free.clear();
        for place in 0..self.classes.len() {
            let class = self.classes[place] as usize;
            if !is_found[class] && self.seating.may_enter(place) {
                is_found[class] = true;
                self.free.push(place);
            }
        }
    }

    #[inline]
    fn cost_at(&self, party: usize, place: usize) -> f64 {
        self.costs_at[party * self.seating.target.place_count() + place]
    }

    #[inline]
    fn move_delta(&self, party: usize, to: usize) -> f64 {
        self.cost_at(party, to) - self.cost_at(party, self.seating.place(party))
    }

    #[inline]
    fn swap_delta(&self, one: usize, other: usize) -> f64 {
        let (here, there) = (self.seating.place(one), self.seating.place(other));
        let weight = self.weights[one * self.traffic.order() + other];
        let distance = self.seating.target.distance(here, there);
        let between = 2.0 * f64::from(weight) * f64::from(distance);
        self.cost_at(one, there) - self.cost_at(one, here) + self.cost_at(other, here)
            - self.cost_at(other, there)
            + between
    }

    fn delta(&self, step: Step) -> f64 {
        match step {
            Step::Move { party, to } => self.move_delta(party, to),
            Step::Swap { one, other } => self.swap_delta(one, other),
        }
    }

    /// Puts a party elsewhere and brings the rows of its neighbours up to date.
    fn put(&mut self, party: usize, to: usize) {
        let from = self.seating.place(party);
        let places = self.seating.target.place_count();
        self.seating.set_place(party, to);
        for (other, weight) in self.traffic.neighbours(party) {
            let row = &mut self.costs_at[other * places..(other + 1) * places];
            for (place, cost) in row.iter_mut().enumerate() {
                let distance = |to| f64::from(self.seating.target.distance(place, to));
                *cost += f64::from(weight) * (distance(to) - distance(from));
            }
        }
        self.budget -= ((self.traffic.row(party).0.len() + 1) * places) as i64;
    }

    fn take(&mut self, step: Step) {
        match step {
            Step::Move { party, to } => self.put(party, to),
            Step::Swap { one, other } => {
                let (here, there) = (self.seating.place(one), self.seating.place(other));
                self.put(one, there);
                self.put(other, here);
            }
        }
        self.find_free();
    }

    /// Calls `visit` with every step of a party that is allowed; exchanges with those from `first_other` on.
    #[inline]
    fn for_each_step(&self, party: usize, first_other: usize, mut visit: impl FnMut(Step, f64)) {
        let seating = &self.seating;
        let here = seating.place(party);
        let class = self.classes[here];
        if seating.may_leave(here) {
            for &to in &self.free {
                if self.classes[to] != class && seating.may_move(party, to) {
                    visit(Step::Move { party, to }, self.move_delta(party, to));
                }
            }
        }
        for other in first_other..seating.places.len() {
            let there = self.classes[seating.place(other)];
            if there != class && seating.may_swap(party, other) {
                let step = Step::Swap { one: party, other };
                visit(step, self.swap_delta(party, other));
            }
        }
    }

    /// Lets every party take its best step for as long as that helps anybody.
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

    /// Searches on from a placement that no step improves, and ends with the best that it has seen.
    fn search(&mut self, seed: u64) {
        let (parties, places) = (self.traffic.order(), self.seating.target.place_count());
        if parties < 2 || places < 2 {
            return;
        }
        let mut random = Random::new(seed);
        // Until which turn a party must not come back to a class.
        let classes = self.class_count;
        let mut forbidden = vec![0_u32; parties * classes];
        let mut best_places = self.seating.places.clone();
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
                            let seating = &self.seating;
                            banned(one, seating.place(other)) && banned(other, seating.place(one))
                        }
                    };
                    if !is_banned || excess + delta < -self.gain_min {
                        best = Some((step, delta));
                    }
                });
            }
            self.budget -= (parties * (parties / 2 + self.free.len())) as i64;
            let Some((step, _)) = best else { continue };
            let tenure =
                |random: &mut Random| turn + 1 + (parties / 2 + random.below(parties)) as u32;
            let leaving = match step {
                Step::Move { party, .. } => [Some(party), None],
                Step::Swap { one, other } => [Some(one), Some(other)],
            };
            for party in leaving.into_iter().flatten() {
                let class = self.classes[self.seating.place(party)] as usize;
                forbidden[party * classes + class] = tenure(&mut random);
            }
            excess += self.delta(step);
            self.take(step);
            if excess < -self.gain_min {
                excess = 0.0;
                improved_at = turn;
                best_places.clone_from(&self.seating.places);
            }
        }
        self.seating.places = best_places;
    }
}

#[cfg(test)]
mod tests {
    use super::super::distance::Distances;
    use super::super::target::{Target, usable_cores};
    use super::*;
    use crate::{Matrix, Topology};

    /// By rounding, ways there and back seemed to gain something: the search went on until it had nothing left to do it with, tens of milliseconds for two parties.
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
                let seating = Seating::new(&target, None, places);
                let mut refiner = Refiner::new(&traffic, seating, BUDGET);
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
