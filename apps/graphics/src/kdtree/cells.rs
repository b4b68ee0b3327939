//! Cells: boxes with the triangles that reach into them, and the events of those triangles.

pub(in crate::kdtree) mod arena;
pub(in crate::kdtree) mod cell;
pub(in crate::kdtree) mod event;
pub(in crate::kdtree) mod extent;
pub(in crate::kdtree) mod names;
pub(in crate::kdtree) mod stack;
