//! Cuts a graph in two parts of given sizes, so that little is exchanged between them.
//!
//! The graph is made smaller until a few dozen vertices are left (`coarsen`), which are cut several times from
//! different beginnings; the best cut is carried back through the larger graphs and improved on each by moving single
//! vertices. A pass moves vertices one after the other, the best first and each once, also when that makes things
//! worse for a while, and ends with the best cut that it saw.
//!
//! # Source
//! Fiduccia, Mattheyses: A linear-time heuristic for improving network partitions. DAC 1982. Several levels:
//! Karypis, Kumar, SIAM J. Sci. Comput. 20(1), 1998.

use std::collections::BinaryHeap;

use super::coarsen::{Coarse, coarsen};
use super::random::Random;
use super::traffic::Traffic;

/// A graph of so many vertices is cut directly.
const COARSEST: usize = 64;

/// From how many beginnings the smallest graph is cut.
const BEGINNINGS: usize = 8;

/// How often a cut is improved on each level at most.
const PASSES_MAX: usize = 6;

/// A graph of which a vertex has more neighbours than so much of all vertices is dense: looking at
/// all vertices then costs no more than a move.
const DENSE_PART: usize = 16;

/// How many parties the first part gets: at least, and at most.
pub(super) type Range = (usize, usize);

/// Cuts a graph; returns for each vertex whether it is in the first part.
pub(super) fn bisect(graph: &Traffic, range: Range) -> Vec<bool> {
    let count = graph.order();
    if range.1 >= count {
        return vec![true; count];
    }
    if range.0 == 0 {
        return vec![false; count];
    }
    let mut random = Random::new(count as u64);
    let ones = vec![1; count];
    let smaller = range.1.min(count - range.0).max(1);
    let weight_max = (smaller / 8).max(2) as u32;
    // Of a large dense graph each smaller one costs more than it helps.
    let levels = if count < COARSEST * 8 || !is_dense(graph) {
        smaller_graphs(graph, &ones, weight_max, &mut random)
    } else {
        Vec::new()
    };
    let (coarsest, weights) = levels
        .last()
        .map_or((graph, &ones), |level| (&level.graph, &level.weights));
    let mut sides = first_cut(coarsest, weights, range, &mut random);
    for index in (0..levels.len()).rev() {
        sides = levels[index]
            .parents
            .iter()
            .map(|&parent| sides[parent as usize])
            .collect();
        let (finer, weights) = match index {
            0 => (graph, &ones),
            _ => (&levels[index - 1].graph, &levels[index - 1].weights),
        };
        let mut cut = Cut::new(finer, weights, range, sides);
        cut.improve();
        sides = cut.sides;
    }
    let first = sides.iter().filter(|side| **side).count();
    if (range.0..=range.1).contains(&first) {
        return sides;
    }
    let mut cut = Cut::new(graph, &ones, range, sides);
    cut.force();
    cut.sides
}

/// Makes a graph smaller again and again, until few vertices are left or it gets hardly smaller.
fn smaller_graphs(
    graph: &Traffic,
    ones: &Vec<u32>,
    weight_max: u32,
    random: &mut Random,
) -> Vec<Coarse> {
    let mut levels: Vec<Coarse> = Vec::new();
    loop {
        let (finer, weights) = levels
            .last()
            .map_or((graph, ones), |level| (&level.graph, &level.weights));
        if finer.order() <= COARSEST {
            return levels;
        }
        let level = coarsen(finer, weights, weight_max, random);
        if level.graph.order() * 10 > finer.order() * 9 {
            return levels;
        }
        levels.push(level);
    }
}

fn is_dense(graph: &Traffic) -> bool {
    graph.entry_count() > graph.order() * graph.order() / DENSE_PART
}

/// Cuts a small graph, or one that gets no smaller.
fn first_cut(graph: &Traffic, weights: &[u32], range: Range, random: &mut Random) -> Vec<bool> {
    let beginnings = if graph.order() <= COARSEST * 4 {
        BEGINNINGS
    } else {
        1
    };
    let mut best: Option<((usize, f64), Vec<bool>)> = None;
    for beginning in 0..beginnings {
        // Ends and middle of what is allowed.
        let goal = match beginning % 3 {
            0 => usize::midpoint(range.0, range.1),
            1 => range.0,
            _ => range.1,
        };
        let mut cut = Cut::new(graph, weights, range, vec![false; graph.order()]);
        cut.grow(random.below(graph.order()), goal);
        cut.improve();
        let rank = match beginnings {
            1 => (0, 0.0),
            _ => (cut.excess(), cut.external()),
        };
        if best.as_ref().is_none_or(|(least, _)| rank < *least) {
            best = Some((rank, cut.sides));
        }
    }
    best.map_or_else(|| vec![false; graph.order()], |(_, sides)| sides)
}

