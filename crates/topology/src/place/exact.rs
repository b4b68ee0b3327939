//! Finds the placement of least cost by branch and bound.
//!
//! Parties are placed one after the other, those with the most traffic first. A branch is abandoned
//! when its lower bound reaches the cost of the best known placement. The bound is the cost of the
//! parties placed so far, plus the least cost of each remaining party beside them. Only one of
//! several interchangeable free places is tried.
//!
//! # Source
//! Branch and bound for the quadratic assignment problem: Gilmore, 1962; Lawler, 1963. This is the
//! simpler one of the two bounds: each party alone on its best place.

use super::assignment::{Assignment, Loads};
use super::target::Target;
use super::traffic::Traffic;
use crate::error::PlaceError;

/// The search is given up after this many steps, which take some seconds.
const STEPS_MAX: u64 = 50_000_000;

/// The state of a search.
struct Search<'run> {
    traffic: &'run Traffic,
    target: &'run Target<'run>,
    loads: Option<&'run Loads>,
    /// The parties in the order in which they are placed.
    order: Vec<usize>,
    /// The place of each party; `None` if it has none yet.
    places: Vec<Option<usize>>,
    /// The number of parties on each place.
    counts: Vec<u32>,
    /// The number of parties on each core.
    core_counts: Vec<u32>,
    /// The work on each place, if there are loads.
    work: Vec<f64>,
    /// The cost of each party on each place due to the placed parties, in rows of parties.
    costs_at: Vec<f64>,
    /// A lower bound on the traffic cost among the parties from each position on.
    rest_costs: Vec<f64>,
    best_cost: f64,
    best: Vec<u32>,
    steps: u64,
}

/// Finds the placement of least cost. `start` is any valid placement.
pub(super) fn best(
    traffic: &Traffic,
    target: &Target<'_>,
    loads: Option<&Loads>,
    start: Vec<u32>,
) -> Result<Vec<u32>, PlaceError> {
    let parties = traffic.order();
    let places = target.place_count();
    let order = by_attachment(traffic);
    let mut search = Search {
        traffic,
        target,
        loads,
        places: vec![None; parties],
        counts: vec![0; places],
        core_counts: vec![0; target.core_limits.len()],
        work: vec![0.0; places],
        costs_at: vec![0.0; parties * places],
        rest_costs: rest_costs(traffic, target, loads, &order),
        order,
        // A placement with an equal cost is not of interest.
        best_cost: Assignment::new(target, loads, start.clone()).cost(traffic),
        best: start,
        steps: 0,
    };
    search.descend(0, 0.0);
    if search.steps >= STEPS_MAX {
        return Err(PlaceError::ExactSteps { steps: STEPS_MAX });
    }
    Ok(search.best)
}

/// Orders the parties so that each has much traffic with those before it.
fn by_attachment(traffic: &Traffic) -> Vec<usize> {
    let parties = traffic.order();
    let volume = |party: usize| -> f32 { traffic.row(party).1.iter().sum() };
    let mut attached = vec![0.0_f32; parties];
    let mut order = Vec::with_capacity(parties);
    let mut left: Vec<usize> = (0..parties).collect();
    while !left.is_empty() {
        let key = |party: usize| (attached[party], volume(party));
        let next = (0..left.len())
            .reduce(|best, other| {
                let (one, two) = (key(left[best]), key(left[other]));
                let larger = two.0.total_cmp(&one.0).then(two.1.total_cmp(&one.1));
                if larger.is_gt() { other } else { best }
            })
            .unwrap_or(0);
        let party = left.remove(next);
        for (other, weight) in traffic.neighbours(party) {
            attached[other] += weight;
        }
        order.push(party);
    }
    order
}

/// Returns a lower bound on the cost among the parties from each position on: each pair at the
/// least distance of two places.
fn rest_costs(
    traffic: &Traffic,
    target: &Target<'_>,
    loads: Option<&Loads>,
    order: &[usize],
) -> Vec<f64> {
    let places = target.place_count();
    let is_shared = loads.is_some() || target.place_limits.iter().any(|limits| limits.1 > 1);
    let mut nearest = f32::INFINITY;
    for left in 0..places {
        for right in left + 1..places {
            nearest = nearest.min(target.distance(left, right));
        }
    }
    if is_shared || !nearest.is_finite() {
        nearest = 0.0;
    }
    let mut rest = vec![0.0; order.len() + 1];
    for position in (0..order.len()).rev() {
        let later = &order[position + 1..];
        let own: f32 = traffic
            .neighbours(order[position])
            .filter(|(other, _)| later.contains(other))
            .map(|(_, weight)| weight)
            .sum();
        rest[position] = rest[position + 1] + f64::from(own * nearest);
    }
    rest
}

