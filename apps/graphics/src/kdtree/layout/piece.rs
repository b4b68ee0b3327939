//! Pieces of a tree, as the builders make them.

use super::node::Node;
use crate::kdtree::cells::arena::Arena;
use crate::kdtree::cells::names::{Name, Occurrence};
use crate::kdtree::cost::plane::Plane;

/// A part of a tree below some node, without that node itself.
///
/// The nodes are in this order: the pair of children, then everything below the first child, then
/// everything below the second.
#[derive(Debug, Default)]
pub(in crate::kdtree) struct Fragment {
    pub(in crate::kdtree) nodes: Vec<Node>,
    /// The triangles of all leaves, one list after the other in the order of the leaves.
    pub(in crate::kdtree) entries: Vec<Occurrence>,
    /// The depth of the deepest leaf, counted from the root of the whole tree.
    pub(in crate::kdtree) depth: u32,
}

impl Fragment {
    /// Creates an empty fragment with enough capacity for `count` triangles. Much of that memory is
    /// never touched.
    pub(in crate::kdtree) fn with_capacity_for(count: usize) -> Self {
        Self {
            nodes: Vec::with_capacity(count / 2),
            entries: Vec::with_capacity(3 * count),
            depth: 0,
        }
    }

    /// Makes a leaf of some triangles.
    pub(in crate::kdtree) fn leaf(&mut self, names: &[Name], arena: &Arena, depth: u32) -> Node {
        self.depth = self.depth.max(depth);
        let first = self.entries.len();
        self.entries
            .extend(names.iter().map(|&name| arena.occurrence(name)));
        Node::leaf(first, names.len())
    }

    /// Reserves two children and returns the index of the first.
    pub(in crate::kdtree) fn open_pair(&mut self) -> usize {
        let pair = self.nodes.len();
        self.nodes.extend([Node::default(); 2]);
        pair
    }
}

/// A subtree, as its builders made it.
#[derive(Debug)]
pub(in crate::kdtree) enum Piece {
    /// A subtree built by one task.
    Whole { root: Node, fragment: Fragment },
    /// A node and its halves, which may have been built by different tasks.
    Split {
        axis: usize,
        position: f32,
        halves: Box<(Piece, Piece)>,
    },
}

impl Piece {
    /// Creates the node of a plane that cuts off empty space. Half `empty` becomes an empty leaf
    /// at depth `depth`, and `full` becomes the other half.
    pub(in crate::kdtree) fn cut_off(plane: &Plane, empty: usize, depth: u32, full: Self) -> Self {
        let leaf = Self::Whole {
            root: Node::leaf(0, 0),
            fragment: Fragment {
                depth,
                ..Fragment::default()
            },
        };
        let halves = if empty == 0 {
            (leaf, full)
        } else {
            (full, leaf)
        };
        Self::split(plane, halves)
    }

    /// Creates a node with two halves.
    pub(in crate::kdtree) fn split(plane: &Plane, halves: (Self, Self)) -> Self {
        Self::Split {
            axis: plane.axis,
            position: plane.position,
            halves: Box::new(halves),
        }
    }
}
