//! Normals to interpolate over triangles: smooth where the surface is, with an edge where that has one.
//!
//! A mesh with normals of its own keeps them. Without any, a corner of a triangle gets the mean of the
//! normals of those triangles around its vertex that are inclined to this one by less than the crease angle,
//! weighted by area: a sphere becomes smooth, and a box keeps its edges.
//!
//! # Source
//! Weights: N. Max, Weights for Computing Vertex Normals from Facet Normals. Journal of Graphics Tools 4(2),
//! 1999, section 1.

use glam::{DVec3, Vec3};

use crate::mesh::Mesh;

/// Cosine of the crease angle, 40 degrees.
const CREASE_COSINE: f64 = 0.766;

/// Normals of the corners of all triangles.
#[derive(Debug)]
pub(super) enum CornerNormals<'a> {
    /// One per vertex: those of the mesh.
    PerVertex(&'a [Vec3]),
    /// One per corner of every triangle.
    PerCorner(Vec<[Vec3; 3]>),
}

impl<'a> CornerNormals<'a> {
    /// Takes the normals of a mesh or makes some. Cost: O(sum of squares of the triangles around a vertex).
    pub(super) fn of(mesh: &'a Mesh) -> Self {
        if mesh.normals.len() == mesh.positions.len() {
            return Self::PerVertex(&mesh.normals);
        }
        let areas = raddle::map(0..mesh.triangles.len(), |index| area(mesh, index));
        let around = Around::of(mesh);
        Self::PerCorner(raddle::map(0..mesh.triangles.len(), |index| {
            let own = areas[index].normalize_or_zero();
            mesh.triangles[index].map(|vertex| {
                around
                    .triangles(vertex)
                    .iter()
                    .map(|&other| areas[other as usize])
                    .filter(|area| area.dot(own) > CREASE_COSINE * area.length())
                    .sum::<DVec3>()
                    .normalize_or(own)
                    .as_vec3()
            })
        }))
    }

    /// The normals of a triangle's corners: unit vectors, or zero where there is none to be had.
    #[inline]
    pub(super) fn triangle(&self, mesh: &Mesh, index: usize) -> [Vec3; 3] {
        match self {
            Self::PerVertex(normals) => {
                mesh.triangles[index].map(|vertex| normals[vertex as usize])
            }
            Self::PerCorner(normals) => normals[index],
        }
    }
}

/// The normal of a triangle, as long as twice its area; in `f64`, where no area is too small.
fn area(mesh: &Mesh, index: usize) -> DVec3 {
    let [a, b, c] = mesh.triangle(index).map(|corner| corner.as_dvec3());
    (b - a).cross(c - a)
}

/// Which triangles there are around each vertex: the lists one after the other, and where each begins.
struct Around {
    starts: Vec<u32>,
    triangles: Vec<u32>,
}

impl Around {
    fn of(mesh: &Mesh) -> Self {
        let mut starts = vec![0_u32; mesh.positions.len() + 1];
        for &vertex in mesh.triangles.iter().flatten() {
            starts[vertex as usize + 1] += 1;
        }
        let mut sum = 0;
        for start in &mut starts {
            sum += *start;
            *start = sum;
        }
        let mut next = starts.clone();
        let mut triangles = vec![0; 3 * mesh.triangles.len()];
        for (index, corners) in mesh.triangles.iter().enumerate() {
            for &vertex in corners {
                let slot = &mut next[vertex as usize];
                triangles[*slot as usize] = index as u32;
                *slot += 1;
            }
        }
        Self { starts, triangles }
    }

    fn triangles(&self, vertex: u32) -> &[u32] {
        let [first, end] = [0, 1].map(|next| self.starts[vertex as usize + next] as usize);
        &self.triangles[first..end]
    }
}
