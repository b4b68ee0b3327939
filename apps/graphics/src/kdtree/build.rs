//! What both builders share: the input, the decision to split, and the piece of tree that comes out.

use super::cell::{Cell, Extent, Reference};
use super::event::{self, Event};
use super::node::Node;
use super::sweep::Plane;
use super::{BuildError, Parameters};
use crate::intersect::Corners;

/// What a tree is built over.
#[derive(Debug)]
pub(super) struct Input<'a> {
    /// The corners of every triangle.
    pub(super) triangles: &'a [Corners],
    pub(super) parameters: Parameters,
    /// The depth at which every cell becomes a leaf.
    pub(super) levels: u32,
}

impl<'a> Input<'a> {
    /// Checks the parameters and settles the depth.
    pub(super) fn new(
        triangles: &'a [Corners],
        parameters: &Parameters,
    ) -> Result<Self, BuildError> {
        parameters.check()?;
        Ok(Self {
            triangles,
            parameters: *parameters,
            levels: parameters.depth_limit.levels(triangles.len()),
        })
    }

    /// Whether a cell may be split at all: some plane could be cheaper than a leaf, and is allowed.
    #[inline]
    pub(super) fn may_split(&self, reference_count: usize, depth: u32) -> bool {
        let parameters = &self.parameters;
        depth < self.levels
            && parameters.empty_bonus * parameters.traversal_cost < self.leaf_cost(reference_count)
    }

    /// The plane, if it is cheaper than a leaf.
    #[inline]
    pub(super) fn worth_it(&self, plane: Option<Plane>, cell: &Cell<'_>) -> Option<Plane> {
        plane.filter(|plane| plane.cost < self.leaf_cost(cell.references.len()))
    }

    fn leaf_cost(&self, reference_count: usize) -> f64 {
        self.parameters.intersection_cost * reference_count as f64
    }
}

/// The references of a whole mesh, one for each triangle that a ray can hit, and the box around them.
///
/// A triangle with two equal corners covers no ray, in exact arithmetic as in ours, and is left out.
pub(super) fn references_of(triangles: &[Corners]) -> (Vec<Reference>, Extent) {
    let references: Vec<_> = triangles
        .iter()
        .enumerate()
        .filter(|(_, [a, b, c])| a != b && b != c && c != a)
        .map(|(index, triangle)| Reference {
            extent: Extent::of_triangle(triangle),
            triangle: index as u32,
        })
        .collect();
    let extent = references
        .iter()
        .map(|reference| reference.extent)
        .reduce(|all, extent| all.union(&extent))
        .unwrap_or(Extent::ZERO);
    (references, extent)
}

/// The sorted events of one axis.
pub(super) fn events_of(
    references: &[Reference],
    axis: usize,
    spare: &mut Vec<Event>,
) -> Vec<Event> {
    let mut events = Vec::with_capacity(2 * references.len());
    for (index, reference) in references.iter().enumerate() {
        reference.push_events(index as u32, axis, &mut events);
    }
    event::sort(&mut events, spare);
    events
}

/// A piece of a tree below some node: everything but that node itself.
///
/// Order: the pair of children, then all below the first, then all below the second.
#[derive(Debug, Default)]
pub(super) struct Fragment {
    pub(super) nodes: Vec<Node>,
    /// Triangles of all leaves, one list after the other in the order of the leaves.
    pub(super) entries: Vec<u32>,
}

impl Fragment {
    /// Makes a leaf of some references.
    pub(super) fn leaf(&mut self, references: &[Reference]) -> Node {
        let first = self.entries.len();
        self.entries
            .extend(references.iter().map(|reference| reference.triangle));
        Node::leaf(first, references.len())
    }

    /// Makes room for two children and returns the index of the first.
    pub(super) fn open_pair(&mut self) -> usize {
        let pair = self.nodes.len();
        self.nodes.extend([Node::default(); 2]);
        pair
    }
}
