//! A node of a kd-tree in eight bytes.
//!
//! ```text
//!              payload: 32 bits            word: 30 bits              2 bits
//! inner node │ split position, an f32    │ index of the first child │ axis: 0, 1, 2 │
//! leaf       │ first entry of its list   │ length of its list       │ 3             │
//! ```
//! Both children are adjacent, so that one index leads to both and they share a cache line.
//!
//! # Source
//! I. Wald: Realtime Ray Tracing and Interactive Global Illumination. Dissertation, Saarland
//! University, 2004, section 7.3.

/// An inner node or a leaf, packed into eight bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Node {
    payload: u32,
    word: u32,
}

/// The unpacked form of a [`Node`].
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum NodeKind {
    /// A split of space by a plane.
    Inner {
        /// The axis: 0, 1, 2 for x, y, z.
        axis: usize,
        /// The position of the plane on that axis.
        position: f32,
        /// The index of the child below the plane. The child above the plane has the next index.
        children: usize,
    },
    /// A list of triangles.
    Leaf {
        /// The index of its first entry in the list of all leaves.
        first: usize,
        /// The number of entries, which may be zero.
        count: usize,
    },
}

impl Node {
    const LEAF: u32 = 3;
    /// The maximum index of a node, and the maximum number of entries of a leaf.
    pub(in crate::kdtree) const COUNT_MAX: usize = (1 << 30) - 1;

    /// Packs an inner node.
    #[inline]
    pub(in crate::kdtree) fn inner(axis: usize, position: f32, children: usize) -> Self {
        assert!(
            axis < 3 && children <= Self::COUNT_MAX,
            "node out of range: axis {axis}, children at {children}"
        );
        Self {
            payload: position.to_bits(),
            word: (children as u32) << 2 | axis as u32,
        }
    }

    /// Packs a leaf.
    #[inline]
    pub(in crate::kdtree) fn leaf(first: usize, count: usize) -> Self {
        assert!(
            u32::try_from(first).is_ok() && count <= Self::COUNT_MAX,
            "leaf out of range: {count} entries from {first} on"
        );
        Self {
            payload: first as u32,
            word: (count as u32) << 2 | Self::LEAF,
        }
    }

    /// Returns the node after everything that it refers to has moved up by `nodes` nodes and
    /// `entries` leaf entries.
    #[inline]
    pub(in crate::kdtree) fn moved(self, nodes: usize, entries: usize) -> Self {
        match self.kind() {
            NodeKind::Inner {
                axis,
                position,
                children,
            } => Self::inner(axis, position, children + nodes),
            NodeKind::Leaf { first, count } => Self::leaf(first + entries, count),
        }
    }

    /// Unpacks the node.
    #[inline]
    #[must_use]
    pub fn kind(self) -> NodeKind {
        if self.is_leaf() {
            NodeKind::Leaf {
                first: self.first(),
                count: self.count(),
            }
        } else {
            NodeKind::Inner {
                axis: self.axis(),
                position: self.position(),
                children: self.children(),
            }
        }
    }

    /// Returns true if the node is a leaf.
    #[inline]
    #[must_use]
    pub fn is_leaf(self) -> bool {
        self.word & 3 == Self::LEAF
    }

    #[inline]
    pub(in crate::kdtree) fn axis(self) -> usize {
        (self.word & 3) as usize
    }

    #[inline]
    pub(in crate::kdtree) fn position(self) -> f32 {
        f32::from_bits(self.payload)
    }

    #[inline]
    pub(in crate::kdtree) fn children(self) -> usize {
        (self.word >> 2) as usize
    }

    #[inline]
    pub(in crate::kdtree) fn first(self) -> usize {
        self.payload as usize
    }

    #[inline]
    pub(in crate::kdtree) fn count(self) -> usize {
        (self.word >> 2) as usize
    }
}
