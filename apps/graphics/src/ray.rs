//! Rays and their hits.

use glam::Vec3;

/// A stretch of a line: all points `origin + t * direction` with `t_min <= t <= t_max`.
///
/// # Examples
/// ```
/// use glam::Vec3;
/// use raddle_graphics::ray::Ray;
///
/// let ray = Ray::new(Vec3::ZERO, Vec3::Z);
/// assert_eq!(ray.at(2.0), Vec3::new(0.0, 0.0, 2.0));
/// ```
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Ray {
    /// The point with `t` = 0; finite.
    pub origin: Vec3,
    /// The direction; finite and of any length except zero, which is the unit of `t`.
    pub direction: Vec3,
    /// The smallest `t` of a hit; not negative.
    pub t_min: f32,
    /// The largest `t` of a hit; may be infinite.
    pub t_max: f32,
}

impl Ray {
    /// Creates a ray that starts at its origin and never ends.
    #[inline]
    #[must_use]
    pub const fn new(origin: Vec3, direction: Vec3) -> Self {
        Self {
            origin,
            direction,
            t_min: 0.0,
            t_max: f32::INFINITY,
        }
    }

    /// Creates a ray between two points without its ends. It hits any triangle that hides one point
    /// from the other.
    ///
    /// `t` runs from 0 at `from` to 1 at `to`, and `margin` of it is left out at either end.
    #[inline]
    #[must_use]
    pub fn between(from: Vec3, to: Vec3, margin: f32) -> Self {
        Self {
            origin: from,
            direction: to - from,
            t_min: margin,
            t_max: 1.0 - margin,
        }
    }

    /// Returns the point at `t`.
    #[inline]
    #[must_use]
    pub fn at(&self, t: f32) -> Vec3 {
        self.origin + t * self.direction
    }
}

/// A hit of a ray on a triangle.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Hit {
    /// The distance along the ray, in lengths of its direction.
    pub t: f32,
    /// The index of the triangle in its mesh.
    pub triangle: u32,
    /// The weights of the three corners at the point. They are not negative, and their sum is 1 up
    /// to rounding.
    pub weights: [f32; 3],
}
