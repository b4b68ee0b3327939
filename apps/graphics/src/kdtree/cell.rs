//! Cells on their way to becoming nodes: a box, the triangles that reach into it, and their events.

use glam::Vec3;

use super::event::{Event, Kind};
use crate::intersect::Corners;
use crate::mesh::Bounds;

/// An axis-aligned box as plain arrays, which a loop can index by axis.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Extent {
    pub(super) low: [f32; 3],
    pub(super) high: [f32; 3],
}

impl Extent {
    pub(super) const ZERO: Self = Self {
        low: [0.0; 3],
        high: [0.0; 3],
    };

    /// The smallest box around a triangle.
    pub(super) fn of_triangle([a, b, c]: &Corners) -> Self {
        // Adding zero turns -0.0 into 0.0, so that equal positions have equal bits.
        let of_all = |pick: fn(f32, f32) -> f32| {
            std::array::from_fn(|axis| pick(pick(a[axis], b[axis]), c[axis]) + 0.0)
        };
        Self {
            low: of_all(f32::min),
            high: of_all(f32::max),
        }
    }

    /// The smallest box around this one and another.
    pub(super) fn union(mut self, other: &Self) -> Self {
        for axis in 0..3 {
            self.low[axis] = self.low[axis].min(other.low[axis]);
            self.high[axis] = self.high[axis].max(other.high[axis]);
        }
        self
    }

    /// Both halves of the box, at a plane inside or on its border.
    pub(super) fn halves(&self, axis: usize, position: f32) -> (Self, Self) {
        let (mut below, mut above) = (*self, *self);
        below.high[axis] = position;
        above.low[axis] = position;
        (below, above)
    }

    /// Half of the surface. `f64`, so that neither tiny nor huge scenes leave the range.
    pub(super) fn half_area(&self) -> f64 {
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

/// A triangle within a cell: which one, and the box of the part of it that the cell holds.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Reference {
    pub(super) extent: Extent,
    pub(super) triangle: u32,
}

impl Reference {
    pub(super) const EMPTY: Self = Self {
        extent: Extent::ZERO,
        triangle: 0,
    };

    /// Puts the events of this triangle along one axis to a list: one where it is flat, else two.
    pub(super) fn push_events(&self, index: u32, axis: usize, events: &mut Vec<Event>) {
        let (low, high) = (self.extent.low[axis], self.extent.high[axis]);
        if low == high {
            events.push(Event::new(low, Kind::Planar, index));
        } else {
            events.push(Event::new(low, Kind::Start, index));
            events.push(Event::new(high, Kind::End, index));
        }
    }
}

/// What is known of a cell, wherever its lists are kept.
#[derive(Debug, Clone, Copy)]
pub(super) struct Cell<'a> {
    pub(super) extent: Extent,
    pub(super) references: &'a [Reference],
    /// Per axis, sorted.
    pub(super) events: [&'a [Event]; 3],
}
