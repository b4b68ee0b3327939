//! The finished tree: eight-byte [`node`]s, the [`piece`]s that the builders make and their
//! assembly into a [`tree`], and hierarchies of boxes below [`large`] leaves.

pub(in crate::kdtree) mod assemble;
pub(in crate::kdtree) mod large;
pub(in crate::kdtree) mod node;
pub(in crate::kdtree) mod piece;
pub(in crate::kdtree) mod tree;
