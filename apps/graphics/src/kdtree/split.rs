//! Splitting a cell: its references and events are dealt to both halves, and stay sorted.
//!
//! 1. [`classify`] looks at every reference, and cuts the triangles that straddle the plane.
//! 2. [`deal_references`] gives each half its references, numbered anew in the same order, writes a [`Route`]
//!    for each of the old ones, and makes the events that the cutting changed.
//! 3. [`super::deal`] deals the events of one axis along the routes. What stays in order needs no sort; the
//!    few new events are sorted and merged in.
//!
//! Step 1 and 2 work on any stretch of the references, step 3 on each axis by itself, so that a large cell
//! can be split by several workers with the very same code.
//!
//! # Source
//! Wald, Havran 2006 (see [`super`]), section 4.3. Keeping those events of a cut triangle that the cut did
//! not move, and finding the classes from the extents instead of the events, is ours.

use std::ops::Add;

use super::cell::{Extent, Reference};
use super::clip;
use super::event::{self, Event, Kind};
use super::sweep::{Plane, Side};
use crate::intersect::Corners;

#[cfg(test)]
pub(super) mod tests;

/// Where the events of one reference go: a word for each half, which says which of them go there, and the index of the reference there. Packed so that
/// dealing needs no branch:
///
/// ```text
///  31                26 25                                              0
/// ┌────────────────────┬─────────────────────────────────────────────────┐
/// │ keep: 2 bits × axis│ index of the reference in the half              │
/// └────────────────────┴─────────────────────────────────────────────────┘
/// ```
/// The lower bit of an axis says that its end or planar event goes along, the upper one its start. Without any bit the index is that of the next
/// reference that the half has.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct Route {
    below: u32,
    above: u32,
}

impl Route {
    /// Bits for the index: the limit on the triangles of a tree.
    const INDEX_BITS: u32 = 26;
    const KEEP_ALL: u32 = 0b11_11_11 << Self::INDEX_BITS;
    const INDEX_MASK: u32 = (1 << Self::INDEX_BITS) - 1;

    #[inline]
    pub(super) fn new(below: u32, above: u32) -> Self {
        Self { below, above }
    }

    /// The indices below and above, of this reference or the next there.
    #[inline]
    pub(super) fn indices(self) -> (u32, u32) {
        (self.below & Self::INDEX_MASK, self.above & Self::INDEX_MASK)
    }

    /// Whether an event of the reference goes below, and above: 0 or 1.
    #[inline]
    pub(super) fn goes(self, axis: usize, kind: u32) -> Counts {
        let shift = Self::INDEX_BITS + 2 * axis as u32 + (kind >> 1);
        Counts {
            below: (self.below >> shift & 1) as usize,
            above: (self.above >> shift & 1) as usize,
        }
    }

    /// The same route when each half has some references before, as many as the indices of `first`. The sums of the indices stay in
    /// their bits.
    #[inline]
    pub(super) fn behind(self, first: Self) -> Self {
        Self::new(self.below + first.below, self.above + first.above)
    }
}

/// The most triangles that a tree can hold.
///
/// The index of a reference that a half does not have can be their number.
pub(super) const TRIANGLES_MAX: usize = (1 << Route::INDEX_BITS) - 1;

/// A triangle on both sides of the plane, and the boxes of its pieces.
#[derive(Debug, Clone, Copy)]
pub(super) struct Straddler {
    index: u32,
    below: Option<Extent>,
    above: Option<Extent>,
}

/// Something for each half of a cell.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct Halves<T> {
    pub(super) below: T,
    pub(super) above: T,
}

/// How many references each half gets.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct Counts {
    pub(super) below: usize,
    pub(super) above: usize,
}

impl Add for Counts {
    type Output = Self;

    fn add(self, other: Self) -> Self {
        Self {
            below: self.below + other.below,
            above: self.above + other.above,
        }
    }
}

/// The events that cutting made, per half and axis.
#[derive(Debug, Default)]
pub(super) struct Added {
    pub(super) below: [Vec<Event>; 3],
    pub(super) above: [Vec<Event>; 3],
}

impl Added {
    pub(super) fn clear(&mut self) {
        self.lists().for_each(Vec::clear);
    }

    /// Puts those of another stretch behind these; the references of that stretch have their numbers from `first` on.
    pub(super) fn append(&mut self, other: Self, first: Counts) {
        let halves = [
            (&mut self.below, other.below, first.below as u32),
            (&mut self.above, other.above, first.above as u32),
        ];
        for (lists, others, first) in halves {
            for (list, other) in lists.iter_mut().zip(others) {
                let moved = |event: Event| event.with_reference(event.reference() + first);
                list.extend(other.into_iter().map(moved));
            }
        }
    }

    /// All lists, in an order of their own.
    pub(super) fn lists(&mut self) -> impl Iterator<Item = &mut Vec<Event>> {
        self.below.iter_mut().chain(&mut self.above)
    }

    /// Brings the lists into order; those of the split axis are sorted as they are made.
    pub(super) fn sort(&mut self) {
        self.lists().for_each(|list| event::sort_few(list));
    }
}

/// Which halves a reference belongs to, going by its extent alone.
#[inline]
fn sides(extent: &Extent, plane: &Plane) -> (bool, bool) {
    let (low, high) = (extent.low[plane.axis], extent.high[plane.axis]);
    let planar = low == plane.position && high == plane.position;
    (
        low < plane.position || (planar && plane.planar_side == Side::Below),
        high > plane.position || (planar && plane.planar_side == Side::Above),
    )
}

