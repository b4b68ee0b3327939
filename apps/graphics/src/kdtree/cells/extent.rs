//! Axis-aligned boxes.

use glam::Vec3;

use crate::bounds::Bounds;
use crate::intersect::Corners;

/// An axis-aligned box, stored as plain arrays so that a loop can index it by axis.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(in crate::kdtree) struct Extent {
    pub(in crate::kdtree) low: [f32; 3],
    pub(in crate::kdtree) high: [f32; 3],
}

impl Extent {
    pub(in crate::kdtree) const ZERO: Self = Self {
        low: [0.0; 3],
        high: [0.0; 3],
    };

    /// Returns the smallest box around a triangle.
    pub(in crate::kdtree) fn of_triangle([a, b, c]: &Corners) -> Self {
        // Adding zero turns -0.0 into 0.0, so that equal positions have equal bits.
        let of_all = |pick: fn(f32, f32) -> f32| {
            std::array::from_fn(|axis| pick(pick(a[axis], b[axis]), c[axis]) + 0.0)
        };
        Self {
            low: of_all(f32::min),
            high: of_all(f32::max),
        }
    }

    /// Returns the smallest box around this box and another one.
    pub(in crate::kdtree) fn union(mut self, other: &Self) -> Self {
        for axis in 0..3 {
            self.low[axis] = self.low[axis].min(other.low[axis]);
            self.high[axis] = self.high[axis].max(other.high[axis]);
        }
        self
    }

    /// Splits the box at a plane inside the box or on its border. Returns the half below and the
    /// half above.
    pub(in crate::kdtree) fn halves(&self, axis: usize, position: f32) -> (Self, Self) {
        let (mut below, mut above) = (*self, *self);
        below.high[axis] = position;
        above.low[axis] = position;
        (below, above)
    }

    /// Returns true if `other` lies inside this box without touching its border.
    #[inline]
    pub(in crate::kdtree) fn is_around(&self, other: &Self) -> bool {
        (0..3).all(|axis| self.low[axis] < other.low[axis] && other.high[axis] < self.high[axis])
    }

    /// Returns half of the surface area. It is an `f64` so that neither tiny nor huge scenes
    /// overflow or underflow.
    pub(in crate::kdtree) fn half_area(&self) -> f64 {
        let [x, y, z] =
            std::array::from_fn(|axis| f64::from(self.high[axis]) - f64::from(self.low[axis]));
        x * y + y * z + z * x
    }
}

impl From<Extent> for Bounds {
    fn from(extent: Extent) -> Self {
        Self {
            min: Vec3::from_array(extent.low),
            max: Vec3::from_array(extent.high),
        }
    }
}
