//! The light that points of a volume reflect, four at a time.

use glam::{BVec4A, Mat3, Vec3, Vec4};

use super::project::VoxelMap;
use crate::camera::Camera;
use crate::light::{Incoming, Lights, dot};

/// A vector for each of four points.
pub(crate) type Vectors = [Vec4; 3];

/// The light, and the map from gradients to normals.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Shading {
    lights: Lights,
    /// The light of the sun, which is the same everywhere.
    key: Incoming,
    gradient_map: Mat3,
}

impl Shading {
    /// Prepares the light of an object for a volume with values in a range.
    ///
    /// Only the directions of gradients matter, so their lengths are divided by the range and by
    /// the distance between voxels. Otherwise their squares could be too large or too small for an
    /// `f32`.
    pub(crate) fn new(camera: &Camera, map: &VoxelMap, [low, high]: [f64; 2]) -> Self {
        let lights = Lights::of_object(camera);
        let gradient_map = map.voxel_of_world.transpose();
        let [x, y, z] = [0, 1, 2].map(|axis| gradient_map.col(axis).length());
        let longest = x.max(y).max(z) * (high - low);
        let scale = if longest > 0.0 { longest.recip() } else { 1.0 };
        Self {
            lights,
            key: lights.key(Vec3::ZERO),
            gradient_map: (gradient_map * scale).as_mat3(),
        }
    }

    /// Returns the unit vector towards the sun.
    #[inline(always)]
    pub(crate) fn towards_sun(&self) -> Vec3 {
        self.key.towards
    }

    /// Returns the unit vector between the directions to the sun and to the viewer. `sight` is the
    /// unit vector along the ray.
    #[inline(always)]
    pub(crate) fn half(&self, sight: Vec3) -> Vec3 {
        self.key.half(sight)
    }

    /// Returns the unit vectors across surfaces, on the side of the viewer, and whether there is a
    /// surface: its gradient has at least a length with the square `square_min`. Without a surface,
    /// a point faces the viewer.
    ///
    /// `gradient` is in voxel coordinates, and `sight` is the unit vector along the ray. The square
    /// is that of the difference in one step between voxels, as a share of the range.
    #[inline(always)]
    pub(crate) fn normals(
        &self,
        gradient: Vectors,
        sight: Vectors,
        square_min: f32,
    ) -> (Vectors, BVec4A) {
        let gradient = [0, 1, 2].map(|row| dot(gradient, self.gradient_map.row(row)));
        let square = product(gradient, gradient);
        let is_surface = square.cmpge(Vec4::splat(square_min));
        let scale = root(square).recip().copysign(-product(gradient, sight));
        let normal = |axis: usize| Vec4::select(is_surface, gradient[axis] * scale, -sight[axis]);
        ([0, 1, 2].map(normal), is_surface)
    }

    /// Returns whether surfaces face the sun.
    #[inline(always)]
    pub(crate) fn faces_sun(&self, normal: Vectors) -> BVec4A {
        dot(normal, self.key.towards).cmpgt(Vec4::ZERO)
    }

    /// Returns the light that surfaces reflect. `half` is as in [`half`](Self::half), and `is_lit`
    /// tells whether the sun reaches the surface.
    #[inline(always)]
    pub(crate) fn light(
        &self,
        albedo: Vectors,
        normal: Vectors,
        half: Vectors,
        is_lit: BVec4A,
    ) -> Vectors {
        let ambient = self.lights.ambient(normal);
        let reflected = self.key.reflected(albedo, normal, product(normal, half));
        [0, 1, 2].map(|channel: usize| {
            let reflected = Vec4::select(is_lit, reflected[channel], Vec4::ZERO);
            albedo[channel] * ambient[channel] + reflected
        })
    }
}

/// Returns unit vectors; zero for vectors without a length.
#[inline(always)]
pub(crate) fn unit(vectors: Vectors) -> Vectors {
    let square = product(vectors, vectors);
    let scale = root(square).recip();
    let has_length = square.cmpgt(Vec4::ZERO);
    vectors.map(|axis| Vec4::select(has_length, axis * scale, Vec4::ZERO))
}

/// Returns a vector for all four points.
#[inline(always)]
pub(crate) fn splat(vector: Vec3) -> Vectors {
    vector.to_array().map(Vec4::splat)
}

/// Returns scalar products.
#[inline(always)]
fn product(a: Vectors, b: Vectors) -> Vec4 {
    a[0] * b[0] + a[1] * b[1] + a[2] * b[2]
}

/// Returns square roots.
#[inline(always)]
fn root(numbers: Vec4) -> Vec4 {
    Vec4::from_array(numbers.to_array().map(f32::sqrt))
}
