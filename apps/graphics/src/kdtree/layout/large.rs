//! Hierarchies of boxes below large leaves. Testing all triangles of a large leaf would be slow.
//!
//! No plane separates long triangles that overlap. The surface-area heuristic then stops at a leaf
//! of any size, and so does the bound on copies ([`crate::kdtree::cost::level`]). A hierarchy of
//! boxes contains each triangle once, whatever its size. Rays visit the boxes from front to back
//! and skip those behind the nearest hit. So a ray does not test all triangles in its way, but only
//! those that begin before the hit.
//!
//! Leaves at a depth limit that the user asked for have no hierarchy. Such a tree is wanted as it
//! is, and has large leaves whatever its triangles are.
//!
//! The lists of the leaves stay unchanged. A hierarchy depends on the finished tree alone, so every
//! builder makes the same.
//!
//! # Boxes
//! A box contains the parts of its triangles within the leaf's cell. A hit is found in each cell
//! that contains it, and within the cell in each box that contains it, for the reason given in
//! `traversal::traverse`: boxes are rounded outward, and the ray's stretches within boxes are
//! extended like those within cells.
//!
//! # Source
//! T. Kay, J. Kajiya: Ray tracing complex scenes. SIGGRAPH 1986, with halves by the median of the
//! centres.

use super::node::{Node, NodeKind};
use crate::intersect::Corners;
use crate::kdtree::cells::extent::Extent;
use crate::kdtree::cost::level::LARGE_LEN_MIN;
use crate::kdtree::cost::parameters::{DEPTH_MAX, DepthLimit};
use crate::kdtree::fork_join::ForkJoin;
use crate::kdtree::phases::clip;

/// The number of entries of a traversal's stack that suffices for the deepest possible tree.
pub(in crate::kdtree) const STACK_LEN: usize = DEPTH_MAX as usize;
/// The largest number of triangles in a box that is not divided.
const BOX_LEN_MAX: usize = 8;

/// A box of a hierarchy.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(in crate::kdtree) struct BoxNode {
    pub(in crate::kdtree) extent: Extent,
    /// In a divided box, the index of the first half; the second half follows it. Otherwise the
    /// index of the first triangle of the box.
    pub(in crate::kdtree) first: u32,
    /// The number of triangles, or 0 if the box is divided.
    pub(in crate::kdtree) count: u32,
}

/// The hierarchy of one leaf.
#[derive(Debug, Clone, Default, PartialEq)]
pub(in crate::kdtree) struct Hierarchy {
    /// The index of the leaf's first entry in the tree.
    leaf: u32,
    /// The root, followed by pairs of halves.
    pub(in crate::kdtree) nodes: Vec<BoxNode>,
    /// The triangles of the leaf, as indices into the tree's corners, in the order of the boxes.
    pub(in crate::kdtree) entries: Vec<u32>,
    /// A copy of their corners. The triangles of a box are far from each other in the array of the
    /// tree.
    pub(in crate::kdtree) corners: Vec<Corners>,
}

/// The hierarchies of a tree, in the order of their leaves' entries.
#[derive(Debug, Clone, Default, PartialEq)]
pub(in crate::kdtree) struct Hierarchies(Vec<Hierarchy>);

impl Hierarchies {
    /// Builds the hierarchies of all large leaves. Takes O(nodes) time, and O(n log n) time for
    /// each large leaf.
    pub(in crate::kdtree) fn of(
        nodes: &[Node],
        entries: &[u32],
        corners: &[Corners],
        extent: Extent,
        depth_limit: DepthLimit,
        threads: &impl ForkJoin,
    ) -> Self {
        if !nodes.iter().any(|&node| is_large(node)) {
            return Self::default();
        }
        let limit = match depth_limit {
            DepthLimit::At(levels) => levels,
            DepthLimit::Automatic | DepthLimit::Unlimited => u32::MAX,
        };
        let mut jobs = large_leaves(nodes, extent, limit);
        threads.for_each(&mut jobs, |_, (hierarchy, leaf, cell)| {
            let list = &entries[leaf.first()..][..leaf.count()];
            *hierarchy = Hierarchy::of(leaf.first() as u32, list, corners, cell);
        });
        let mut all: Vec<Hierarchy> = jobs.into_iter().map(|(hierarchy, ..)| hierarchy).collect();
        all.sort_unstable_by_key(|hierarchy| hierarchy.leaf);
        Self(all)
    }

    /// Returns the hierarchy of a leaf that [is large](is_large), if it has one.
    pub(in crate::kdtree) fn of_leaf(&self, leaf: Node) -> Option<&Hierarchy> {
        let first = leaf.first() as u32;
        let found = self
            .0
            .binary_search_by_key(&first, |hierarchy| hierarchy.leaf);
        found.ok().map(|index| &self.0[index])
    }