/// A cut under improvement.
struct Cut<'graph> {
    graph: &'graph Traffic,
    weights: &'graph [u32],
    range: Range,
    /// Whether a vertex is in the first part.
    sides: Vec<bool>,
    /// What the cut gets cheaper by when a vertex changes sides.
    gains: Vec<f32>,
    /// The weight of the first part.
    first: usize,
    /// How far a cut may be off while it is improved.
    slack: usize,
    is_scanned: bool,
}

/// The gain of a vertex at some time, in a heap.
#[derive(Clone, Copy, Debug)]
struct Offer {
    gain: f32,
    vertex: u32,
}

impl PartialEq for Offer {
    fn eq(&self, other: &Self) -> bool {
        self.cmp(other).is_eq()
    }
}

impl Eq for Offer {}

impl PartialOrd for Offer {
    fn partial_cmp(&self, other: &Self) -> Option<std::cmp::Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for Offer {
    fn cmp(&self, other: &Self) -> std::cmp::Ordering {
        self.gain
            .total_cmp(&other.gain)
            .then(other.vertex.cmp(&self.vertex))
    }
}

impl<'graph> Cut<'graph> {
    fn new(graph: &'graph Traffic, weights: &'graph [u32], range: Range, sides: Vec<bool>) -> Self {
        let mut cut = Self {
            graph,
            weights,
            range,
            gains: vec![0.0; sides.len()],
            first: 0,
            slack: weights.iter().copied().max().unwrap_or(1) as usize,
            is_scanned: graph.order() <= COARSEST * 4 || is_dense(graph),
            sides,
        };
        let is_whole = cut.sides.iter().all(|side| *side == cut.sides[0]);
        for (vertex, &weight) in weights.iter().enumerate() {
            if cut.sides[vertex] {
                cut.first += weight as usize;
            }
            cut.gains[vertex] = if is_whole {
                -graph.volume(vertex)
            } else {
                let side = cut.sides[vertex];
                let signed = |(other, weight): (usize, f32)| {
                    if cut.sides[other] == side {
                        -weight
                    } else {
                        weight
                    }
                };
                graph.neighbours(vertex).map(signed).sum()
            };
        }
        cut
    }

    /// How far the first part is out of its range.
    fn excess(&self) -> usize {
        self.excess_of(self.first)
    }

    const fn excess_of(&self, first: usize) -> usize {
        if first < self.range.0 {
            self.range.0 - first
        } else {
            first.saturating_sub(self.range.1)
        }
    }

    /// The weight of the first part after a vertex has changed sides.
    fn first_after(&self, vertex: usize) -> usize {
        let weight = self.weights[vertex] as usize;
        if self.sides[vertex] {
            self.first - weight
        } else {
            self.first + weight
        }
    }

    /// What the parts exchange.
    fn external(&self) -> f64 {
        let mut twice = 0.0;
        for vertex in 0..self.sides.len() {
            for (other, weight) in self.graph.neighbours(vertex) {
                if self.sides[other] != self.sides[vertex] {
                    twice += f64::from(weight);
                }
            }
        }
        twice / 2.0
    }

    /// Makes the first part grow around a vertex.
    fn grow(&mut self, seed: usize, goal: usize) {
        let mut taken = vec![false; self.sides.len()];
        let mut offers = BinaryHeap::new();
        let mut next = Some(seed);
        while self.first < goal {
            let vertex = match next.take() {
                Some(vertex) => vertex,
                None => match self.best_to_grow(&taken, &mut offers) {
                    Some(vertex) => vertex,
                    None => return,
                },
            };
            taken[vertex] = true;
            if self.excess_of(self.first_after(vertex)) > 0 && self.first_after(vertex) > goal {
                continue;
            }
            self.flip(vertex, &mut offers);
        }
    }

    fn best_to_grow(&self, taken: &[bool], offers: &mut BinaryHeap<Offer>) -> Option<usize> {
        if !self.is_scanned {
            while let Some(offer) = offers.pop() {
                let vertex = offer.vertex as usize;
                if !taken[vertex] && offer.gain == self.gains[vertex] {
                    return Some(vertex);
                }
            }
        }
        let open = (0..taken.len()).filter(|&vertex| !taken[vertex] && !self.sides[vertex]);
        if self.is_scanned {
            open.reduce(|best, other| {
                if self.gains[other] > self.gains[best] {
                    other
                } else {
                    best
                }
            })
        } else {
            // Nobody else is connected: any vertex begins anew.
            let mut open = open;
            open.next()
        }
    }

