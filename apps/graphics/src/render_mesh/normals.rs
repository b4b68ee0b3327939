//! Normals that are interpolated over triangles: smooth on smooth surfaces, and with creases at
//! edges.
//!
//! A mesh with normals of its own keeps them. Otherwise, a corner of a triangle gets the mean of
//! the normals of the triangles around its vertex, weighted by area. Only triangles that are
//! inclined to this one by less than the crease angle count. So a sphere becomes smooth, and a box
//! keeps its edges.
//!
//! # Source
//! Weights: N. Max, Weights for Computing Vertex Normals from Facet Normals. Journal of Graphics
//! Tools 4(2), 1999, section 1. Packing: Z. Cigolle, S. Donow, D. Evangelakos, M. Mara, M. McGuire,
//! Q. Meyer: A Survey of Efficient Representations for Independent Unit Vectors. Journal of
//! Computer Graphics Techniques 3(2), 2014 (octahedral, 16 bits per axis).

use glam::Vec3;

use crate::bounds::Bounds;
use crate::mesh::Mesh;

#[cfg(test)]
mod tests;

/// The cosine of the crease angle, which is 40 degrees.
const CREASE_COSINE: f32 = 0.766;
/// The cosine of half of the crease angle, plus a safety margin.
const HALF_CREASE_COSINE: f32 = 0.9398;

/// The normals of the corners of all triangles.
#[derive(Debug)]
pub(super) enum CornerNormals<'a> {
    /// One normal per vertex: those of the mesh.
    PerVertex(&'a [Vec3]),
    /// One normal per corner of every triangle, as the words of [`Packed`].
    PerCorner(Vec<[u32; 3]>),
}

impl<'a> CornerNormals<'a> {
    /// Returns the approximate memory of [`of`](Self::of) in bytes: for each triangle a face, a
    /// normal for each corner, and its entries in the lists of three vertices.
    pub(super) fn bytes_for(mesh: &Mesh) -> u64 {
        let own = mesh.normals.len() == mesh.positions.len();
        let triangle_bytes = size_of::<Face>() + size_of::<[u32; 3]>() + size_of::<[u32; 3]>();
        let vertex_bytes = size_of::<u32>();
        let bytes = mesh.triangles.len() * triangle_bytes + mesh.positions.len() * vertex_bytes;
        if own { 0 } else { bytes as u64 }
    }

    /// Uses the normals of a mesh, or computes normals if it has none. `bounds` is the box of the
    /// mesh.
    ///
    /// The time is proportional to the sum, over all vertices, of the square of the number of
    /// triangles around the vertex.
    pub(super) fn of(mesh: &'a Mesh, bounds: Bounds) -> Self {
        if mesh.normals.len() == mesh.positions.len() {
            return Self::PerVertex(&mesh.normals);
        }
        let faces = faces_of(mesh, bounds);
        let around = Around::of(mesh, &faces);
        let mut normals = vec![[0; 3]; mesh.triangles.len()];
        raddle::for_each_mut(&mut normals, |index, normals| {
            let own = normal(&faces[index]);
            *normals = mesh.triangles[index].map(|vertex| match around.smooth_normal(vertex) {
                Some(normal) => normal.0,
                None => {
                    let near = around.triangles(vertex).iter().filter_map(|&other| {
                        let face = &faces[other as usize];
                        (normal(face).dot(own) > CREASE_COSINE).then(|| weighted(face))
                    });
                    Packed::new(near.sum::<Vec3>().normalize_or(own)).0
                }
            });
        });
        Self::PerCorner(normals)
    }

    /// Returns the normals of a triangle's corners: unit vectors, or zero where there is no normal.
    #[inline]
    pub(super) fn triangle(&self, mesh: &Mesh, index: usize) -> [Vec3; 3] {
        match self {
            Self::PerVertex(normals) => {
                mesh.triangles[index].map(|vertex| normals[vertex as usize])
            }
            Self::PerCorner(normals) => normals[index].map(|word| Packed(word).get()),
        }
    }
}

/// A unit vector in four bytes, with an error of about a ten thousandth.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Packed(u32);

impl Packed {
    /// Packs the position of the vector on an octahedron that is unfolded to a square.
    fn new(unit: Vec3) -> Self {
        let [x, y, z] = unit.to_array();
        let sum = x.abs() + y.abs() + z.abs();
        if sum == 0.0 {
            return Self(0);
        }
        let (x, y) = (x / sum, y / sum);
        let (u, v) = if z < 0.0 {
            ((1.0 - y.abs()).copysign(x), (1.0 - x.abs()).copysign(y))
        } else {
            (x, y)
        };
        // The levels are from 1 to 65535. The word 0 is reserved for the zero vector.
        let level = |value: f32| (value * 32_767.0 + 32_768.5) as u32;
        Self(level(u) << 16 | level(v))
    }

