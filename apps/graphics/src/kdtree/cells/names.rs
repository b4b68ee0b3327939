//! The one-word names of triangles: [`Name`] in the lists of cells, [`Occurrence`] in the lists of
//! leaves. A [`Reference`] is the full description that a [`Name`] resolves to.

use super::event::{Event, Kind};
use super::extent::Extent;

/// The name of a triangle, or of a piece of a triangle, in the list of a cell.
///
/// ```text
///  31    30                              0
/// ┌─────┬─────────────────────────────────┐
/// │ cut │ index of a triangle, or a piece │
/// └─────┴─────────────────────────────────┘
/// ```
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(in crate::kdtree) struct Name(u32);

impl Name {
    const CUT: u32 = 1 << 31;

    /// Returns the name of a triangle that no plane has cut.
    #[inline]
    pub(in crate::kdtree) fn whole(triangle: u32) -> Self {
        debug_assert!(triangle < Self::CUT);
        Self(triangle)
    }

    /// Returns the name of a piece.
    ///
    /// # Panics
    /// Panics if `number` is 2^31 or more.
    #[inline]
    pub(in crate::kdtree) fn piece(number: usize) -> Self {
        assert!(number < Self::CUT as usize, "too many pieces of triangles");
        Self(number as u32 | Self::CUT)
    }

    /// Returns the first occurrence of the triangle. This must be the name of a whole triangle.
    #[inline]
    pub(in crate::kdtree) fn first_occurrence(self) -> Occurrence {
        Occurrence::first(self.0)
    }

    /// Returns true if this is the name of a piece, that is, if a plane has cut the triangle.
    #[inline]
    pub(in crate::kdtree) fn is_cut(self) -> bool {
        self.0 >= Self::CUT
    }

    /// Returns the index of the triangle, or the number of the piece.
    pub(in crate::kdtree) fn number(self) -> usize {
        (self.0 & !Self::CUT) as usize
    }
}

/// A triangle in the list of a leaf, with a flag that tells whether an earlier leaf of the tree
/// also contains it.
///
/// ```text
///  31       30                              0
/// ┌────────┬─────────────────────────────────┐
/// │repeated│ index of the triangle           │
/// └────────┴─────────────────────────────────┘
/// ```
///
/// Each triangle has exactly one first occurrence at any time. When a plane cuts a triangle, the
/// piece below the plane stays the first occurrence and the piece above becomes a repeated one,
/// because the leaves below a plane come before the leaves above it.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord)]
pub(in crate::kdtree) struct Occurrence(u32);

impl Occurrence {
    const REPEATED: u32 = 1 << 31;

    /// Returns the first occurrence of a triangle. The index must be below 2^31.
    pub(in crate::kdtree) fn first(triangle: u32) -> Self {
        debug_assert!(triangle < Self::REPEATED);
        Self(triangle)
    }

    /// Returns a repeated occurrence of the same triangle.
    pub(in crate::kdtree) fn repeated(self) -> Self {
        Self(self.0 | Self::REPEATED)
    }

    #[inline]
    pub(in crate::kdtree) fn is_first(self) -> bool {
        self.0 < Self::REPEATED
    }

    #[inline]
    pub(in crate::kdtree) fn triangle(self) -> u32 {
        self.0 & !Self::REPEATED
    }
}

/// A triangle within a cell: its occurrence, and the box of the part that lies inside the cell.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(in crate::kdtree) struct Reference {
    pub(in crate::kdtree) extent: Extent,
    pub(in crate::kdtree) triangle: Occurrence,
}

impl Reference {
    /// Returns the name of the triangle, which no plane must have cut.
    pub(in crate::kdtree) fn name(&self) -> Name {
        Name::whole(self.triangle.triangle())
    }

    /// Appends the events of this triangle along one axis: one event if the triangle is flat along
    /// the axis, otherwise two.
    pub(in crate::kdtree) fn push_events(&self, index: u32, axis: usize, events: &mut Vec<Event>) {
        let (low, high) = (self.extent.low[axis], self.extent.high[axis]);
        if low == high {
            events.push(Event::new(low, Kind::Planar, index));
        } else {
            events.push(Event::new(low, Kind::Start, index));
            events.push(Event::new(high, Kind::End, index));
        }
    }
}
