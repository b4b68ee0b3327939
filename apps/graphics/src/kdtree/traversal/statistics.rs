//! Statistics of the quality and the size of a tree.

use super::estimate::TESTS_SLOW;
use crate::kdtree::cells::extent::Extent;
use crate::kdtree::cost::parameters::Parameters;
use crate::kdtree::layout::node::{Node, NodeKind};
use crate::kdtree::layout::tree::KdTree;

/// The result of [`KdTree::statistics`].
#[derive(Debug, Clone, Copy, PartialEq, serde::Serialize)]
#[non_exhaustive]
pub struct TreeStatistics {
    /// The number of nodes, inner ones and leaves.
    pub node_count: usize,
    /// The number of leaves, including empty ones.
    pub leaf_count: usize,
    /// The number of leaves without a triangle.
    pub leaf_empty_count: usize,
    /// The number of triangles in all leaves. A triangle counts once for each leaf that contains
    /// it.
    pub entry_count: usize,
    /// The depth of the deepest leaf. The root has depth 0.
    pub depth: u32,
    /// The average number of triangles per non-empty leaf; 0 if there is none.
    pub triangles_per_leaf: f64,
    /// The expected cost of a ray that meets the box of the tree, by the surface-area heuristic, in
    /// units of [`Parameters`].
    pub expected_cost: f64,
    /// The number of triangles of the largest leaf.
    pub leaf_largest: usize,
    /// The average number of triangles that a ray tests, estimated by following sample rays.
    pub tests_per_ray: f64,
    /// True if rays are slow, that is, if they test more than `TESTS_SLOW` triangles on average.
    /// Long triangles that overlap cause this.
    pub is_slow: bool,
    /// The memory of the finished tree in bytes, with its copy of the triangles.
    pub memory_bytes: usize,
}

impl KdTree {
    /// Counts nodes, leaves and their entries, computes the expected cost of a ray, and follows
    /// some hundred rays. Takes O(nodes) time, and at most a few million triangle tests.
    #[must_use]
    pub fn statistics(&self) -> TreeStatistics {
        let root = Extent {
            low: self.bounds.min.to_array(),
            high: self.bounds.max.to_array(),
        };
        let mut counters = Counters {
            parameters: self.parameters,
            leaf_count: 0,
            leaf_empty_count: 0,
            leaf_largest: 0,
            depth: 0,
            cost: 0.0,
        };
        // An explicit stack instead of recursion: the terms are added in the order of the nodes, so
        // the sum is always the same.
        let mut pending = vec![(self.root(), root, 0)];
        while let Some((node, extent, depth)) = pending.pop() {
            counters.add(node, &extent, root.half_area(), depth);
            if let NodeKind::Inner {
                axis,
                position,
                children,
            } = node.kind()
            {
                let (below, above) = extent.halves(axis, position);
                pending.push((self.nodes[children + 1], above, depth + 1));
                pending.push((self.nodes[children], below, depth + 1));
            }
        }
        let full = counters.leaf_count - counters.leaf_empty_count;
        let tests_per_ray = self.tests_per_ray();
        TreeStatistics {
            node_count: 2 * counters.leaf_count - 1,
            leaf_count: counters.leaf_count,
            leaf_empty_count: counters.leaf_empty_count,
            entry_count: self.entries.len(),
            depth: counters.depth,
            triangles_per_leaf: self.entries.len() as f64 / full.max(1) as f64,
            expected_cost: counters.cost,
            leaf_largest: counters.leaf_largest,
            tests_per_ray,
            is_slow: tests_per_ray > TESTS_SLOW,
            memory_bytes: self.memory_bytes(),
        }
    }

    fn memory_bytes(&self) -> usize {
        size_of_val(self.nodes.as_slice())
            + size_of_val(self.entries.as_slice())
            + size_of_val(self.corners.as_slice())
            + size_of_val(self.triangle_ids.as_slice())
            + self.hierarchies.byte_count()
            + size_of::<Self>()
    }
}

/// The counters during a walk over all nodes.
struct Counters {
    parameters: Parameters,
    leaf_count: usize,
    leaf_empty_count: usize,
    leaf_largest: usize,
    depth: u32,
    cost: f64,
}

impl Counters {
    fn add(&mut self, node: Node, extent: &Extent, root_area: f64, depth: u32) {
        // No ray meets a box without surface. Then only the root counts.
        let chance = if root_area > 0.0 {
            extent.half_area() / root_area
        } else if depth == 0 {
            1.0
        } else {
            0.0
        };
        if node.is_leaf() {
            self.leaf_count += 1;
            self.leaf_empty_count += usize::from(node.count() == 0);
            self.leaf_largest = self.leaf_largest.max(node.count());
            self.depth = self.depth.max(depth);
            self.cost += chance * self.parameters.intersection_cost * node.count() as f64;
        } else {
            self.cost += chance * self.parameters.traversal_cost;
        }
    }
}