    fn get(self) -> Vec3 {
        if self == Self(0) {
            return Vec3::ZERO;
        }
        let value = |level: u32| (level as f32 - 32_768.0) / 32_767.0;
        let (u, v) = (value(self.0 >> 16), value(self.0 & 0xFFFF));
        let z = 1.0 - u.abs() - v.abs();
        let fold = (-z).max(0.0);
        Vec3::new(u - fold.copysign(u), v - fold.copysign(v), z).normalize()
    }
}

/// The unit normal of a triangle, zero for one without area, and its area in a unit that is the
/// same for all.
type Face = [f32; 4];

#[inline]
fn normal(face: &Face) -> Vec3 {
    Vec3::new(face[0], face[1], face[2])
}

#[inline]
fn weighted(face: &Face) -> Vec3 {
    normal(face) * face[3]
}

fn faces_of(mesh: &Mesh, bounds: Bounds) -> Vec<Face> {
    // In units of the box, so that no area is too small for a float.
    let unit = bounds.extent().as_dvec3().length_squared();
    let mut faces = vec![[0.0; 4]; mesh.triangles.len()];
    raddle::for_each_mut(&mut faces, |index, face| {
        let [a, b, c] = mesh.triangle(index).map(|corner| corner.as_dvec3());
        let area = (b - a).cross(c - a);
        let length = area.length();
        if length > 0.0 && unit > 0.0 {
            let normal = (area / length).as_vec3();
            *face = normal.extend((length / unit) as f32).to_array();
        }
    });
    faces
}

/// The triangles around each vertex.
///
/// The vertices are divided into ranges, one for each worker. Each worker scans all triangles for
/// the vertices of its range. That takes no lock and no second pass, and gives the same lists for
/// any ranges.
struct Around {
    range_len: usize,
    ranges: Vec<Range>,
}

/// A range of vertices.
struct Range {
    /// The end of the list of each vertex.
    ends: Vec<u32>,
    /// The lists, one after the other.
    triangles: Vec<u32>,
    /// For each vertex, its normal if it has the same normal in all of its triangles.
    normals: Vec<Option<Packed>>,
}

impl Around {
    fn of(mesh: &Mesh, faces: &[Face]) -> Self {
        let range_count = raddle::worker_count()
            .min(mesh.positions.len() / 4096)
            .max(1);
        let range_len = mesh.positions.len().div_ceil(range_count).max(1);
        Self {
            range_len,
            ranges: raddle::map(0..range_count, |index| {
                let first = index * range_len;
                let end = mesh.positions.len().min(first + range_len);
                Range::of(mesh, faces, first, end)
            }),
        }
    }

    fn triangles(&self, vertex: u32) -> &[u32] {
        let vertex = vertex as usize;
        self.ranges[vertex / self.range_len].triangles(vertex % self.range_len)
    }

    fn smooth_normal(&self, vertex: u32) -> Option<Packed> {
        let vertex = vertex as usize;
        self.ranges[vertex / self.range_len].normals[vertex % self.range_len]
    }
}

impl Range {
    fn of(mesh: &Mesh, faces: &[Face], first: usize, end: usize) -> Self {
        let len = end.saturating_sub(first);
        // There are two passes: the first counts the triangles of each vertex, the second writes
        // them to their lists. `ends` contains the starts of the lists before the second pass and
        // the ends after it.
        let mut ends = vec![0_u32; len];
        for &vertex in mesh.triangles.iter().flatten() {
            if let Some(count) = ends.get_mut((vertex as usize).wrapping_sub(first)) {
                *count += 1;
            }
        }
        let mut sum = 0;
        for end in &mut ends {
            sum += std::mem::replace(end, sum);
        }
        let mut triangles = vec![0; sum as usize];
        for (index, corners) in mesh.triangles.iter().enumerate() {
            for &vertex in corners {
                if let Some(end) = ends.get_mut((vertex as usize).wrapping_sub(first)) {
                    triangles[*end as usize] = index as u32;
                    *end += 1;
                }
            }
        }
        let mut range = Self {
            ends,
            triangles,
            normals: Vec::new(),
        };
        range.normals = (0..len)
            .map(|vertex| range.smooth_normal(vertex, faces))
            .collect();
        range
    }

    fn triangles(&self, vertex: usize) -> &[u32] {
        let first = vertex.checked_sub(1).map_or(0, |before| self.ends[before]);
        &self.triangles[first as usize..self.ends[vertex] as usize]
    }

    /// Returns the mean of all normals around a vertex, if no two of them differ by more than the
    /// crease angle.
    ///
    /// This is the case if each of them differs from the mean by less than half of that angle. Then
    /// the mean is the normal for every one of the triangles.
    fn smooth_normal(&self, vertex: usize, faces: &[Face]) -> Option<Packed> {
        let around = || {
            self.triangles(vertex)
                .iter()
                .map(|&index| &faces[index as usize])
        };
        let mean = around().map(weighted).sum::<Vec3>().try_normalize()?;
        around()
            .all(|face| normal(face).dot(mean) > HALF_CREASE_COSINE)
            .then(|| Packed::new(mean))
    }
}
