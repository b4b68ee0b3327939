//! Builds a tree over the domains of a machine from the latencies between them.
//!
//! Firmware reports the latencies between NUMA nodes, but the tree of the machine often does not
//! reflect them: a machine of 24 nodes in blades, racks and rings may look flat. The two clusters
//! with the smallest distance between their farthest members are merged first (complete linkage).
//! On ties the smaller clusters come first. Clusters that were merged at the same distance become
//! one object with several children.
//!
//! # Source
//! Complete linkage: Sørensen, 1948, as in textbooks on clustering. Jeannot, Mercier, Tessier, TPDS
//! 25(4), 2014, section 3 maps onto a tree and leaves a tree from latencies to hwloc's groups.

use super::distance::Distances;
use super::part::MachinePart;

/// With more domains than this, the order of the tree is kept: the run time is cubic.
const CLUSTERED_MAX: usize = 256;

/// Some parts that have been merged.
struct Cluster {
    parts: Vec<MachinePart>,
    /// The distance at which its parts were merged; 0 for a single part.
    joined_at: f64,
    size: usize,
}

/// Merges parts into one, with parts that are near each other below a common object.
pub(super) fn cluster(pieces: Vec<MachinePart>, distances: &Distances) -> MachinePart {
    if pieces.len() > CLUSTERED_MAX {
        return MachinePart::Inner(pieces);
    }
    let count = pieces.len();
    let firsts: Vec<usize> = pieces.iter().map(MachinePart::first_leaf).collect();
    let mut apart = vec![0.0; count * count];
    for from in 0..count {
        for to in 0..count {
            apart[from * count + to] = distances.between_leaves(firsts[from], firsts[to]);
        }
    }
    let mut clusters: Vec<Option<Cluster>> = pieces
        .into_iter()
        .map(|part| {
            Some(Cluster {
                parts: vec![part],
                joined_at: 0.0,
                size: 1,
            })
        })
        .collect();
    // Merge the nearest two clusters until one is left. The merged cluster replaces `left`, and its
    // distance to another cluster is the larger one of both.
    while let Some((left, right)) = nearest(&clusters, &apart) {
        let at = apart[left * count + right];
        let (Some(one), Some(other)) = (clusters[left].take(), clusters[right].take()) else {
            break;
        };
        let size = one.size + other.size;
        let mut parts = opened(one, at);
        parts.extend(opened(other, at));
        clusters[left] = Some(Cluster {
            parts,
            joined_at: at,
            size,
        });
        for third in 0..count {
            let farther = apart[left * count + third].max(apart[right * count + third]);
            apart[left * count + third] = farther;
            apart[third * count + left] = farther;
        }
    }
    let mut parts: Vec<MachinePart> = clusters
        .into_iter()
        .flatten()
        .flat_map(|cluster| cluster.parts)
        .collect();
    match parts.len() {
        1 => parts.remove(0),
        _ => MachinePart::Inner(parts),
    }
}

/// Returns the parts that a cluster contributes when it is merged at distance `at`.
///
/// These are its parts if it was itself merged at that distance, and otherwise one object with
/// its parts below it.
fn opened(cluster: Cluster, at: f64) -> Vec<MachinePart> {
    if cluster.size == 1 || cluster.joined_at >= at {
        return cluster.parts;
    }
    vec![MachinePart::Inner(cluster.parts)]
}

/// Returns the two clusters to merge next.
fn nearest(clusters: &[Option<Cluster>], apart: &[f64]) -> Option<(usize, usize)> {
    let count = clusters.len();
    let mut best = None;
    for (left, one) in clusters.iter().enumerate() {
        for (right, other) in clusters.iter().enumerate().skip(left + 1) {
            let (Some(one), Some(other)) = (one, other) else {
                continue;
            };
            let key = (apart[left * count + right], one.size + other.size);
            if best.is_none_or(|(best_key, _)| key < best_key) {
                best = Some((key, (left, right)));
            }
        }
    }
    best.map(|(_, pair)| pair)
}
