//! Makes a graph smaller by merging vertices that exchange much.
//!
//! # Source
//! Heavy-edge matching: Karypis, Kumar: A fast and high quality multilevel scheme for partitioning
//! irregular graphs. SIAM J. Sci. Comput. 20(1), 1998, section 3.1.

use super::random::Random;
use super::traffic::Traffic;

/// A coarse graph, each vertex of which represents several parties.
#[derive(Clone, Debug)]
pub(super) struct Coarse {
    pub(super) graph: Traffic,
    /// The number of parties that each vertex represents.
    pub(super) weights: Vec<u32>,
    /// The coarse vertex of each vertex of the finer graph.
    pub(super) parents: Vec<u32>,
}

/// Merges each vertex with the neighbour of its heaviest edge, up to `weight_max` together.
pub(super) fn coarsen(
    graph: &Traffic,
    weights: &[u32],
    weight_max: u32,
    random: &mut Random,
) -> Coarse {
    let parents = matching(graph, weights, weight_max, random);
    let count = parents.iter().max().map_or(0, |last| *last as usize + 1);
    let mut members: Vec<[u32; 2]> = vec![[u32::MAX; 2]; count];
    let mut coarse_weights = vec![0; count];
    for (vertex, &parent) in parents.iter().enumerate() {
        let parent = parent as usize;
        coarse_weights[parent] += weights[vertex];
        let slot = usize::from(members[parent][0] != u32::MAX);
        members[parent][slot] = vertex as u32;
    }
    // Add up the edges of the one or two vertices behind each coarse vertex. `sums` is valid for
    // the neighbours that `seen` marks with the current vertex.
    let mut offsets = Vec::with_capacity(count + 1);
    let (mut to, mut edge_weights) = (Vec::new(), Vec::new());
    let mut sums = vec![0.0_f32; count];
    let mut seen = vec![u32::MAX; count];
    offsets.push(0);
    for (own, pair) in members.iter().enumerate() {
        let start = to.len();
        for &vertex in pair.iter().filter(|vertex| **vertex != u32::MAX) {
            for (other, weight) in graph.neighbours(vertex as usize) {
                let other = parents[other] as usize;
                if other == own {
                    continue;
                }
                if seen[other] != own as u32 {
                    seen[other] = own as u32;
                    sums[other] = 0.0;
                    to.push(other as u32);
                }
                sums[other] += weight;
            }
        }
        edge_weights.extend(to[start..].iter().map(|&other| sums[other as usize]));
        offsets.push(to.len());
    }
    Coarse {
        graph: Traffic::from_parts(offsets, to, edge_weights),
        weights: coarse_weights,
        parents,
    }
}

/// Pairs the vertices, and returns the coarse vertex of each.
fn matching(graph: &Traffic, weights: &[u32], weight_max: u32, random: &mut Random) -> Vec<u32> {
    let count = graph.order();
    let mut order: Vec<u32> = (0..count as u32).collect();
    random.shuffle(&mut order);
    // Vertices with few neighbours come first, since they have the least choice.
    if graph.entry_count() < count * 64 {
        order.sort_by_key(|&vertex| graph.row(vertex as usize).0.len());
    }
    let mut parents = vec![u32::MAX; count];
    let mut next = 0;
    for vertex in order {
        let vertex = vertex as usize;
        if parents[vertex] != u32::MAX {
            continue;
        }
        let mut heaviest: Option<(f32, usize)> = None;
        for (other, weight) in graph.neighbours(vertex) {
            if parents[other] == u32::MAX
                && heaviest.is_none_or(|(most, _)| weight > most)
                && weights[vertex] + weights[other] <= weight_max
            {
                heaviest = Some((weight, other));
            }
        }
        parents[vertex] = next;
        if let Some((_, other)) = heaviest {
            parents[other] = next;
        }
        next += 1;
    }
    parents
}
