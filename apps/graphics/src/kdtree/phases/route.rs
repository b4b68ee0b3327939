//! Where the events of each triangle of a cell go: to one half, or, of a triangle that the plane cuts, some of them to either.

use crate::kdtree::cells::event::{self, Event, Kind};
use crate::kdtree::cells::extent::Extent;
use crate::kdtree::sums::sum_of_fields;

/// Something for each half of a cell.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(in crate::kdtree) struct Halves<T> {
    pub(in crate::kdtree) below: T,
    pub(in crate::kdtree) above: T,
}

/// How many of something each half gets.
pub(in crate::kdtree) type Counts = Halves<usize>;

sum_of_fields!(Counts: below, above);

/// Where the events of one triangle go.
///
/// ```text
///  31 30                                        1    0
/// ┌──┬─────────────────────────────────────────┬───────┐
/// │ 0│ how far its index in the half is behind │ above │   one half only
/// ├──┼─────────────────────────────────────────┴───────┤
/// │ 1│ number of the straddler                         │   both
/// └──┴─────────────────────────────────────────────────┘
/// ```
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(in crate::kdtree) struct Route(u32);

impl Route {
    const STRADDLES: u32 = 1 << 31;

    /// To the half above if `side` is 1, below if it is 0, where the index is less by some distance.
    #[inline]
    pub(in crate::kdtree) fn new(distance: u32, side: u32) -> Self {
        Self(distance << 1 | side)
    }

    /// To both halves.
    #[inline]
    pub(in crate::kdtree) fn straddling(number: usize) -> Self {
        Self(number as u32 | Self::STRADDLES)
    }

    /// The number of the straddler.
    #[inline]
    pub(in crate::kdtree) fn straddler(self) -> Option<usize> {
        (self.0 >= Self::STRADDLES).then_some((self.0 & !Self::STRADDLES) as usize)
    }

    /// How much less the index is in the half.
    #[inline]
    pub(in crate::kdtree) fn distance(self) -> u32 {
        self.0 >> 1
    }

    /// 0 for below, 1 for above.
    #[inline]
    pub(in crate::kdtree) fn side(self) -> u32 {
        self.0 & 1
    }

    /// The same route where others come before: so many in either half, and so many straddlers.
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

/// What becomes of a straddling triangle in one half.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::kdtree) struct PieceRoute {
    /// Its index there, or [`GONE`](Self::GONE).
    pub(in crate::kdtree) index: u32,
    /// Which of its old events go along: for each axis, from the lowest bits on, its end or planar event, then its start.
    keep: u8,
}

impl PieceRoute {
    const GONE: u32 = u32::MAX;

    /// The half holds nothing of it.
    pub(in crate::kdtree) const NONE: Self = Self {
        index: Self::GONE,
        keep: 0,
    };

    /// The fate of what was as large as `whole`, and is as large as `piece` in this half: its new events are put to `added`, for the triangle
    /// that has the index `old` in the cell.
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

    /// Whether an old event of the triangle goes along.
    #[inline]
    pub(in crate::kdtree) fn keeps(self, axis: usize, kind: u32) -> bool {
        self.keep >> (2 * axis as u32 + (kind >> 1)) & 1 != 0
    }

    /// The same where others come before.
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

/// A triangle on both sides of the plane: what becomes of it in either half.
pub(in crate::kdtree) type Straddler = Halves<PieceRoute>;

/// The events that cutting made, per half and axis.
///
/// They bear the indices of their triangles in the cell, as those do among which they go: the triangles of the halves are in the
/// cell's order, so that the order by old indices is that by new ones.
#[derive(Debug, Default)]
pub(in crate::kdtree) struct Added {
    pub(in crate::kdtree) below: [Vec<Event>; 3],
    pub(in crate::kdtree) above: [Vec<Event>; 3],
    /// Memory for the sort.
    spare: Vec<Event>,
}

impl Added {
    pub(in crate::kdtree) fn clear(&mut self) {
        self.lists().for_each(Vec::clear);
    }

    /// Puts those of another stretch behind these.
    pub(in crate::kdtree) fn append(&mut self, other: &Self) {
        let others = other.below.iter().chain(&other.above);
        for (list, other) in self.lists().zip(others) {
            list.extend_from_slice(other);
        }
    }

    /// All lists, those below first.
    fn lists(&mut self) -> impl Iterator<Item = &mut Vec<Event>> {
        self.below.iter_mut().chain(&mut self.above)
    }

    /// Brings the lists into order.
    pub(in crate::kdtree) fn sort(&mut self) {
        let mut spare = std::mem::take(&mut self.spare);
        for list in self.lists() {
            event::sort(list, &mut spare);
        }
        self.spare = spare;
    }
}
