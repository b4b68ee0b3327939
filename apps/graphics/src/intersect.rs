//! A test of a ray against a triangle that lets no ray slip through between two triangles.
//!
//! The triangle is moved so that the ray starts at the origin, its axes are exchanged so that the ray goes
//! mostly along the third, and it is sheared so that the ray goes exactly along that. Then the ray hits the
//! triangle if the origin lies inside its projection. The signs of the three edge functions tell; two
//! triangles with an edge in common compute the same number for it up to the sign, so at least one of them
//! is hit. Where `f32` yields exactly zero, and so no sign, the test is done again in `f64`.
//!
//! # Source
//! S. Woop, C. Benthin, I. Wald: Watertight Ray/Triangle Intersection. Journal of Computer Graphics Techniques
//! 2(1), 2013. We keep all of the second pass in `f64`, so that it also serves scenes of tiny scale.

use crate::ray::Ray;

#[cfg(test)]
mod tests;

/// Below this determinants lose digits to underflow.
const DETERMINANT_MIN: f32 = 1e-30;

/// The corners of a triangle.
pub type Corners = [[f32; 3]; 3];

/// A hit of one triangle: how far, and the weights of the corners.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct TriangleHit {
    /// How far along the ray, in lengths of its direction.
    pub t: f32,
    /// The weights of the three corners at the point.
    pub weights: [f32; 3],
}

/// The axis along which a ray goes fastest: the `Z` to make its [`Shear`] for.
#[inline]
#[must_use]
pub fn main_axis(ray: &Ray) -> usize {
    let [x, y, z] = ray.direction.abs().to_array();
    if x > y {
        if x > z { 0 } else { 2 }
    } else if y > z {
        1
    } else {
        2
    }
}

/// What of a ray is the same for all triangles, for a ray whose [`main_axis`] is `Z`.
///
/// The axis is a constant, so that the loads of a test need no index.
#[derive(Debug, Clone, Copy)]
pub struct Shear<const Z: usize> {
    origin: [f32; 3],
    shear_x: f32,
    shear_y: f32,
    scale_z: f32,
}

impl<const Z: usize> Shear<Z> {
    const X: usize = (Z + 1) % 3;
    const Y: usize = (Z + 2) % 3;

    /// Prepares a ray.
    #[inline]
    #[must_use]
    pub fn new(ray: &Ray) -> Self {
        let direction = ray.direction.to_array();
        let scale_z = 1.0 / direction[Z];
        Self {
            origin: ray.origin.to_array(),
            shear_x: direction[Self::X] * scale_z,
            shear_y: direction[Self::Y] * scale_z,
            scale_z,
        }
    }

    /// Tests a triangle; both of its faces count. A hit has `t_min <= t <= t_max`.
    #[inline(always)]
    #[must_use]
    pub fn test(&self, corners: &Corners, t_min: f32, t_max: f32) -> Option<TriangleHit> {
        let [a, b, c] = [0, 1, 2].map(|corner| self.moved(&corners[corner]));
        let u = c[0] * b[1] - c[1] * b[0];
        let v = a[0] * c[1] - a[1] * c[0];
        let w = b[0] * a[1] - b[1] * a[0];
        let (low, high) = (smaller(smaller(u, v), w), larger(larger(u, v), w));
        if low < 0.0 && high > 0.0 {
            return None;
        }
        if low == 0.0 || high == 0.0 {
            return test_wide([a, b, c], self.scale_z, t_min, t_max);
        }
        let determinant = u + v + w;
        if determinant.abs() < DETERMINANT_MIN {
            return test_wide([a, b, c], self.scale_z, t_min, t_max);
        }
        let inverse = 1.0 / determinant;
        let weights = [u * inverse, v * inverse, w * inverse];
        let t = (weights[0] * a[2] + weights[1] * b[2] + weights[2] * c[2]) * self.scale_z;
        (t >= t_min && t <= t_max).then_some(TriangleHit { t, weights })
    }

    /// Moves and shears a corner; the third coordinate is not yet scaled.
    #[inline(always)]
    fn moved(&self, corner: &[f32; 3]) -> [f32; 3] {
        let z = corner[Z] - self.origin[Z];
        [
            corner[Self::X] - self.origin[Self::X] - self.shear_x * z,
            corner[Self::Y] - self.origin[Self::Y] - self.shear_y * z,
            z,
        ]
    }
}

/// The smaller of two numbers. Unlike `f32::min` no more than one instruction, since neither may be NaN.
#[inline(always)]
fn smaller(a: f32, b: f32) -> f32 {
    if a < b { a } else { b }
}

/// The larger of two numbers, as [`smaller`].
#[inline(always)]
fn larger(a: f32, b: f32) -> f32 {
    if a > b { a } else { b }
}

/// The rest of the test for a ray that meets the line through an edge, as far as `f32` can see.
#[cold]
#[inline(never)]
fn test_wide(moved: [[f32; 3]; 3], scale_z: f32, t_min: f32, t_max: f32) -> Option<TriangleHit> {
    let [a, b, c] = moved.map(|corner| corner.map(f64::from));
    let u = c[0] * b[1] - c[1] * b[0];
    let v = a[0] * c[1] - a[1] * c[0];
    let w = b[0] * a[1] - b[1] * a[0];
    if (u < 0.0 || v < 0.0 || w < 0.0) && (u > 0.0 || v > 0.0 || w > 0.0) {
        return None;
    }
    let determinant = u + v + w;
    if determinant == 0.0 {
        return None;
    }
    let inverse = 1.0 / determinant;
    let t = ((u * a[2] + v * b[2] + w * c[2]) * f64::from(scale_z) * inverse) as f32;
    (t >= t_min && t <= t_max).then(|| TriangleHit {
        t,
        weights: [u, v, w].map(|weight| (weight * inverse) as f32),
    })
}
