//! The route of a triangle's events: all of them go to one half, or, if the plane cuts the
//! triangle, each half keeps some of them.

use crate::kdtree::cells::event::{self, Event, Kind};
use crate::kdtree::cells::extent::Extent;
use crate::kdtree::sums::sum_of_fields;

/// A pair of values, one for each half of a cell.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(in crate::kdtree) struct Halves<T> {
    pub(in crate::kdtree) below: T,
    pub(in crate::kdtree) above: T,
}

/// The number of items in each half.
pub(in crate::kdtree) type Counts = Halves<usize>;

sum_of_fields!(Counts: below, above);

/// The route of the events of one triangle.
///
/// ```text
///  31 30                                        1    0
/// ┌──┬─────────────────────────────────────────┬───────┐
/// │ 0│ old index minus new index               │ above │   one half only
/// ├──┼─────────────────────────────────────────┴───────┤
/// │ 1│ number of the straddler                         │   both halves
/// └──┴─────────────────────────────────────────────────┘
/// ```
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(in crate::kdtree) struct Route(u32);

impl Route {
    const STRADDLES: u32 = 1 << 31;

    /// Creates a route to one half: below if `side` is 0, above if it is 1. The index of the
    /// triangle in the half is smaller by `distance`.
    #[inline]
    pub(in crate::kdtree) fn new(distance: u32, side: u32) -> Self {
        Self(distance << 1 | side)
    }

    /// Creates the route of a triangle that straddles the plane.
    #[inline]
    pub(in crate::kdtree) fn straddling(number: usize) -> Self {
        Self(number as u32 | Self::STRADDLES)
    }

    /// Returns the number of the straddler, if the triangle straddles the plane.
    #[inline]
    pub(in crate::kdtree) fn straddler(self) -> Option<usize> {
        (self.0 >= Self::STRADDLES).then_some((self.0 & !Self::STRADDLES) as usize)
    }

    /// Returns the difference between the index of the triangle in the cell and its index in the
    /// half.
    #[inline]
    pub(in crate::kdtree) fn distance(self) -> u32 {
        self.0 >> 1
    }

    /// Returns the half: 0 for below, 1 for above.
    #[inline]
    pub(in crate::kdtree) fn side(self) -> u32 {
        self.0 & 1
    }

    /// Adjusts the route for the shares before it, which have put `first` triangles into the halves
    /// and have cut `straddlers` triangles.
    #[inline]
    pub(in crate::kdtree) fn behind(self, first: Counts, straddlers: usize) -> Self {
        if self.0 >= Self::STRADDLES {
            return Self(self.0 + straddlers as u32);
        }
        let others = if self.side() == 0 {
            first.below
        } else {
            first.above
        };
        Self(self.0 - ((others as u32) << 1))
    }
}

/// The route of a straddling triangle's events to one half.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::kdtree) struct PieceRoute {
    /// The index of the piece in the half, or [`GONE`](Self::GONE).
    pub(in crate::kdtree) index: u32,
    /// The old events that the piece keeps. Each axis has two bits, from the lowest bits on: one
    /// for its end or planar event, then one for its start.
    keep: u8,
}

impl PieceRoute {
    const GONE: u32 = u32::MAX;

    /// The route if no piece reaches into the half.
    pub(in crate::kdtree) const NONE: Self = Self {
        index: Self::GONE,
        keep: 0,
    };

    /// Creates the route for a piece with the box `piece` of a triangle with the box `whole`.
    ///
    /// `old` is the index of the triangle in the cell and `index` that of the piece in the half.
    /// The new events of the piece are appended to `added`; they refer to the triangle by `old`.
    pub(in crate::kdtree) fn of_piece(
        whole: &Extent,
        piece: &Extent,
        (old, index): (u32, u32),
        added: &mut [Vec<Event>; 3],
    ) -> Self {
        let mut keep = 0;
        for (axis, added) in added.iter_mut().enumerate() {
            let (low, high) = (piece.low[axis], piece.high[axis]);
            let (keeps_low, keeps_high) = (low == whole.low[axis], high == whole.high[axis]);
            if keeps_low && keeps_high {
                keep |= 0b11 << (2 * axis);
            } else if low == high {
                added.push(Event::new(low, Kind::Planar, old));
            } else {
                if keeps_low {
                    keep |= 0b10 << (2 * axis);
                } else {
                    added.push(Event::new(low, Kind::Start, old));
                }
                if keeps_high {
                    keep |= 0b01 << (2 * axis);
                } else {
                    added.push(Event::new(high, Kind::End, old));
                }
            }
        }
        Self { index, keep }
    }

    /// Returns true if the piece keeps the old event of the given axis and kind.
    #[inline]
    pub(in crate::kdtree) fn keeps(self, axis: usize, kind: u32) -> bool {
        self.keep >> (2 * axis as u32 + (kind >> 1)) & 1 != 0
    }

    /// Adjusts the route for the shares before it, which have put `first` triangles into the half.
    pub(in crate::kdtree) fn behind(self, first: usize) -> Self {
        if self.index == Self::GONE {
            return self;
        }
        Self {
            index: self.index + first as u32,
            ..self
        }
    }
}

/// A triangle on both sides of the plane: the routes of its pieces.
pub(in crate::kdtree) type Straddler = Halves<PieceRoute>;

/// The new events of cut triangles, per half and axis.
///
/// They contain the indices of their triangles in the cell, like the events into which they are
/// merged. The triangles of the halves are in the order of the cell, so sorting by old indices is
/// the same as sorting by new ones.
#[derive(Debug, Default)]
pub(in crate::kdtree) struct Added {
    pub(in crate::kdtree) below: [Vec<Event>; 3],
    pub(in crate::kdtree) above: [Vec<Event>; 3],
    /// Scratch memory for the sort.
    spare: Vec<Event>,
}

impl Added {
    pub(in crate::kdtree) fn clear(&mut self) {
        self.lists().for_each(Vec::clear);
    }

    /// Appends the events of another stretch.
    pub(in crate::kdtree) fn append(&mut self, other: &Self) {
        let others = other.below.iter().chain(&other.above);
        for (list, other) in self.lists().zip(others) {
            list.extend_from_slice(other);
        }
    }

    /// Returns all lists, those below first.
    fn lists(&mut self) -> impl Iterator<Item = &mut Vec<Event>> {
        self.below.iter_mut().chain(&mut self.above)
    }

    /// Sorts all lists.
    pub(in crate::kdtree) fn sort(&mut self) {
        let mut spare = std::mem::take(&mut self.spare);
        for list in self.lists() {
            event::sort(list, &mut spare);
        }
        self.spare = spare;
    }
}
