//! Improves a placement of many parties by trying places near each party's main partners.
//!
//! There is no table of all costs: a step is rated from the traffic of the parties that it moves.
//! Parties are visited in turn, and a party is visited again when one of its partners has moved.
//! The amount of work is counted and bounded.
//!
//! # Source
//! Local search in a neighbourhood that is pruned by the traffic: Brandfass, Alrutz, Gerhold: Rank
//! reordering for MPI communication optimization. Computers & Fluids 80, 2013.

use std::collections::VecDeque;

use super::assignment::Assignment;
use super::traffic::Traffic;

/// The number of main partners of a party around which places are tried.
const PARTNERS: usize = 4;

/// The number of places tried around each partner.
const PLACES_AROUND: usize = 6;

/// The number of parties on a place that are tried for a swap.
const OCCUPANTS: usize = 4;

/// A step must lower the cost by at least this much, to exclude effects of rounding.
const GAIN_MIN: f64 = 1e-7;

struct Sweeper<'run> {
    traffic: &'run Traffic,
    assignment: Assignment<'run>,
    /// The parties on each place.
    occupants: Vec<Vec<u32>>,
    /// The smallest object with several places around each place, as a range of places.
    around: Vec<(u32, u32)>,
    queue: VecDeque<u32>,
    /// True for each party in the queue.
    is_queued: Vec<bool>,
    /// The remaining work, in visited matrix entries.
    budget: i64,
}

/// Improves a placement with a bounded number of steps.
pub(super) fn sweep(traffic: &Traffic, assignment: Assignment<'_>, budget: i64) -> Vec<u32> {
    let mut occupants = vec![Vec::new(); assignment.target.place_count()];
    for (party, &place) in assignment.places.iter().enumerate() {
        occupants[place as usize].push(party as u32);
    }
    let mut around = vec![(0, 0); assignment.target.place_count()];
    // Parents come before their children, so the smallest range is written last.
    for node in &assignment.target.nodes {
        if !node.children.is_empty() {
            around[node.first..node.end].fill((node.first as u32, node.end as u32));
        }
    }
    let mut sweeper = Sweeper {
        traffic,
        queue: (0..traffic.order() as u32).collect(),
        is_queued: vec![true; traffic.order()],
        assignment,
        occupants,
        around,
        budget,
    };
    while let Some(party) = sweeper.queue.pop_front() {
        if sweeper.budget <= 0 {
            break;
        }
        sweeper.is_queued[party as usize] = false;
        sweeper.visit(party as usize);
    }
    sweeper.assignment.places
}

impl Sweeper<'_> {
    /// Returns the cost of a party on a place, and charges the work to the budget.
    fn rate(&mut self, party: usize, place: usize) -> f64 {
        self.budget -= 1 + self.traffic.row(party).0.len() as i64;
        self.assignment.cost_at(self.traffic, party, place)
    }

    /// Makes the best step of a party if it is an improvement.
    fn visit(&mut self, party: usize) {
        let here = self.assignment.place(party);
        let now = self.rate(party, here);
        let mut best: Option<(f64, usize, Option<usize>)> = None;
        for to in self.candidates(party, here) {
            let there = self.rate(party, to);
            // Try a move, if the place has space.
            if self.assignment.may_move(party, to) {
                keep(&mut best, there - now, to, None);
            }
            // Try a swap with some parties there. Each rate assumes that the other party stays. The
            // distance between the two does not change, so the traffic between them is added back.
            let occupants: Vec<u32> = self.occupants[to].iter().take(OCCUPANTS).copied().collect();
            for other in occupants {
                let other = other as usize;
                if !self.assignment.may_swap(party, other) {
                    continue;
                }
                let between =
                    2.0 * self.weight(party, other) * self.assignment.target.distance(here, to);
                let delta = there - now + self.rate(other, here) - self.rate(other, to)
                    + f64::from(between);
                keep(&mut best, delta, to, Some(other));
            }
        }
        if let Some((_, to, other)) = best {
            self.put(party, to);
            if let Some(other) = other {
                self.put(other, here);
            }
        }
    }

    /// Returns the traffic between two parties.
    fn weight(&self, party: usize, other: usize) -> f32 {
        self.traffic
            .neighbours(party)
            .find(|&(neighbour, _)| neighbour == other)
            .map_or(0.0, |(_, weight)| weight)
    }

    /// Returns places near the main partners of a party.
    fn candidates(&self, party: usize, here: usize) -> Vec<usize> {
        let mut partners: Vec<(f32, usize)> = Vec::with_capacity(PARTNERS + 1);
        for (other, weight) in self.traffic.neighbours(party) {
            if partners.len() == PARTNERS && partners[PARTNERS - 1].0 >= weight {
                continue;
            }
            let at = partners.partition_point(|&(more, _)| more >= weight);
            partners.insert(at, (weight, other));
            partners.truncate(PARTNERS);
        }
        // Around each partner, take the next places of the smallest object with several places.
        let mut places = Vec::with_capacity(PARTNERS * PLACES_AROUND);
        for (_, other) in partners {
            let there = self.assignment.place(other);
            let (first, end) = self.around[there];
            let count = (end - first) as usize;
            for step in 0..count.min(PLACES_AROUND) {
                let place = first as usize + (there - first as usize + step) % count;
                if place != here && !places.contains(&place) {
                    places.push(place);
                }
            }
            if count == 0 && there != here && !places.contains(&there) {
                places.push(there);
            }
        }
        places
    }

    /// Moves a party, and queues its partners for another visit.
    fn put(&mut self, party: usize, to: usize) {
        let from = self.assignment.place(party);
        if let Some(at) = self.occupants[from]
            .iter()
            .position(|&other| other as usize == party)
        {
            self.occupants[from].swap_remove(at);
        }
        self.occupants[to].push(party as u32);
        self.assignment.set_place(party, to);
        for &other in self.traffic.row(party).0 {
            if !self.is_queued[other as usize] {
                self.is_queued[other as usize] = true;
                self.queue.push_back(other);
            }
        }
    }
}

/// Replaces the best step by another one if that gains more, and enough.
fn keep(
    best: &mut Option<(f64, usize, Option<usize>)>,
    delta: f64,
    to: usize,
    other: Option<usize>,
) {
    if delta < -GAIN_MIN && best.is_none_or(|(least, ..)| delta < least) {
        *best = Some((delta, to, other));
    }
}
