//! The phases of splitting a cell at a plane: [`mark`] finds the side of each triangle
//! (`MarkTriangles`), [`copy_triangles`] gives each half its triangles (`CopyTriangles`), and
//! [`copy_events`] gives each half its events (`CopyEvents`). Triangles that straddle the plane are
//! cut by [`clip`].
//!
//! The first phase, `FindBestPartition`, is in [`super::cost`].
//!
//! # Source
//! B. Choi, R. Komuravelli, V. Lu, H. Sung, R. Bocchino, S. Adve, J. Hart: Parallel SAH k-D tree
//! construction. High Performance Graphics 2010, section 4.

pub(in crate::kdtree) mod clip;
pub(in crate::kdtree) mod copy_events;
pub(in crate::kdtree) mod copy_triangles;
pub(in crate::kdtree) mod lists;
pub(in crate::kdtree) mod mark;
pub mod perfect_split;
pub(in crate::kdtree) mod route;
