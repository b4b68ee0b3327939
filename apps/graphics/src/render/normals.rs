//! Normals to interpolate over triangles: smooth where the surface is, with an edge where that has one.
//!
//! A mesh with normals of its own keeps them. Without any, a corner of a triangle gets the mean of the
//! normals of those triangles around its vertex that are inclined to this one by less than the crease angle,
//! weighted by area: a sphere becomes smooth, and a box keeps its edges.
//!
//! # Source
//! Weights: N. Max, Weights for Computing Vertex Normals from Facet Normals. Journal of Graphics Tools 4(2),
//! 1999, section 1.

use glam::Vec3;

use crate::mesh::{Bounds, Mesh};

/// Cosine of the crease angle, 40 degrees.
const CREASE_COSINE: f32 = 0.766;

/// Normals of the corners of all triangles.
#[derive(Debug)]
pub(super) enum CornerNormals<'a> {
    /// One per vertex: those of the mesh.
    PerVertex(&'a [Vec3]),
    /// One per corner of every triangle.
    PerCorner(Vec<[Vec3; 3]>),
}

impl<'a> CornerNormals<'a> {
    /// Takes the normals of a mesh within `bounds`, or makes some. Cost: O(sum of squares of the triangles around a vertex).
    pub(super) fn of(mesh: &'a Mesh, bounds: Bounds) -> Self {
        if mesh.normals.len() == mesh.positions.len() {
            return Self::PerVertex(&mesh.normals);
        }
        // Areas in units of the box, so that none is too small for a float.
        let unit = bounds.extent().as_dvec3().length_squared();
        let faces = raddle::map(0..mesh.triangles.len(), |index| Face::of(mesh, index, unit));
        let around = Around::of(mesh);
        Self::PerCorner(raddle::map(0..mesh.triangles.len(), |index| {
            let own = faces[index].normal;
            mesh.triangles[index].map(|vertex| {
                let mut sum = Vec3::ZERO;
                for &other in around.triangles(vertex) {
                    let face = &faces[other as usize];
                    if face.normal.dot(own) > CREASE_COSINE {
                        sum += face.normal * face.area;
                    }
                }
                sum.normalize_or(own)
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

/// What of a triangle counts for the normals of its corners.
#[derive(Debug, Clone, Copy)]
struct Face {
    /// A unit vector, or zero for a triangle without area.
    normal: Vec3,
    /// In some unit that is the same for all.
    area: f32,
}

impl Face {
    fn of(mesh: &Mesh, index: usize, unit: f64) -> Self {
        let [a, b, c] = mesh.triangle(index).map(|corner| corner.as_dvec3());
        let area = (b - a).cross(c - a);
        let length = area.length();
        if length == 0.0 || unit == 0.0 {
            return Self {
                normal: Vec3::ZERO,
                area: 0.0,
            };
        }
        Self {
            normal: (area / length).as_vec3(),
            area: (length / unit) as f32,
        }
    }
}

/// Which triangles there are around each vertex.
///
/// The vertices are cut into ranges, one for each worker, which looks through all triangles for its own: that
/// takes no lock and no second pass, and gives the same lists whatever the ranges are.
struct Around {
    range_len: usize,
    ranges: Vec<Range>,
}

/// The lists of a range of vertices, one after the other, and where each begins.
struct Range {
    starts: Vec<u32>,
    triangles: Vec<u32>,
}

impl Around {
    fn of(mesh: &Mesh) -> Self {
        let range_count = raddle::worker_count()
            .min(mesh.positions.len() / 4096)
            .max(1);
        let range_len = mesh.positions.len().div_ceil(range_count).max(1);
        Self {
            range_len,
            ranges: raddle::map(0..range_count, |index| {
                let first = index * range_len;
                Range::of(mesh, first, mesh.positions.len().min(first + range_len))
            }),
        }
    }

    fn triangles(&self, vertex: u32) -> &[u32] {
        let range = &self.ranges[vertex as usize / self.range_len];
        let vertex = vertex as usize % self.range_len;
        let [first, end] = [0, 1].map(|next| range.starts[vertex + next] as usize);
        &range.triangles[first..end]
    }
}

impl Range {
    fn of(mesh: &Mesh, first: usize, end: usize) -> Self {
        let len = end.saturating_sub(first);
        // In two passes: how many there are of each, then each to its place.
        let mut next = vec![0_u32; len + 1];
        for &vertex in mesh.triangles.iter().flatten() {
            let vertex = (vertex as usize).wrapping_sub(first);
            if vertex < len {
                next[vertex + 1] += 1;
            }
        }
        let mut sum = 0;
        for start in &mut next {
            sum += *start;
            *start = sum;
        }
        let starts = next.clone();
        let mut triangles = vec![0; sum as usize];
        for (index, corners) in mesh.triangles.iter().enumerate() {
            for &vertex in corners {
                let vertex = (vertex as usize).wrapping_sub(first);
                if vertex < len {
                    triangles[next[vertex] as usize] = index as u32;
                    next[vertex] += 1;
                }
            }
        }
        Self { starts, triangles }
    }
}
