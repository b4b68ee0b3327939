//! Parts of the machine, as they are assembled into a tree of places.

use super::distance::Distances;

/// A part of the machine.
#[derive(Debug)]
pub(super) enum MachinePart {
    /// A usable CPU, as a leaf of the topology.
    Leaf(usize),
    /// Several parts below a common object.
    Inner(Vec<MachinePart>),
}

impl MachinePart {
    /// Returns the first leaf inside the part.
    pub(super) fn first_leaf(&self) -> usize {
        match self {
            Self::Leaf(leaf) => *leaf,
            Self::Inner(parts) => parts.first().map_or(0, Self::first_leaf),
        }
    }

    /// Returns true if all leaves of the part are in the given domain.
    pub(super) fn is_inside_one_domain(&self, distances: &Distances, domain: usize) -> bool {
        match self {
            Self::Leaf(leaf) => distances.domain(*leaf) == domain,
            Self::Inner(parts) => parts
                .iter()
                .all(|part| part.is_inside_one_domain(distances, domain)),
        }
    }
}
