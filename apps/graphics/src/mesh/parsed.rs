//! The result of reading a file, before it is checked.

use glam::{DVec3, Vec3};

use super::Mesh;
use super::faces::Faces;
use super::format::Format;
use super::ignored::Ignored;
use super::points::{Point, Points};
use super::presentation::Presentation;
use crate::file::Fault;

/// The mesh that a reader has made from a stream, and what it has learned about the file.
#[derive(Debug)]
pub(crate) struct Parsed {
    pub(super) mesh: Mesh,
    pub(super) format: Format,
    pub(super) offset: DVec3,
    pub(super) presentation: Presentation,
    pub(super) polygon_count: u64,
    pub(super) ignored: Ignored,
}

impl Parsed {
    /// Makes a mesh from the points, normals and faces that a reader has found.
    ///
    /// There must be as many `normals` as `points`, or none. Normals that are not finite are
    /// missing. The mesh gets computed normals in their place, or no normals at all if all are
    /// missing.
    ///
    /// # Errors
    /// As for [`Points::finish`].
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
            presentation: Presentation::default(),
            polygon_count: faces.polygon_count,
            ignored: faces.ignored,
        })
    }
}
