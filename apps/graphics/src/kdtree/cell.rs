//! Cells on their way to becoming nodes: a box, the triangles that reach into it, and their events.

use std::sync::Arc;

use glam::Vec3;
use raddle::ChunkedArray;

use super::arena::{Arena, Name};
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

    /// Whether another box is in this one and nowhere touches its border.
    #[inline]
    pub(super) fn is_around(&self, other: &Self) -> bool {
        (0..3).all(|axis| self.low[axis] < other.low[axis] && other.high[axis] < self.high[axis])
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

/// A triangle as a reference names it: which one, and whether of all leaves below that name it this reference's is the first in the tree.
///
/// ```text
///  31       30                              0
/// ┌────────┬─────────────────────────────────┐
/// │repeated│ index of the triangle           │
/// └────────┴─────────────────────────────────┘
/// ```
/// Where a plane cuts a triangle, the piece below goes on being the first, the one above repeats it: leaves below a plane come before those
/// above it. So each triangle has exactly one reference at any time that is the first.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Named(u32);

impl Named {
    const REPEATED: u32 = 1 << 31;

    /// The first naming of a triangle with an index below 2^31.
    pub(super) fn first(triangle: u32) -> Self {
        debug_assert!(triangle < Self::REPEATED);
        Self(triangle)
    }

    /// The same triangle, named again.
    pub(super) fn repeated(self) -> Self {
        Self(self.0 | Self::REPEATED)
    }

    #[inline]
    pub(super) fn is_first(self) -> bool {
        self.0 < Self::REPEATED
    }

    #[inline]
    pub(super) fn triangle(self) -> u32 {
        self.0 & !Self::REPEATED
    }
}

/// A triangle within a cell: which one, and the box of the part of it that the cell holds.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Reference {
    pub(super) extent: Extent,
    pub(super) triangle: Named,
}

impl Reference {
    /// The name of a whole triangle.
    pub(super) fn name(&self) -> Name {
        Name::whole(self.triangle.triangle())
    }

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
    pub(super) names: &'a [Name],
    /// Per axis, sorted. The references in them are indices in `names`.
    pub(super) events: [&'a [Event]; 3],
}

/// A cell that owns its lists.
#[derive(Debug, Clone)]
pub(super) struct OwnedCell {
    pub(super) extent: Extent,
    pub(super) names: Vec<Name>,
    pub(super) events: [Vec<Event>; 3],
    /// Knows the names.
    pub(super) arena: Arc<Arena>,
}

/// A cell that several work on: what each of them has made of its lists is a chunk.
#[derive(Debug)]
pub(super) struct SharedCell {
    pub(super) extent: Extent,
    pub(super) names: ChunkedArray<Name>,
    pub(super) events: [ChunkedArray<Event>; 3],
    /// Knows the names.
    pub(super) arena: Arc<Arena>,
    /// The lists came along with the build and go with it: the next one brings its own.
    pub(super) is_brought: bool,
}

impl SharedCell {
    /// The root of a build.
    pub(super) fn root(cell: OwnedCell) -> Self {
        Self {
            is_brought: true,
            ..cell.into()
        }
    }

    /// The triangles.
    pub(super) fn len(&self) -> usize {
        self.names.len()
    }
}

impl From<OwnedCell> for SharedCell {
    fn from(cell: OwnedCell) -> Self {
        Self {
            extent: cell.extent,
            names: ChunkedArray::from_chunks([cell.names]),
            events: cell
                .events
                .map(|events| ChunkedArray::from_chunks([events])),
            arena: cell.arena,
            is_brought: false,
        }
    }
}
