//! Improves a placement by moves and swaps of single elements, as long as bytes travel less far and
//! no worker is overloaded.

use super::{Costs, flows};
use crate::balance::strategy::LoadView;

/// The excess over the average load that a worker may reach when elements move to it.
const TOLERANCE: f64 = 0.05;
const PASSES_MAX: usize = 8;
/// The number of steps of a pass beyond which elements are only moved, not swapped.
const STEPS_MAX: usize = 4 << 20;

/// Returns an improved placement: passes over all elements until no element moves any more.
pub(super) fn improve(view: &LoadView, costs: &Costs, mut placed: Vec<usize>) -> Vec<usize> {
    let mut search = Search::new(view, costs, &placed);
    for _ in 0..PASSES_MAX {
        let mut has_moved = false;
        for element in 0..placed.len() {
            has_moved |= search.step(&mut placed, element);
        }
        if !has_moved {
            break;
        }
    }
    placed
}

struct Search<'a> {
    costs: &'a Costs,
    partners: Vec<Vec<(usize, f64)>>,
    /// The loads of the elements; 1 for each if nothing was measured.
    weights: Vec<f64>,
    sums: Vec<f64>,
    on: Vec<Vec<usize>>,
    limit: f64,
    swaps: bool,
}

impl<'a> Search<'a> {
    fn new(view: &LoadView, costs: &'a Costs, placed: &[usize]) -> Self {
        let mut partners = vec![Vec::new(); placed.len()];
        let mut entry_count = 0;
        for (from, to, bytes) in flows(view) {
            partners[from].push((to, bytes));
            partners[to].push((from, bytes));
            entry_count += 2;
        }
        let mut weights: Vec<f64> = view
            .elements
            .iter()
            .map(|element| element.load.as_secs_f64())
            .collect();
        if weights.iter().all(|&weight| weight == 0.0) {
            weights.fill(1.0);
        }
        let worker_count = view.worker_count;
        let (mut sums, mut on) = (vec![0.0; worker_count], vec![Vec::new(); worker_count]);
        for (element, &worker) in placed.iter().enumerate() {
            sums[worker] += weights[element];
            on[worker].push(element);
        }
        let average = sums.iter().sum::<f64>() / worker_count as f64;
        Self {
            costs,
            partners,
            weights,
            sums,
            on,
            limit: average * (1.0 + TOLERANCE),
            swaps: entry_count * placed.len() / worker_count.max(1) <= STEPS_MAX,
        }
    }

    /// Moves an element to the worker that saves most, alone or in a swap. Returns true if it
    /// moved.
    fn step(&mut self, placed: &mut [usize], element: usize) -> bool {
        let from = placed[element];
        let mut requests: Vec<(f64, usize)> = self.partners[element]
            .iter()
            .map(|&(partner, _)| placed[partner])
            .filter(|&to| to != from)
            .map(|to| (self.gain(placed, element, to, None), to))
            .filter(|&(gain, _)| gain > 0.0)
            .collect();
        requests.sort_by(|left, right| right.0.total_cmp(&left.0).then(left.1.cmp(&right.1)));
        requests.dedup_by_key(|request_moves| request_moves.1);
        for (gain, to) in requests {
            let weight = self.weights[element];
            if self.sums[to] + weight <= self.limit.max(self.sums[from]) {
                self.send(placed, element, to);
                return true;
            }
            if self.swaps
                && let Some(other) = self.other(placed, element, to, gain)
            {
                self.send(placed, element, to);
                self.send(placed, other, from);
                return true;
            }
        }
        false
    }

    /// Returns the element to swap with, so that most is saved and neither worker is overloaded.
    fn other(&self, placed: &[usize], element: usize, to: usize, gain: f64) -> Option<usize> {
        let from = placed[element];
        let limit = self.limit.max(self.sums[from]).max(self.sums[to]);
        let fits = |&&other: &&usize| {
            let difference = self.weights[element] - self.weights[other];
            self.sums[to] + difference <= limit && self.sums[from] - difference <= limit
        };
        let rated = self.on[to].iter().filter(fits).map(|&other| {
            // The bytes between the two elements travel as far as before, so they are left out.
            let own = self.gain(placed, element, to, Some(other));
            (own + self.gain(placed, other, from, Some(element)), other)
        });
        let best = rated.max_by(|left, right| left.0.total_cmp(&right.0))?;
        (best.0 > 0.0 && gain > 0.0).then_some(best.1)
    }

    /// Returns the nanoseconds that moving `element` to `to` saves, without the messages between
    /// `element` and `without`.
    fn gain(&self, placed: &[usize], element: usize, to: usize, without: Option<usize>) -> f64 {
        let from = placed[element];
        let partners = self.partners[element].iter();
        let others = partners.filter(|&&(partner, _)| Some(partner) != without);
        others
            .map(|&(partner, bytes)| {
                let there = placed[partner];
                bytes * (self.costs.byte_ns(from, there) - self.costs.byte_ns(to, there))
            })
            .sum()
    }

    fn send(&mut self, placed: &mut [usize], element: usize, to: usize) {
        let from = placed[element];
        self.sums[from] -= self.weights[element];
        self.sums[to] += self.weights[element];
        self.on[from].retain(|&other| other != element);
        self.on[to].push(element);
        placed[element] = to;
    }
}
