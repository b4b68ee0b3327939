//! The finished tree, and its comparison with Raddle's.

use raddle_graphics::kdtree::{KdTree, NodeKind};
use rayon::prelude::*;

use super::slices;

/// A node of the finished tree.
///
/// The child below the plane of an inner node is the next one in the list.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Node {
    /// The bits of the position of the plane, or the first entry of the leaf.
    pub(super) payload: u32,
    /// The index of the child above the plane, or the number of entries of the leaf. The low two
    /// bits are the axis, or [`LEAF`](Self::LEAF).
    pub(super) word: u32,
}

impl Node {
    const LEAF: u32 = 3;

    pub(super) fn leaf(first: usize, count: usize) -> Self {
        Self {
            payload: first as u32,
            word: (count as u32) << 2 | Self::LEAF,
        }
    }

    pub(super) fn inner(axis: usize, position: f32, above: usize) -> Self {
        Self {
            payload: position.to_bits(),
            word: (above as u32) << 2 | axis as u32,
        }
    }

    fn is_leaf(self) -> bool {
        self.word & 3 == Self::LEAF
    }

    fn number(self) -> usize {
        (self.word >> 2) as usize
    }

    /// Returns the node with its indices moved by `nodes` and `entries`.
    fn moved(self, nodes: usize, entries: usize) -> Self {
        if self.is_leaf() {
            Self {
                payload: self.payload + entries as u32,
                ..self
            }
        } else {
            Self {
                word: self.word + ((nodes as u32) << 2),
                ..self
            }
        }
    }
}

/// A tree: the nodes in depth-first order from the root, and the lists of all leaves in their
/// order.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Tree {
    pub(super) nodes: Vec<Node>,
    /// Indices of triangles in the mesh.
    pub(super) entries: Vec<u32>,
}

impl Tree {
    /// Returns true if another builder's tree has the same planes, bit by bit, and the same leaves
    /// in the same order.
    pub(crate) fn is_same_as(&self, other: &KdTree) -> bool {
        let mut pending = vec![other.root()];
        let mut nodes = self.nodes.iter().enumerate();
        let mut above = Vec::new();
        let mut first_entry = 0;
        while let Some(theirs) = pending.pop() {
            let Some((index, &own)) = nodes.next() else {
                return false;
            };
            // After a leaf, the next node is the child above of the nearest inner node that still
            // lacks it.
            let is_same = match theirs.kind() {
                NodeKind::Inner {
                    axis,
                    position,
                    children,
                } => {
                    pending.push(other.nodes()[children + 1]);
                    pending.push(other.nodes()[children]);
                    above.push(own.number());
                    own.word & 3 == axis as u32 && own.payload == position.to_bits()
                }
                NodeKind::Leaf { count, .. } => {
                    let entries = self.entries.get(first_entry..first_entry + own.number());
                    let is_in_order = own.payload as usize == first_entry
                        && above.pop().is_none_or(|above| above == index + 1);
                    first_entry += count;
                    own.is_leaf()
                        && own.number() == count
                        && is_in_order
                        && entries
                            .is_some_and(|own| own.iter().copied().eq(other.triangles_of(theirs)))
                }
            };
            if !is_same {
                return false;
            }
        }
        nodes.next().is_none()
    }
}

/// A part of a tree, built by one thread.
#[derive(Debug, Default)]
pub(super) struct Fragment {
    pub(super) nodes: Vec<Node>,
    pub(super) entries: Vec<u32>,
}

impl Fragment {
    /// Adds a leaf with the last `count` entries.
    pub(super) fn push_leaf(&mut self, count: usize) {
        self.nodes
            .push(Node::leaf(self.entries.len() - count, count));
    }

    /// Adds a leaf with the `count` entries before the last `behind`.
    pub(super) fn push_leaf_before(&mut self, count: usize, behind: usize) {
        let first = self.entries.len() - behind - count;
        self.nodes.push(Node::leaf(first, count));
    }

    /// Reserves an inner node and returns its index; see [`close`](Self::close).
    pub(super) fn open(&mut self) -> usize {
        self.nodes.push(Node::leaf(0, 0));
        self.nodes.len() - 1
    }

    /// Completes the inner node at `index`. The nodes below its plane are there; those above
    /// follow.
    pub(super) fn close(&mut self, index: usize, axis: usize, position: f32) {
        self.nodes[index] = Node::inner(axis, position, self.nodes.len());
    }
}

/// A subtree in the form in which it was built.
#[derive(Debug)]
pub(super) enum Built {
    ByOne(Fragment),
    Halves {
        axis: usize,
        position: f32,
        halves: Box<[Built; 2]>,
    },
}

/// The fragments of a tree and their positions in it.
#[derive(Debug, Default)]
pub(super) struct Layout {
    fragments: Vec<(Fragment, usize, usize)>,
    inner: Vec<(usize, Node)>,
    node_count: usize,
    entry_count: usize,
}

impl Layout {
    pub(super) fn of(built: Built) -> Self {
        let mut layout = Self::default();
        layout.place(built);
        layout
    }

    /// Assembles all fragments.
    pub(super) fn tree(&self) -> Tree {
        let mut nodes = vec![Node::leaf(0, 0); self.node_count];
        let mut entries = vec![0; self.entry_count];
        let (mut rest_nodes, mut rest_entries) = (nodes.as_mut_slice(), entries.as_mut_slice());
        let jobs: Vec<_> = self
            .fragments
            .iter()
            .map(|(fragment, first_node, first_entry)| {
                (
                    fragment,
                    slices::take(&mut rest_nodes, fragment.nodes.len()),
                    slices::take(&mut rest_entries, fragment.entries.len()),
                    *first_node,
                    *first_entry,
                )
            })
            .collect();
        jobs.into_par_iter()
            .for_each(|(fragment, nodes, entries, first_node, first_entry)| {
                for (to, from) in nodes.iter_mut().zip(&fragment.nodes) {
                    *to = from.moved(first_node, first_entry);
                }
                entries.copy_from_slice(&fragment.entries);
            });
        for &(index, node) in &self.inner {
            nodes[index] = node;
        }
        Tree { nodes, entries }
    }

    fn place(&mut self, built: Built) {
        match built {
            Built::ByOne(fragment) => {
                let (nodes, entries) = (fragment.nodes.len(), fragment.entries.len());
                self.fragments
                    .push((fragment, self.node_count, self.entry_count));
                self.node_count += nodes;
                self.entry_count += entries;
            }
            Built::Halves {
                axis,
                position,
                halves,
            } => {
                let index = self.node_count;
                let mut placeholder = Fragment::default();
                placeholder.open();
                self.place(Built::ByOne(placeholder));
                let [below, above] = *halves;
                self.place(below);
                let node = Node::inner(axis, position, self.node_count);
                self.inner.push((index, node));
                self.place(above);
            }
        }
    }
}
