//! Triangles over shared vertices, and their normals.
//!
//! # Source
//! Vertex normals: N. Max, Weights for Computing Vertex Normals from Facet Normals, Journal of
//! Graphics Tools 4(2), 1999 (section 1: weighting by area needs no division).

use glam::{DVec3, Vec3};

use crate::bounds::Bounds;

/// The largest permitted magnitude of a coordinate, in the unit of the file.
///
/// Products of three differences of such coordinates stay below the largest `f32`, so no area,
/// volume or determinant on the way to a picture can overflow.
pub const COORDINATE_MAX: f32 = 1e12;

/// Triangles over shared vertices.
///
/// # Examples
/// ```
/// use glam::Vec3;
/// use raddle_graphics::mesh::Mesh;
///
/// let mesh = Mesh {
///     positions: vec![Vec3::ZERO, Vec3::X, Vec3::Y],
///     normals: Vec::new(),
///     triangles: vec![[0, 1, 2]],
/// };
/// assert_eq!(mesh.triangle(0), [Vec3::ZERO, Vec3::X, Vec3::Y]);
/// assert_eq!(mesh.with_vertex_normals().normals, [Vec3::Z; 3]);
/// ```
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Mesh {
    /// One point per vertex, in the unit of the file.
    pub positions: Vec<Vec3>,
    /// One normal per vertex, or none at all. A normal is zero if the triangles around its vertex
    /// cancel out; the normal of the triangle is then used instead.
    pub normals: Vec<Vec3>,
    /// Three indices into `positions` per triangle, anticlockwise as seen from outside.
    pub triangles: Vec<[u32; 3]>,
}

impl Mesh {
    /// Returns the corners of a triangle.
    ///
    /// # Panics
    /// Panics if `triangle_index` is not below `triangles.len()`, or if one of its indices is out
    /// of range.
    #[inline]
    #[must_use]
    pub fn triangle(&self, triangle_index: usize) -> [Vec3; 3] {
        self.triangles[triangle_index].map(|vertex| self.positions[vertex as usize])
    }

    /// Returns the smallest box around all triangles. Vertices that no triangle uses do not count.
    ///
    /// The box of a mesh without triangles is [`Bounds::EMPTY`]. Takes one pass over the triangles.
    #[must_use]
    pub fn bounds(&self) -> Bounds {
        self.triangles
            .iter()
            .flatten()
            .fold(Bounds::EMPTY, |bounds, &vertex| {
                bounds.including(self.positions[vertex as usize])
            })
    }

    /// Returns true if a triangle has an area of exactly zero, that is, if its corners coincide or
    /// are collinear.
    ///
    /// # Panics
    /// As for [`triangle`](Self::triangle).
    #[inline]
    #[must_use]
    pub fn is_degenerate(&self, triangle_index: usize) -> bool {
        doubled_area(self.triangle(triangle_index)) == DVec3::ZERO
    }

    /// Counts the triangles of zero area. Takes one pass over the triangles.
    #[must_use]
    pub fn degenerate_count(&self) -> usize {
        (0..self.triangles.len())
            .filter(|&index| self.is_degenerate(index))
            .count()
    }

    /// Returns the mesh with smooth normals: its own if it has any, otherwise computed ones.
    ///
    /// The cost is that of [`compute_normals`](Self::compute_normals).
    #[must_use]
    pub fn with_vertex_normals(mut self) -> Self {
        if self.normals.len() != self.positions.len() {
            self.compute_normals();
        }
        self
    }

    /// Sets the normal of every vertex to the mean of the normals of its triangles, weighted by
    /// area.
    ///
    /// A vertex gets the zero vector if no triangle around it has an area, or if its triangles
    /// cancel out. The sums are `f64`, so that neither tiny nor huge meshes lose precision. Takes
    /// one pass over the triangles and one over the vertices, and 24 bytes per vertex during the
    /// call.
    pub fn compute_normals(&mut self) {
        let mut sums = vec![DVec3::ZERO; self.positions.len()];
        for (index, corners) in self.triangles.iter().enumerate() {
            let area = doubled_area(self.triangle(index));
            for &vertex in corners {
                sums[vertex as usize] += area;
            }
        }
        self.normals.clear();
        self.normals.extend(
            sums.into_iter()
                .map(|sum| sum.normalize_or_zero().as_vec3()),
        );
    }
}

/// Returns the normal of a triangle with a length of twice its area. In `f64` it can neither
/// underflow nor overflow.
#[inline]
fn doubled_area([a, b, c]: [Vec3; 3]) -> DVec3 {
    let a = a.as_dvec3();
    (b.as_dvec3() - a).cross(c.as_dvec3() - a)
}
