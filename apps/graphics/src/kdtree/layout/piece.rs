//! Pieces of a tree.

use super::node::Node;
use crate::kdtree::cells::arena::Arena;
use crate::kdtree::cells::names::{Name, Occurrence};
use crate::kdtree::cost::plane::Plane;

/// A piece of a tree below some node: everything but that node itself.
///
/// Order: the pair of children, then all below the first, then all below the second.
#[derive(Debug, Default)]
pub(in crate::kdtree) struct Fragment {
    pub(in crate::kdtree) nodes: Vec<Node>,
    /// Triangles of all leaves, one list after the other in the order of the leaves.
    pub(in crate::kdtree) entries: Vec<Occurrence>,
    /// The depth, in the whole tree, of the deepest leaf.
    pub(in crate::kdtree) depth: u32,
}

impl Fragment {
    /// A fragment for so many triangles. Much of what it reserves is never touched.
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

    /// Makes room for two children and returns the index of the first.
    pub(in crate::kdtree) fn open_pair(&mut self) -> usize {
        let pair = self.nodes.len();
        self.nodes.extend([Node::default(); 2]);
        pair
    }
}

/// A subtree as its builders left it.
#[derive(Debug)]
pub(in crate::kdtree) enum Piece {
    /// Built by one.
    Whole { root: Node, fragment: Fragment },
    /// Built by several.
    Split {
        axis: usize,
        position: f32,
        halves: Box<(Piece, Piece)>,
    },
}

impl Piece {
    /// A node with one half that is empty, at some depth, and all else in the other.
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

    /// A node with two halves.
    pub(in crate::kdtree) fn split(plane: &Plane, halves: (Self, Self)) -> Self {
        Self::Split {
            axis: plane.axis,
            position: plane.position,
            halves: Box::new(halves),
        }
    }
}