/// Cuts the triangles that straddle the plane and counts what each half will hold.
///
/// `cell` is the box around all `references`, `triangles` the corners that their ids refer to. The straddlers
/// are put to the end of `straddlers`, with indices from `first` on. Cost: O(references).
pub(super) fn classify(
    cell: &Extent,
    references: &[Reference],
    first: usize,
    plane: &Plane,
    triangles: &[Corners],
    straddlers: &mut Vec<Straddler>,
) -> Counts {
    let mut counts = Counts::default();
    for (index, reference) in references.iter().enumerate() {
        let (below, above) = sides(&reference.extent, plane);
        counts.below += usize::from(below);
        counts.above += usize::from(above);
        if below && above {
            let (below, above) = clip::halves(
                &triangles[reference.triangle.triangle() as usize],
                &reference.extent,
                cell,
                plane.axis,
                plane.position,
            );
            counts.below -= usize::from(below.is_none());
            counts.above -= usize::from(above.is_none());
            straddlers.push(Straddler {
                index: (first + index) as u32,
                below,
                above,
            });
        }
    }
    counts
}

/// One half of a stretch of references while it is dealt out.
struct Half<'a> {
    references: &'a mut [Reference],
    added: &'a mut [Vec<Event>; 3],
    /// Index, within the half, of the first reference in `references`.
    first: usize,
    len: usize,
}

impl Half<'_> {
    /// Writes to where the next reference belongs; one too many goes nowhere.
    #[inline(always)]
    fn write(&mut self, reference: &Reference) {
        if let Some(slot) = self.references.get_mut(self.len) {
            *slot = *reference;
        }
    }

    /// Puts in the piece of a straddler, makes its new events, and returns the route of the old ones.
    fn put_piece(&mut self, whole: Reference, piece: Option<Extent>) -> u32 {
        let index = (self.first + self.len) as u32;
        let Some(extent) = piece else {
            return index;
        };
        let mut keep = 0;
        for axis in 0..3 {
            let old = (whole.extent.low[axis], whole.extent.high[axis]);
            let new = (extent.low[axis], extent.high[axis]);
            let added = &mut self.added[axis];
            if old == new {
                keep |= 0b11 << (2 * axis);
            } else if new.0 == new.1 {
                added.push(Event::new(new.0, Kind::Planar, index));
            } else {
                if new.0 == old.0 {
                    keep |= 0b10 << (2 * axis);
                } else {
                    added.push(Event::new(new.0, Kind::Start, index));
                }
                if new.1 == old.1 {
                    keep |= 0b01 << (2 * axis);
                } else {
                    added.push(Event::new(new.1, Kind::End, index));
                }
            }
        }
        self.write(&Reference {
            extent,
            triangle: whole.triangle,
        });
        self.len += 1;
        keep << Route::INDEX_BITS | index
    }
}

/// Where [`deal_references`] puts a stretch: a slice for each half, as long as [`classify`] counted, and the
/// index of its first reference within the half.
#[derive(Debug)]
pub(super) struct Dealt<'a> {
    pub(super) below: &'a mut [Reference],
    pub(super) above: &'a mut [Reference],
    pub(super) first: Counts,
    pub(super) added: &'a mut Added,
}

/// Deals a stretch of references to both halves and writes their routes.
///
/// `straddlers` are those of the stretch, `first` the index of its first reference in the cell.
pub(super) fn deal_references(
    references: &[Reference],
    first: usize,
    plane: &Plane,
    straddlers: &[Straddler],
    routes: &mut [Route],
    dealt: Dealt<'_>,
) {
    let Added { below, above } = dealt.added;
    let mut below = Half {
        references: dealt.below,
        added: below,
        first: dealt.first.below,
        len: 0,
    };
    let mut above = Half {
        references: dealt.above,
        added: above,
        first: dealt.first.above,
        len: 0,
    };
    let mut done = 0;
    for straddler in straddlers {
        let index = straddler.index as usize - first;
        deal_run(
            &references[done..index],
            plane,
            &mut routes[done..index],
            &mut below,
            &mut above,
        );
        let whole = references[index];
        let mut other = whole;
        if straddler.below.is_some() {
            other.triangle = whole.triangle.repeated();
        }
        let below = below.put_piece(whole, straddler.below);
        routes[index] = Route::new(below, above.put_piece(other, straddler.above));
        done = index + 1;
    }
    deal_run(
        &references[done..],
        plane,
        &mut routes[done..references.len()],
        &mut below,
        &mut above,
    );
}

/// Deals references that all lie on one side, without a branch: each is written to both halves, and only the
/// half that it belongs to moves on.
#[inline]
fn deal_run(
    references: &[Reference],
    plane: &Plane,
    routes: &mut [Route],
    below: &mut Half<'_>,
    above: &mut Half<'_>,
) {
    for (reference, route) in references.iter().zip(routes) {
        let (is_below, is_above) = sides(&reference.extent, plane);
        below.write(reference);
        above.write(reference);
        let word = |half: &Half<'_>, goes: bool| {
            (half.first + half.len) as u32 | (Route::KEEP_ALL * u32::from(goes))
        };
        *route = Route::new(word(below, is_below), word(above, is_above));
        below.len += usize::from(is_below);
        above.len += usize::from(is_above);
    }
}
