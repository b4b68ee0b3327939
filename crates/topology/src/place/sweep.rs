//! Improves a placement of many parties, each by the places near to those that it talks to most.
//!
//! No table of all costs is kept: a step is rated by the traffic of the parties that it moves. Parties are visited in
//! turn; one is visited again when a party that it talks to has moved. Work is counted and bounded.
//!
//! # Source
//! Local search over a neighbourhood that the traffic prunes: Brandfass, Alrutz, Gerhold: Rank reordering for MPI
//! communication optimization. Computers & Fluids 80, 2013.

use std::collections::VecDeque;

use super::seating::Seating;
use super::traffic::Traffic;

/// How many of those that a party talks to most are looked at.
const PARTNERS: usize = 4;

/// How many places around each of them.
const PLACES_AROUND: usize = 6;

/// How many of the parties on a place are asked to change with.
const OCCUPANTS: usize = 4;

const GAIN_MIN: f64 = 1e-7;

struct Sweeper<'run> {
    traffic: &'run Traffic,
    seating: Seating<'run>,
    /// Who is on each place.
    occupants: Vec<Vec<u32>>,
    /// The smallest range of several places that holds each place.
    around: Vec<(u32, u32)>,
    queue: VecDeque<u32>,
    is_queued: Vec<bool>,
    budget: i64,
}

/// Improves a placement with a bounded number of steps.
pub(super) fn sweep(traffic: &Traffic, seating: Seating<'_>, budget: i64) -> Vec<u32> {
    let mut occupants = vec![Vec::new(); seating.target.place_count()];
    for (party, &place) in seating.places.iter().enumerate() {
        occupants[place as usize].push(party as u32);
    }
    let mut around = vec![(0, 0); seating.target.place_count()];
    // Parents stand before their children, so the smallest range is written last.
    for node in &seating.target.nodes {
        if !node.children.is_empty() {
            around[node.first..node.end].fill((node.first as u32, node.end as u32));
        }
    }
    let mut sweeper = Sweeper {
        traffic,
        queue: (0..traffic.order() as u32).collect(),
        is_queued: vec![true; traffic.order()],
        seating,
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
    sweeper.seating.places
}

impl Sweeper<'_> {
    fn rate(&mut self, party: usize, place: usize) -> f64 {
        self.budget -= 1 + self.traffic.row(party).0.len() as i64;
        self.seating.cost_at(self.traffic, party, place)
    }

    /// Takes the best step of a party that makes things better, if there is one.
    fn visit(&mut self, party: usize) {
        let here = self.seating.place(party);
        let now = self.rate(party, here);
        let mut best: Option<(f64, usize, Option<usize>)> = None;
        for to in self.candidates(party, here) {
            let there = self.rate(party, to);
            // What is saved at most: nobody else can gain from an exchange more than this party loses.
            if self.seating.may_move(party, to) {
                keep(&mut best, there - now, to, None);
            }
            let asked: Vec<u32> = self.occupants[to].iter().take(OCCUPANTS).copied().collect();
            for other in asked {
                let other = other as usize;
                if !self.seating.may_swap(party, other) {
                    continue;
                }
                let between =
                    2.0 * self.weight(party, other) * self.seating.target.distance(here, to);
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

    fn weight(&self, party: usize, other: usize) -> f32 {
        self.traffic
            .neighbours(party)
            .find(|&(neighbour, _)| neighbour == other)
            .map_or(0.0, |(_, weight)| weight)
    }

    /// Places near to those that a party talks to most.
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
        let mut places = Vec::with_capacity(PARTNERS * PLACES_AROUND);
        for (_, other) in partners {
            let there = self.seating.place(other);
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

    fn put(&mut self, party: usize, to: usize) {
        let from = self.seating.place(party);
        if let Some(at) = self.occupants[from]
            .iter()
            .position(|&other| other as usize == party)
        {
            self.occupants[from].swap_remove(at);
        }
        self.occupants[to].push(party as u32);
        self.seating.set_place(party, to);
        for &other in self.traffic.row(party).0 {
            if !self.is_queued[other as usize] {
                self.is_queued[other as usize] = true;
                self.queue.push_back(other);
            }
        }
    }
}

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
