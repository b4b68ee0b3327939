//! Triangles as cells and leaves refer to them.

use super::event::{Event, Kind};
use super::extent::Extent;

/// What a cell calls a triangle.
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

    /// The name of a triangle that no plane has cut.
    #[inline]
    pub(in crate::kdtree) fn whole(triangle: u32) -> Self {
        debug_assert!(triangle < Self::CUT);
        Self(triangle)
    }

    /// The name of a piece.
    ///
    /// # Panics
    /// When there are 2^31 of them.
    #[inline]
    pub(in crate::kdtree) fn piece(number: usize) -> Self {
        assert!(number < Self::CUT as usize, "too many pieces of triangles");
        Self(number as u32 | Self::CUT)
    }

    /// The first occurrence of the triangle, where this is the name of a whole one.
    #[inline]
    pub(in crate::kdtree) fn first_occurrence(self) -> Occurrence {
        Occurrence::first(self.0)
    }

    /// Whether a plane has cut the triangle.
    #[inline]
    pub(in crate::kdtree) fn is_cut(self) -> bool {
        self.0 >= Self::CUT
    }

    /// The index of the triangle, or the number of the piece.
    pub(in crate::kdtree) fn number(self) -> usize {
        (self.0 & !Self::CUT) as usize
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
pub(in crate::kdtree) struct Occurrence(u32);

impl Occurrence {
    const REPEATED: u32 = 1 << 31;

    /// The first naming of a triangle with an index below 2^31.
    pub(in crate::kdtree) fn first(triangle: u32) -> Self {
        debug_assert!(triangle < Self::REPEATED);
        Self(triangle)
    }

    /// The same triangle, named again.
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

/// A triangle within a cell: which one, and the box of the part of it that the cell holds.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(in crate::kdtree) struct Reference {
    pub(in crate::kdtree) extent: Extent,
    pub(in crate::kdtree) triangle: Occurrence,
}

impl Reference {
    /// The name of a whole triangle.
    pub(in crate::kdtree) fn name(&self) -> Name {
        Name::whole(self.triangle.triangle())
    }

    /// Puts the events of this triangle along one axis to a list: one where it is flat, else two.
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
