//! The steps before a build: checks the [`triangles`] of a mesh, generates and sorts their
//! [`events`], removes [`duplicates`], and allocates [`memory`] for the build.

pub(in crate::kdtree) mod duplicates;
pub(in crate::kdtree) mod events;
pub(in crate::kdtree) mod memory;
mod prepared;
pub(in crate::kdtree) mod triangles;

pub use prepared::{PrepareTimes, Prepared};
