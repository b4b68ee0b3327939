//! The phases of splitting a cell.

pub(in crate::kdtree) mod clip;
pub(in crate::kdtree) mod copy_events;
pub(in crate::kdtree) mod copy_triangles;
pub(in crate::kdtree) mod lists;
pub(in crate::kdtree) mod mark;
pub mod perfect_split;
pub(in crate::kdtree) mod route;
