//! The finished tree.

pub(in crate::kdtree) mod assemble;
pub(in crate::kdtree) mod large;
pub(in crate::kdtree) mod node;
pub(in crate::kdtree) mod piece;
pub(in crate::kdtree) mod tree;
