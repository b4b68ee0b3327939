//! The result of a reader.

use glam::{DVec3, Vec3};

use super::Mesh;
use super::error::Fault;
use super::faces::Faces;
use super::format::Format;
use super::ignored::Ignored;
use super::points::{Point, Points};

/// What a reader of one format makes of a stream.
#[derive(Debug)]
pub(crate) struct Parsed {
    pub(super) mesh: Mesh,
    pub(super) format: Format,
    pub(super) offset: DVec3,
    pub(super) polygon_count: u64,
    pub(super) ignored: Ignored,
}

impl Parsed {
    /// Makes a mesh of what a reader has found.
    ///
    /// `normals` are as many as `points`, or none. Those that are no numbers are missing: the mesh
    /// gets computed ones in their place, or no normals at all if all are missing.
    /// # Errors
    /// As [`Points::finish`].
    pub(crate) fn new<P: Point>(
        format: Format,
        points: Points<P>,
        normals: Vec<Vec3>,
        mut faces: Faces,
    ) -> Result<Self, Fault> {
        faces.ignored.vertices = points.broken_count();
        let (positions, offset) = points.finish(&faces.triangles)?;
        let mut mesh = Mesh {
            positions,
            normals,
            triangles: faces.triangles,
        };
        let missing = mesh.normals.iter().filter(|normal| !normal.is_finite());
        match missing.count() {
            0 => {}
            all if all == mesh.normals.len() => mesh.normals = Vec::new(),
            _ => {
                let normals = std::mem::take(&mut mesh.normals);
                mesh.compute_normals();
                for (computed, normal) in mesh.normals.iter_mut().zip(normals) {
                    if normal.is_finite() {
                        *computed = normal;
                    }
                }
            }
        }
        Ok(Self {
            mesh,
            format,
            offset,
            polygon_count: faces.polygon_count,
            ignored: faces.ignored,
        })
    }
}
