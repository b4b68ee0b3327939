//! Checks the triangles of a mesh, and computes their references and the box around them.

use crate::intersect::Corners;
use crate::kdtree::cells::extent::Extent;
use crate::kdtree::cells::names::{Occurrence, Reference};
use crate::kdtree::error::BuildError;
use crate::kdtree::fork_join::ForkJoin;
use crate::memory::{self, NoMemory};
use crate::mesh::{COORDINATE_MAX, Mesh};

/// The maximum number of triangles of a tree.
pub(in crate::kdtree) const TRIANGLES_MAX: usize = (1 << 26) - 1;
/// The number of elements in one unit of work.
const STRETCH_LEN: usize = 16 * 1024;
/// The peak memory of a build per triangle, in bytes: the corners, the names and events of a cell
/// and of its halves, and the tree.
const BUILD_BYTES: u64 = 250;

/// Copies the corners of all triangles and checks them.
///
/// This is the first step of a build, so it also checks that the system has enough memory.
pub(in crate::kdtree) fn corners_of(
    mesh: &Mesh,
    threads: &impl ForkJoin,
) -> Result<Vec<Corners>, BuildError> {
    struct Job<'a> {
        corners: &'a mut [Corners],
        outcome: Result<(), BuildError>,
    }

    let limit = TRIANGLES_MAX;
    if mesh.triangles.len() > limit {
        return Err(BuildError::TooManyTriangles {
            found: mesh.triangles.len(),
            limit,
        });
    }
    memory::ask_for_each(mesh.triangles.len(), BUILD_BYTES)
        .map_err(|NoMemory(bytes)| BuildError::OutOfMemory { bytes })?;
    let mut corners = vec![[[0.0; 3]; 3]; mesh.triangles.len()];
    let mut jobs: Vec<Job<'_>> = corners
        .chunks_mut(STRETCH_LEN)
        .map(|corners| Job {
            corners,
            outcome: Ok(()),
        })
        .collect();
    threads.for_each(&mut jobs, |index, job| {
        let first = index * STRETCH_LEN;
        job.outcome = (first..)
            .zip(&mut *job.corners)
            .try_for_each(|(triangle, out)| {
                *out = corners_of_triangle(mesh, triangle)?;
                Ok(())
            });
    });
    jobs.into_iter().try_for_each(|job| job.outcome)?;
    Ok(corners)
}

fn corners_of_triangle(mesh: &Mesh, triangle: usize) -> Result<Corners, BuildError> {
    let mut corners = [[0.0; 3]; 3];
    for (corner, &vertex) in corners.iter_mut().zip(&mesh.triangles[triangle]) {
        let position = mesh.positions.get(vertex as usize);
        *corner = position
            .ok_or(BuildError::VertexMissing {
                triangle,
                vertex,
                vertex_count: mesh.positions.len(),
            })?
            .to_array();
        let mut values = corner.iter();
        if let Some(&value) = values.find(|value| value.is_nan() || value.abs() > COORDINATE_MAX) {
            return Err(BuildError::CoordinateOutOfRange {
                triangle,
                value,
                limit: COORDINATE_MAX,
            });
        }
    }
    Ok(corners)
}

/// Returns the references of a whole mesh, one for each triangle that a ray can hit, and the box
/// around them.
///
/// A triangle with two equal corners is hit by no ray, in exact arithmetic as well as in ours, and
/// is left out.
pub(in crate::kdtree) fn references_of(
    triangles: &[Corners],
    threads: &impl ForkJoin,
) -> (Vec<Reference>, Extent) {
    let mut parts = vec![(Vec::new(), None::<Extent>); triangles.len().div_ceil(STRETCH_LEN)];
    threads.for_each(&mut parts, |part, (references, all)| {
        let first = part * STRETCH_LEN;
        let end = triangles.len().min(first + STRETCH_LEN);
        for (index, triangle) in (first..end).zip(&triangles[first..end]) {
            let [a, b, c] = triangle;
            if a != b && b != c && c != a {
                let extent = Extent::of_triangle(triangle);
                *all = Some(all.map_or(extent, |all| all.union(&extent)));
                references.push(Reference {
                    extent,
                    triangle: Occurrence::first(index as u32),
                });
            }
        }
    });
    let extents = parts.iter().filter_map(|(_, extent)| *extent);
    let extent = extents
        .reduce(|all, extent| all.union(&extent))
        .unwrap_or(Extent::ZERO);
    let mut references = Vec::with_capacity(parts.iter().map(|(part, _)| part.len()).sum());
    for (part, _) in parts {
        references.extend(part);
    }
    (references, extent)
}
