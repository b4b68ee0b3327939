//! Triangle meshes, the input of every renderer and tree of this crate.
//!
//! A [`Mesh`] consists of three flat arrays, so a million triangles take three allocations. Readers
//! convert everything that a file contains (polygons, strips, scene graphs, quantised coordinates)
//! to such a mesh. If the coordinates of a file are far from the origin, the mesh is relative to an
//! offset, see [`MeshReport::offset`]. Every mesh that a reader or a generator returns has these
//! properties:
//!
//! 1. every index of `triangles` is below `positions.len()`;
//! 2. every coordinate is finite and of magnitude at most [`COORDINATE_MAX`];
//! 3. `normals` is empty or as long as `positions`, and each normal is a unit vector or zero;
//! 4. at least one triangle has an area.
//!
//! Other triangles of zero area are kept. They are counted in reports, and all code must handle
//! them.

mod clip;
mod faces;
mod format;
mod ignored;
mod load;
mod parsed;
mod points;
mod polygon;
mod presentation;
mod readers;
mod report;
mod triangles;
mod weld;
mod write;

use std::path::Path;

use crate::file::{self, Fault, Match, Source};

pub use self::format::{FORMATS, Format};
pub use self::ignored::Ignored;
pub use self::load::{LoadOptions, Loaded};
pub use self::presentation::Presentation;
pub use self::report::MeshReport;
pub use self::triangles::{COORDINATE_MAX, Mesh};
pub use self::write::PlyOptions;

#[cfg(test)]
mod tests;

/// Returns the reason for which a file would be read as a mesh; `None` if it would not be.
pub(crate) fn match_of(source: &mut Source<'_>, name: &Path) -> Result<Option<Match>, Fault> {
    file::match_of(&readers::READERS, source, name)
}
