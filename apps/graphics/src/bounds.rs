//! Axis-aligned boxes.

use glam::Vec3;

/// An axis-aligned box.
#[derive(Debug, Clone, Copy, PartialEq)]
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
}
