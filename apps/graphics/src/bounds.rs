//! Axis-aligned boxes.

use glam::Vec3;

use crate::ray::Ray;

/// An axis-aligned box.
#[derive(Debug, Clone, Copy, PartialEq, serde::Serialize, serde::Deserialize)]
pub struct Bounds {
    /// The corner with the smallest coordinates.
    pub min: Vec3,
    /// The corner with the largest coordinates.
    pub max: Vec3,
}

impl Bounds {
    /// The empty box. Including a point gives the box of that point alone.
    pub const EMPTY: Self = Self {
        min: Vec3::INFINITY,
        max: Vec3::NEG_INFINITY,
    };

    /// Returns the smallest box around this box and `point`.
    #[inline]
    #[must_use]
    pub fn including(self, point: Vec3) -> Self {
        Self {
            min: self.min.min(point),
            max: self.max.max(point),
        }
    }

    /// Returns true if no point lies in the box or on its border.
    #[inline]
    #[must_use]
    pub fn is_empty(self) -> bool {
        !self.min.cmple(self.max).all()
    }

    /// Returns the centre, or the origin if the box is empty.
    #[inline]
    #[must_use]
    pub fn center(self) -> Vec3 {
        if self.is_empty() {
            return Vec3::ZERO;
        }
        self.min * 0.5 + self.max * 0.5
    }

    /// Returns the lengths of the edges, or zero if the box is empty.
    #[inline]
    #[must_use]
    pub fn extent(self) -> Vec3 {
        if self.is_empty() {
            return Vec3::ZERO;
        }
        self.max - self.min
    }

    /// Returns the part of a ray in the box. If there is none, the part has no points.
    #[inline]
    #[must_use]
    pub fn clip(self, ray: &Ray) -> Ray {
        let mut part = *ray;
        for axis in 0..3 {
            let (origin, direction) = (ray.origin[axis], ray.direction[axis]);
            if direction == 0.0 {
                if !(self.min[axis]..=self.max[axis]).contains(&origin) {
                    part.t_max = f32::NEG_INFINITY;
                }
                continue;
            }
            let ends = [self.min[axis], self.max[axis]].map(|end| (end - origin) / direction);
            part.t_min = part.t_min.max(ends[0].min(ends[1]));
            part.t_max = part.t_max.min(ends[0].max(ends[1]));
        }
        part
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_ray_is_clipped_on_both_sides() {
        let bounds = Bounds {
            min: Vec3::ZERO,
            max: Vec3::new(1.0, 2.0, 3.0),
        };
        let part = bounds.clip(&Ray::new(Vec3::new(-1.0, 0.5, 0.5), Vec3::X));
        assert_eq!((part.t_min, part.t_max), (1.0, 2.0));
        let inside = bounds.clip(&Ray::new(Vec3::splat(0.5), Vec3::NEG_Z));
        assert_eq!((inside.t_min, inside.t_max), (0.0, 0.5));
        for beside in [Vec3::new(-1.0, 2.5, 0.5), Vec3::new(5.0, 0.5, 0.5)] {
            let part = bounds.clip(&Ray::new(beside, Vec3::X));
            assert!(part.t_min > part.t_max, "{part:?}");
        }
    }
}