impl Search<'_> {
    /// Places the party at `position` in all ways that may lead to a better placement.
    fn descend(&mut self, position: usize, cost: f64) {
        self.steps += 1;
        if self.steps >= STEPS_MAX {
            return;
        }
        if position == self.order.len() {
            if cost < self.best_cost * (1.0 - 1e-12) && self.keeps_least() {
                self.best_cost = cost;
                self.best = self
                    .places
                    .iter()
                    .map(|place| place.unwrap_or(0) as u32)
                    .collect();
            }
            return;
        }
        let party = self.order[position];
        let mut choices: Vec<(f64, usize)> = (0..self.target.place_count())
            .filter(|&place| self.has_space(party, place) && !self.is_like_an_earlier_one(place))
            .map(|place| {
                (
                    self.costs_at[party * self.target.place_count() + place],
                    place,
                )
            })
            .collect();
        choices.sort_by(|left, right| left.0.total_cmp(&right.0).then(left.1.cmp(&right.1)));
        for (more, place) in choices {
            let sum = cost + more;
            self.put(party, place, 1.0);
            if sum + self.least_of_the_rest(position + 1) < self.best_cost * (1.0 - 1e-12) {
                self.descend(position + 1, sum);
            }
            self.put(party, place, -1.0);
        }
    }

    /// Returns a lower bound on the cost that the parties from `position` on add.
    fn least_of_the_rest(&self, position: usize) -> f64 {
        let places = self.target.place_count();
        let beside: f64 = self.order[position..]
            .iter()
            .map(|&party| {
                (0..places)
                    .filter(|&place| self.has_space(party, place))
                    .map(|place| self.costs_at[party * places + place])
                    .fold(f64::INFINITY, f64::min)
            })
            .sum();
        beside + self.rest_costs[position]
    }

    /// Returns true if a party may be put on a place within the upper limits.
    fn has_space(&self, party: usize, place: usize) -> bool {
        if let Some(loads) = self.loads {
            return self.work[place] + loads.work[party] <= loads.place_work_max;
        }
        let core = self.target.cores[place] as usize;
        self.counts[place] < self.target.place_limits[place].1
            && self.core_counts[core] < self.target.core_limits[core].1
    }

    /// Returns true if an earlier empty place is interchangeable with this empty place: it has the
    /// same bundle and limits, and its core has no other places.
    fn is_like_an_earlier_one(&self, place: usize) -> bool {
        let key = |place: usize| {
            let core = self.target.cores[place] as usize;
            let alone = self.target.core_limits[core].1 == self.target.place_limits[place].1;
            (
                self.target.bundle(place),
                self.target.place_limits[place],
                // Cores with several places are not interchangeable.
                if alone { usize::MAX } else { core },
            )
        };
        self.counts[place] == 0
            && (0..place).any(|earlier| self.counts[earlier] == 0 && key(earlier) == key(place))
    }

    /// Returns true if all places and cores have their minimum number of parties.
    fn keeps_least(&self) -> bool {
        self.loads.is_some()
            || (self.counts.iter().zip(&self.target.place_limits))
                .all(|(count, limits)| *count >= limits.0)
                && (self.core_counts.iter().zip(&self.target.core_limits))
                    .all(|(count, limits)| *count >= limits.0)
    }

    /// Puts a party on a place, or removes it if `sign` is -1.
    fn put(&mut self, party: usize, place: usize, sign: f64) {
        let places = self.target.place_count();
        let core = self.target.cores[place] as usize;
        if sign > 0.0 {
            self.places[party] = Some(place);
            self.counts[place] += 1;
            self.core_counts[core] += 1;
        } else {
            self.places[party] = None;
            self.counts[place] -= 1;
            self.core_counts[core] -= 1;
        }
        if let Some(loads) = self.loads {
            self.work[place] += sign * loads.work[party];
        }
        for (other, weight) in self.traffic.neighbours(party) {
            if self.places[other].is_some() {
                continue;
            }
            for (there, cost) in self.costs_at[other * places..(other + 1) * places]
                .iter_mut()
                .enumerate()
            {
                *cost += sign * f64::from(weight * self.target.distance(there, place));
            }
        }
    }
}