    /// Lets a vertex change sides, and tells its neighbours.
    fn flip(&mut self, vertex: usize, offers: &mut BinaryHeap<Offer>) {
        self.first = self.first_after(vertex);
        self.sides[vertex] = !self.sides[vertex];
        self.gains[vertex] = -self.gains[vertex];
        let side = self.sides[vertex];
        for (other, weight) in self.graph.neighbours(vertex) {
            let change = if self.sides[other] == side { -2.0 } else { 2.0 };
            self.gains[other] += change * weight;
            if !self.is_scanned {
                offers.push(Offer {
                    gain: self.gains[other],
                    vertex: other as u32,
                });
            }
        }
    }

    /// Improves the cut until a pass finds nothing, and brings the first part into its range.
    fn improve(&mut self) {
        for _ in 0..PASSES_MAX {
            if !self.pass() {
                break;
            }
        }
    }

    /// Brings the first part into its range, whatever that costs; all vertices must weigh 1.
    fn force(&mut self) {
        let off = self.excess();
        if off == 0 {
            return;
        }
        let from_first = self.first > self.range.1;
        let mut movable: Vec<usize> = (0..self.sides.len())
            .filter(|&vertex| self.sides[vertex] == from_first)
            .collect();
        movable.sort_by(|&left, &right| self.gains[right].total_cmp(&self.gains[left]));
        let mut nobody = BinaryHeap::new();
        for vertex in movable.into_iter().take(off) {
            self.flip(vertex, &mut nobody);
        }
    }

    /// Moves vertices, each once, and goes back to the best cut on the way; returns whether it is better.
    fn pass(&mut self) -> bool {
        let count = self.sides.len();
        let idle_max = if self.is_scanned {
            24 + count / 8
        } else {
            100 + count / 50
        };
        let mut locked = vec![false; count];
        let mut offers: BinaryHeap<Offer> = BinaryHeap::new();
        if !self.is_scanned {
            let is_off = self.excess() > 0;
            for vertex in 0..count {
                // Vertices inside a part are offered when a neighbour moves, or at once when the sizes are wrong.
                let inside = self.graph.volume(vertex);
                if is_off || self.gains[vertex] > -inside {
                    offers.push(Offer {
                        gain: self.gains[vertex],
                        vertex: vertex as u32,
                    });
                }
            }
        }
        let begin = (self.excess(), 0.0_f64);
        let mut best = begin;
        let (mut moved, mut kept) = (Vec::new(), 0);
        let mut sum = 0.0_f64;
        while moved.len() - kept < idle_max {
            let Some(vertex) = self.best_to_move(&locked, &mut offers) else {
                break;
            };
            sum -= f64::from(self.gains[vertex]);
            locked[vertex] = true;
            self.flip(vertex, &mut offers);
            moved.push(vertex);
            let now = (self.excess(), sum);
            if now.0 < best.0 || (now.0 == best.0 && now.1 < best.1 - 1e-6) {
                best = now;
                kept = moved.len();
            }
        }
        for &vertex in moved[kept..].iter().rev() {
            self.flip(vertex, &mut offers);
        }
        kept > 0
    }

    fn may_move(&self, vertex: usize) -> bool {
        let after = self.excess_of(self.first_after(vertex));
        after <= self.slack.min(self.excess().max(self.slack)) || after < self.excess()
    }

    fn best_to_move(&self, locked: &[bool], offers: &mut BinaryHeap<Offer>) -> Option<usize> {
        // A cut that is off gets right first: from the part that is too large.
        let wanted = match self.first {
            first if first > self.range.1 => Some(true),
            first if first < self.range.0 => Some(false),
            _ => None,
        };
        let fits = |vertex: usize| {
            !locked[vertex]
                && wanted.is_none_or(|side| self.sides[vertex] == side)
                && self.may_move(vertex)
        };
        if self.is_scanned {
            return (0..locked.len())
                .filter(|&vertex| fits(vertex))
                .reduce(|best, other| {
                    if self.gains[other] > self.gains[best] {
                        other
                    } else {
                        best
                    }
                });
        }
        let mut later = Vec::new();
        let mut found = None;
        while let Some(offer) = offers.pop() {
            let vertex = offer.vertex as usize;
            if locked[vertex] || offer.gain != self.gains[vertex] {
                continue;
            }
            if fits(vertex) {
                found = Some(vertex);
                break;
            }
            later.push(offer);
            // The rest waits for another time rather than being looked through for each move.
            if later.len() > 64 {
                break;
            }
        }
        offers.extend(later);
        found
    }
}