    /// Returns the memory of all hierarchies, in bytes.
    pub(in crate::kdtree) fn byte_count(&self) -> usize {
        let of_one = |hierarchy: &Hierarchy| {
            size_of_val(hierarchy.nodes.as_slice())
                + size_of_val(hierarchy.entries.as_slice())
                + size_of_val(hierarchy.corners.as_slice())
        };
        size_of_val(self.0.as_slice()) + self.0.iter().map(of_one).sum::<usize>()
    }
}

/// Returns true if a node is a leaf with enough triangles for a hierarchy.
#[inline(always)]
pub(in crate::kdtree) fn is_large(node: Node) -> bool {
    node.is_leaf() && node.count() >= LARGE_LEN_MIN
}

/// Returns the large leaves of a tree above depth `limit` and their cells, each with an empty
/// hierarchy that is to be filled.
fn large_leaves(nodes: &[Node], extent: Extent, limit: u32) -> Vec<(Hierarchy, Node, Extent)> {
    let mut found = Vec::new();
    let mut pending = vec![(nodes[0], extent, 0)];
    while let Some((node, extent, depth)) = pending.pop() {
        if is_large(node) && depth < limit {
            found.push((Hierarchy::default(), node, extent));
        }
        if let NodeKind::Inner {
            axis,
            position,
            children,
        } = node.kind()
        {
            let (below, above) = extent.halves(axis, position);
            pending.extend([
                (nodes[children], below, depth + 1),
                (nodes[children + 1], above, depth + 1),
            ]);
        }
    }
    found
}

/// A triangle of a leaf, and the box of its part in the cell.
#[derive(Debug, Clone, Copy)]
struct Item {
    extent: Extent,
    entry: u32,
}

impl Item {
    /// Returns twice the centre of the box along an axis.
    fn center(&self, axis: usize) -> f32 {
        self.extent.low[axis] + self.extent.high[axis]
    }
}

impl Hierarchy {
    fn of(leaf: u32, list: &[u32], corners: &[Corners], cell: &Extent) -> Self {
        let mut items: Vec<Item> = list
            .iter()
            .map(|&entry| Item {
                extent: clip::within(&corners[entry as usize], cell),
                entry,
            })
            .collect();
        let mut hierarchy = Self {
            leaf,
            // Lists have four triangles or more, so there are fewer than half as many boxes.
            nodes: Vec::with_capacity(items.len() / 2),
            entries: Vec::with_capacity(items.len()),
            corners: Vec::with_capacity(items.len()),
        };
        let root = hierarchy.open(&items);
        hierarchy.divide(root, &mut items, corners, 0);
        hierarchy.nodes.shrink_to_fit();
        hierarchy
    }

    /// Adds a box around some items, and returns its index.
    fn open(&mut self, items: &[Item]) -> usize {
        let extents = items.iter().map(|item| item.extent);
        let extent = extents.reduce(|all, extent| all.union(&extent));
        self.nodes.push(BoxNode {
            extent: extent.unwrap_or(Extent::ZERO),
            first: 0,
            count: 0,
        });
        self.nodes.len() - 1
    }

    /// Fills a box with its items. Divides the items into two halves of equal size, at the median
    /// along the axis with the widest spread of centres.
    fn divide(&mut self, index: usize, items: &mut [Item], corners: &[Corners], depth: usize) {
        // A traversal keeps one pending box for each level.
        debug_assert!(depth < STACK_LEN, "halves of at most 2^26 triangles");
        if items.len() <= BOX_LEN_MAX {
            let node = &mut self.nodes[index];
            (node.first, node.count) = (self.entries.len() as u32, items.len() as u32);
            for item in items {
                self.entries.push(item.entry);
                self.corners.push(corners[item.entry as usize]);
            }
            return;
        }
        let axis = widest_axis(items);
        let order = |a: &Item, b: &Item| {
            let by_center = a.center(axis).total_cmp(&b.center(axis));
            by_center.then(a.entry.cmp(&b.entry))
        };
        let middle = items.len() / 2;
        items.select_nth_unstable_by(middle, order);
        let (first, second) = items.split_at_mut(middle);
        let pair = self.open(first);
        self.open(second);
        self.nodes[index].first = pair as u32;
        self.divide(pair, first, corners, depth + 1);
        self.divide(pair + 1, second, corners, depth + 1);
    }
}

/// Returns the axis along which the centres of the items are spread most; the first axis on ties.
fn widest_axis(items: &[Item]) -> usize {
    let width = |axis: usize| {
        let (low, high) = items
            .iter()
            .map(|item| item.center(axis))
            .fold((f32::INFINITY, f32::NEG_INFINITY), |(low, high), center| {
                (low.min(center), high.max(center))
            });
        high - low
    };
    let widths = [0, 1, 2].map(width);
    (1..3).fold(0, |best, axis| {
        if widths[axis] > widths[best] {
            axis
        } else {
            best
        }
    })
}
