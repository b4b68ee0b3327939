//! The tree itself and the access to its parts.

use super::large::Hierarchies;
use super::node::{Node, NodeKind};
use crate::bounds::Bounds;
use crate::intersect::Corners;
use crate::kdtree::cost::parameters::Parameters;

/// A kd-tree over the triangles of a mesh, with a copy of the triangles in the order in which rays
/// visit them.
///
/// Leaves contain only triangles that rays can hit. Triangles with two equal corners are left out.
/// Of many triangles with identical corners, all but the first are left out too. This does not
/// change any hit, because among hits at the same distance the lowest index wins.
///
/// # Examples
/// ```
/// use glam::Vec3;
/// use raddle_graphics::{kdtree::{KdTree, Parameters}, mesh::Mesh};
///
/// let mesh = Mesh {
///     positions: vec![Vec3::ZERO, Vec3::X, Vec3::Y, Vec3::Z],
///     normals: Vec::new(),
///     triangles: vec![[0, 1, 2], [0, 1, 3]],
/// };
/// let tree = KdTree::build(&mesh, &Parameters::default())?;
/// assert_eq!(tree, KdTree::build_sequential(&mesh, &Parameters::default())?);
/// # Ok::<(), raddle_graphics::kdtree::BuildError>(())
/// ```
#[derive(Debug, Clone, PartialEq)]
pub struct KdTree {
    pub(in crate::kdtree) bounds: Bounds,
    pub(in crate::kdtree) parameters: Parameters,
    /// The depth of the deepest leaf.
    pub(in crate::kdtree) depth: u32,
    /// The root, a filler that completes its pair, then pairs of children.
    pub(in crate::kdtree) nodes: Vec<Node>,
    /// The lists of all leaves, as indices into `corners` and `triangle_ids`.
    pub(in crate::kdtree) entries: Vec<u32>,
    /// Each triangle once, in the order of first occurrence in the leaves.
    pub(in crate::kdtree) corners: Vec<Corners>,
    /// For each element of `corners`, the index of the triangle in the mesh.
    pub(in crate::kdtree) triangle_ids: Vec<u32>,
    /// The hierarchies of boxes below large leaves.
    pub(in crate::kdtree) hierarchies: Hierarchies,
}

impl KdTree {
    /// Returns the box around all triangles that a ray can hit. Without such triangles, this is a
    /// point at the origin.
    #[must_use]
    pub fn bounds(&self) -> Bounds {
        self.bounds
    }

    /// Returns the highest index of a triangle in any leaf. Takes O(triangles) time.
    pub(crate) fn triangle_highest(&self) -> Option<usize> {
        self.triangle_ids
            .iter()
            .max()
            .map(|&triangle| triangle as usize)
    }

    /// Returns the parameters that the tree was built with.
    #[must_use]
    pub fn parameters(&self) -> &Parameters {
        &self.parameters
    }

    /// Returns the root.
    #[must_use]
    pub fn root(&self) -> Node {
        self.nodes[0]
    }

    /// Returns all nodes: the root, a filler, then pairs of children; see [`NodeKind::Inner`].
    #[must_use]
    pub fn nodes(&self) -> &[Node] {
        &self.nodes
    }

    /// Returns the triangles of a leaf, as indices into the mesh. For an inner node the iterator is
    /// empty.
    pub fn triangles_of(&self, node: Node) -> impl ExactSizeIterator<Item = u32> + '_ {
        let entries = match node.kind() {
            NodeKind::Leaf { first, count } => &self.entries[first..first + count],
            NodeKind::Inner { .. } => &[],
        };
        entries
            .iter()
            .map(|&entry| self.triangle_ids[entry as usize])
    }
}
