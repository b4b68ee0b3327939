//! The readers of all formats.
//!
//! To add a format, write a reader in a new submodule, add it to [`READERS`], and add the format to
//! [`super::format`].
//!
//! # Invariant
//! No reader narrows coordinates: they stay `f64`, or the file's own `f32`, until
//! [`Points::finish`](super::points::Points::finish).

mod glb;
mod obj;
mod ply;
mod stl;

use super::faces::Faces;
use super::parsed::Parsed;
use crate::file::{Fault, FormatReader, Place, Source};

#[cfg(test)]
mod tests;

/// The limits for the memory of the vertices of a compressed file: bytes that any file may expand
/// to, and further bytes for each compressed byte. The vertices of real meshes expand by a factor
/// of less than 30.
const VERTEX_BYTES_FREE: u64 = 4 << 20;
const VERTEX_BYTES_PER_BYTE: u64 = 256;

/// The reader of a mesh format. It gets a limit on the number of triangles.
pub(super) type MeshReader = FormatReader<fn(&mut Source<'_>, Faces) -> Result<Parsed, Fault>>;

/// All readers. The first one that recognises a file reads the file.
pub(super) const READERS: [MeshReader; 5] = [
    ply::READER,
    glb::READER,
    stl::BINARY_READER,
    stl::TEXT_READER,
    obj::READER,
];

/// Checks that a compressed file can contain vertices of `bytes` bytes in memory.
///
/// Distinct vertices take several bits each, even compressed. Without this check, a small file of
/// zeros would become millions of vertices before the first face shows that the mesh needs none of
/// them.
fn check_vertices(source: &Source<'_>, bytes: u64) -> Result<(), Fault> {
    let (free, per_byte) = (VERTEX_BYTES_FREE, VERTEX_BYTES_PER_BYTE);
    source.check_expansion(source.byte(), "vertices", bytes, free, per_byte)
}

/// Creates the fault of an index of a vertex, counted from 0, that is not below `vertex_count`.
#[cold]
fn index_fault(place: Place, found: i64, vertex_count: usize) -> Fault {
    let expected = format!("one below {vertex_count}, the number of vertices");
    Fault::syntax(place, format!("vertex index {found}"), expected)
}
