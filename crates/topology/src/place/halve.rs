//! Top-down placement: halves the parties and the machine together, recursively, down to single
//! places.
//!
//! The machine is cut between the children of an object, into halves of about the same capacity.
//! The parties are cut so that the halves exchange little and fit the capacity of their half of the
//! machine. If all parties fit into one half, they stay together.
//!
//! # Source
//! Dual recursive bipartitioning: Pellegrini, Roman: SCOTCH: a software package for static mapping.
//! HPCN 1996.

use super::bisect::bisect;
use super::target::Target;
use super::traffic::Traffic;

/// Returns the place of each party.
pub(super) fn halve(traffic: &Traffic, target: &Target<'_>) -> Vec<u32> {
    let mut halver = Halver {
        target,
        places: vec![0; traffic.order()],
        local: vec![0; traffic.order()],
    };
    let all: Vec<u32> = (0..traffic.order() as u32).collect();
    halver.descend(&[0], traffic, &all);
    halver.places
}

struct Halver<'run> {
    target: &'run Target<'run>,
    places: Vec<u32>,
    /// The index of each vertex within the half that is being made.
    local: Vec<u32>,
}

impl Halver<'_> {
    /// Distributes parties over neighbouring objects. `graph` is the traffic among the parties.
    fn descend(&mut self, nodes: &[usize], graph: &Traffic, parties: &[u32]) {
        if parties.is_empty() {
            return;
        }
        if let [only] = *nodes {
            let node = &self.target.nodes[only];
            if node.children.is_empty() {
                for &party in parties {
                    self.places[party as usize] = node.first as u32;
                }
            } else {
                self.descend(&node.children, graph, parties);
            }
            return;
        }
        // Cut the row of objects in two, and then the parties within the limits of the two halves.
        let (left, right) = nodes.split_at(self.middle(nodes));
        let (least_left, most_left) = self.limits(left);
        let (least_right, most_right) = self.limits(right);
        let count = parties.len();
        let range = (
            least_left.max(count.saturating_sub(most_right)),
            most_left.min(count.saturating_sub(least_right)),
        );
        let sides = bisect(graph, range);
        for (half, side) in [(left, true), (right, false)] {
            let chosen: Vec<usize> = (0..count).filter(|&vertex| sides[vertex] == side).collect();
            if chosen.len() == count {
                self.descend(half, graph, parties);
                return;
            }
            let members: Vec<u32> = chosen.iter().map(|&vertex| parties[vertex]).collect();
            let part = self.part(graph, &chosen, &sides);
            self.descend(half, &part, &members);
        }
    }

    /// Returns the index at which a row of objects is cut into halves of similar capacity.
    fn middle(&self, nodes: &[usize]) -> usize {
        let capacity = |nodes: &[usize]| self.limits(nodes).1;
        let whole = capacity(nodes);
        let mut before = 0;
        let mut best = (usize::MAX, 1);
        for (index, node) in nodes.iter().enumerate().take(nodes.len() - 1) {
            before += self.target.nodes[*node].limits.1;
            let off = whole.abs_diff(2 * before);
            if off < best.0 {
                best = (off, index + 1);
            }
        }
        best.1
    }

    /// Returns the fewest and the most parties on some objects.
    fn limits(&self, nodes: &[usize]) -> (usize, usize) {
        nodes.iter().fold((0, 0), |sum, &node| {
            let limits = self.target.nodes[node].limits;
            (sum.0 + limits.0, sum.1 + limits.1)
        })
    }

    /// Returns the traffic among the chosen vertices of a graph, which are all on the same side.
    fn part(&mut self, graph: &Traffic, chosen: &[usize], sides: &[bool]) -> Traffic {
        for (local, &vertex) in chosen.iter().enumerate() {
            self.local[vertex] = local as u32;
        }
        let mut offsets = Vec::with_capacity(chosen.len() + 1);
        // The expected number of edges. Reserving too much is free, as the memory is not touched.
        let likely = graph.entry_count() / graph.order().max(1) * chosen.len();
        let (mut to, mut weights) = (Vec::with_capacity(likely), Vec::with_capacity(likely));
        offsets.push(0);
        // Whether an edge is kept is unpredictable. So every edge is written without a branch, and
        // the next one overwrites it unless it is kept.
        let longest = chosen.iter().map(|&vertex| graph.row(vertex).0.len());
        let mut kept = vec![(0, 0.0); longest.max().unwrap_or(0) + 1];
        for &vertex in chosen {
            let mut count = 0;
            for (other, weight) in graph.neighbours(vertex) {
                kept[count] = (self.local[other], weight);
                count += usize::from(sides[other] == sides[vertex]);
            }
            to.extend(kept[..count].iter().map(|(to, _)| *to));
            weights.extend(kept[..count].iter().map(|(_, weight)| *weight));
            offsets.push(to.len());
        }
        Traffic::from_parts(offsets, to, weights)
    }
}
