//! The steps before a build.

pub(in crate::kdtree) mod duplicates;
pub(in crate::kdtree) mod events;
pub(in crate::kdtree) mod memory;
mod prepared;
pub(in crate::kdtree) mod triangles;

pub use prepared::{PrepareTimes, Prepared};
