//! Cuts a graph into two parts of given sizes, so that little is exchanged between them.
//!
//! The graph is made smaller until a few dozen vertices are left (`coarsen`). The smallest graph is
//! cut several times from different start vertices. The best cut is carried back through the larger
//! graphs, and improved on each of them by moving single vertices. A pass moves vertices one after
//! the other, the best one first and each one once, even if that makes the cut worse for a while,
//! and ends with the best cut that it saw.
//!
//! # Source
//! Fiduccia, Mattheyses: A linear-time heuristic for improving network partitions. DAC 1982.
//! Several levels: Karypis, Kumar, SIAM J. Sci. Comput. 20(1), 1998.

use std::collections::BinaryHeap;

use super::coarsen::{Coarse, coarsen};
use super::random::Random;
use super::traffic::Traffic;

/// A graph with at most this many vertices is cut directly.
const COARSEST: usize = 64;

/// The number of start vertices from which the smallest graph is cut.
const STARTS: usize = 8;

/// The maximum number of passes on each level.
const PASSES_MAX: usize = 6;

/// A graph is dense if its vertices have on average more neighbours than the number of all vertices
/// divided by this. Scanning all vertices then costs no more than a move.
const DENSE_PART: usize = 16;

/// The minimum and the maximum number of parties in the first part.
pub(super) type Range = (usize, usize);

/// Cuts a graph. Returns, for each vertex, true if it is in the first part.
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
    // For a large dense graph, coarsening costs more than it gains.
    let levels = if count < COARSEST * 8 || !is_dense(graph) {
        smaller_graphs(graph, &ones, weight_max, &mut random)
    } else {
        Vec::new()
    };
    let (coarsest, weights) = levels
        .last()
        .map_or((graph, &ones), |level| (&level.graph, &level.weights));
    let mut sides = first_cut(coarsest, weights, range, &mut random);
    // Carry the cut back to each finer graph and improve it there.
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
    // Vertices of coarse graphs are heavy, so the sizes may still be wrong.
    let first = sides.iter().filter(|side| **side).count();
    if (range.0..=range.1).contains(&first) {
        return sides;
    }
    let mut cut = Cut::new(graph, &ones, range, sides);
    cut.force();
    cut.sides
}

/// Coarsens a graph repeatedly, until few vertices are left or it hardly gets smaller.
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

/// Returns true if the graph is dense; see [`DENSE_PART`].
fn is_dense(graph: &Traffic) -> bool {
    graph.entry_count() > graph.order() * graph.order() / DENSE_PART
}

/// Cuts a graph that is small or cannot be coarsened further.
fn first_cut(graph: &Traffic, weights: &[u32], range: Range, random: &mut Random) -> Vec<bool> {
    let starts = if graph.order() <= COARSEST * 4 {
        STARTS
    } else {
        1
    };
    let mut best: Option<((usize, f64), Vec<bool>)> = None;
    for start in 0..starts {
        // Aim for the middle of the allowed range, then for its ends.
        let goal = match start % 3 {
            0 => usize::midpoint(range.0, range.1),
            1 => range.0,
            _ => range.1,
        };
        let mut cut = Cut::new(graph, weights, range, vec![false; graph.order()]);
        cut.grow(random.below(graph.order()), goal);
        cut.improve();
        let rank = match starts {
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
    /// True for each vertex in the first part.
    sides: Vec<bool>,
    /// The reduction of the cost of the cut if the vertex changes sides.
    gains: Vec<f32>,
    /// The weight of the first part.
    first: usize,
    /// The allowed excess of a cut while it is being improved.
    slack: usize,
    /// True if the best vertex is found by a scan of all vertices rather than with a heap.
    is_scanned: bool,
}

/// An entry of a heap: the gain of a vertex at some time. It is outdated if the gain has changed.
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
    /// Creates the cut, and computes the gain of each vertex.
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

    /// Returns by how much the first part is outside its range.
    fn excess(&self) -> usize {
        self.excess_of(self.first)
    }

    /// Returns by how much a first part of the given weight would be outside its range.
    const fn excess_of(&self, first: usize) -> usize {
        if first < self.range.0 {
            self.range.0 - first
        } else {
            first.saturating_sub(self.range.1)
        }
    }

    /// Returns the weight of the first part after a vertex has changed sides.
    fn first_after(&self, vertex: usize) -> usize {
        let weight = self.weights[vertex] as usize;
        if self.sides[vertex] {
            self.first - weight
        } else {
            self.first + weight
        }
    }

    /// Returns the traffic between the two parts.
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

    /// Grows the first part around a vertex until it has the weight `goal`.
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

    /// Returns the vertex outside the first part with the largest gain.
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
            // No other vertex is connected to the first part, so take any.
            let mut open = open;
            open.next()
        }
    }

    /// Moves a vertex to the other side, and updates the gains of its neighbours.
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

    /// Runs passes until one finds no improvement. Also brings the first part into its range.
    fn improve(&mut self) {
        for _ in 0..PASSES_MAX {
            if !self.pass() {
                break;
            }
        }
    }

    /// Brings the first part into its range at any cost. All vertices must have weight 1.
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
        let mut unused = BinaryHeap::new();
        for vertex in movable.into_iter().take(off) {
            self.flip(vertex, &mut unused);
        }
    }

    /// Moves vertices, each once, and returns to the best cut on the way.
    ///
    /// Returns true if that cut is better than the one before.
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
                // A vertex without neighbours in the other part is offered once a neighbour moves,
                // unless the sizes are wrong.
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
        // Undo the moves after the best cut.
        for &vertex in moved[kept..].iter().rev() {
            self.flip(vertex, &mut offers);
        }
        kept > 0
    }

    /// Returns true if a move keeps the excess within the slack, or lowers it.
    fn may_move(&self, vertex: usize) -> bool {
        let after = self.excess_of(self.first_after(vertex));
        after <= self.slack.min(self.excess().max(self.slack)) || after < self.excess()
    }

    /// Returns the movable vertex with the largest gain.
    fn best_to_move(&self, locked: &[bool], offers: &mut BinaryHeap<Offer>) -> Option<usize> {
        // If a part is too large, only its vertices may move.
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
            // Leave the other entries for later, to bound the search for one move.
            if later.len() > 64 {
                break;
            }
        }
        offers.extend(later);
        found
    }
}
