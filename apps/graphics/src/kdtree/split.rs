//! Dealing out triangles: each half of a cell gets the names of its own, in order, and each old one a [`Route`] for its events.
//!
//! Triangles that straddle the plane are cut: each half that a piece reaches into gets that, and where the piece's box is not that of the whole,
//! new events are made. Lists of events follow by [`super::deal`]. The work can be done on any stretch of the names by itself.
//!
//! # Source
//! Wald, Havran 2006 (see [`super`]), section 4.3; Choi et al. 2010 (see [`super::tasks`]), section 4 (`CopyTriangles`). Keeping those events of a
//! cut triangle that the cut did not move is ours.

use super::arena::{Arena, Name};
use super::cell::{Extent, Named, Reference};
use super::clip;
use super::lists::Lists;
use super::mark::Shorter;
use super::route::{Added, Counts, Fate, Route, Straddler};
use super::sweep::Plane;
use crate::intersect::Corners;

#[cfg(test)]
pub(super) mod tests;

/// The most triangles that a tree can hold.
pub(super) const TRIANGLES_MAX: usize = (1 << 26) - 1;

/// A cell that is split by a plane.
#[derive(Debug, Clone, Copy)]
pub(super) struct Split<'a> {
    pub(super) extent: &'a Extent,
    pub(super) plane: &'a Plane,
    pub(super) shorter: Shorter,
    /// The corners of all triangles of the mesh.
    pub(super) triangles: &'a [Corners],
}

/// Where dealing out puts what it makes, besides the names.
#[derive(Debug)]
pub(super) struct Dealt<'a> {
    pub(super) routes: &'a mut [Route],
    pub(super) straddlers: &'a mut Vec<Straddler>,
    pub(super) added: &'a mut Added,
    /// Knows the names, and keeps new pieces.
    pub(super) arena: &'a mut Arena,
}

/// The boxes of the pieces of a triangle.
struct Cut {
    whole: Reference,
    below: Option<Extent>,
    above: Option<Extent>,
}

impl Cut {
    /// The pieces as leaves name them: that below goes on being the first, if it is there.
    fn pieces(&self) -> [Option<Reference>; 2] {
        let piece = |extent: &Extent, triangle: Named| Reference {
            extent: *extent,
            triangle,
        };
        let whole = self.whole.triangle;
        let other = if self.below.is_some() {
            whole.repeated()
        } else {
            whole
        };
        [
            self.below.as_ref().map(|extent| piece(extent, whole)),
            self.above.as_ref().map(|extent| piece(extent, other)),
        ]
    }
}

impl Split<'_> {
    /// Deals out a stretch of names, the first of which has this index in the cell, by their marks. Cost: O(names).
    #[inline]
    pub(super) fn deal<L: Lists<Name>>(
        &self,
        names: &[Name],
        first: usize,
        marks: impl Fn(usize) -> u8,
        mut to: L,
        dealt: &mut Dealt<'_>,
    ) -> L {
        for (index, &name) in names.iter().enumerate() {
            let old = first + index;
            let Some(side) = self.shorter.side_of(marks(index)) else {
                dealt.routes[index] = Route::straddling(dealt.straddlers.len());
                to = self.put_pieces(name, old, to, dealt);
                continue;
            };
            let Counts { below, above } = to.lens();
            let new = if side == 0 { below } else { above };
            dealt.routes[index] = Route::new((old - new) as u32, side);
            to.put(side as usize, name);
        }
        to
    }

    #[cold]
    #[inline(never)]
    fn put_pieces<L: Lists<Name>>(
        &self,
        name: Name,
        old: usize,
        mut to: L,
        dealt: &mut Dealt<'_>,
    ) -> L {
        let cut = self.cut(dealt.arena.reference(name, self.triangles));
        let [piece_below, piece_above] = cut.pieces();
        let Counts { below, above } = to.lens();
        let arena = &mut *dealt.arena;
        let mut put = |half, index: usize, piece: Option<Reference>, added| {
            piece.map_or(Fate::NONE, |piece| {
                to.put(half, arena.push(piece));
                let indices = (old as u32, index as u32);
                Fate::of_piece(&cut.whole.extent, &piece.extent, indices, added)
            })
        };
        let fates = Straddler {
            below: put(0, below, piece_below, &mut dealt.added.below),
            above: put(1, above, piece_above, &mut dealt.added.above),
        };
        dealt.straddlers.push(fates);
        to
    }

    fn cut(&self, whole: Reference) -> Cut {
        let (below, above) = clip::halves(
            &self.triangles[whole.triangle.triangle() as usize],
            &whole.extent,
            self.extent,
            self.plane.axis,
            self.plane.position,
        );
        Cut {
            whole,
            below,
            above,
        }
    }

    /// Deals out all names of a cell to two leaves: puts the triangles of the one below and then those of the one above to the end of `entries`.
    /// Returns how many each got, of at most `room`. Cost: O(names).
    pub(super) fn deal_to_leaves(
        &self,
        names: &[Name],
        marks: &[u8],
        room: Counts,
        arena: &Arena,
        entries: &mut Vec<Named>,
    ) -> Counts {
        let first = entries.len();
        entries.resize(first + room.below + room.above, Named::default());
        let lists = &mut entries[first..];
        let (mut below, mut above) = (0, room.below);
        for (&name, &mark) in names.iter().zip(marks) {
            let Some(side) = self.shorter.side_of(mark) else {
                let [piece_below, piece_above] = self.reaches(name, arena);
                if let Some(named) = piece_below {
                    lists[below] = named;
                    below += 1;
                }
                if let Some(named) = piece_above {
                    lists[above] = named;
                    above += 1;
                }
                continue;
            };
            lists[if side == 0 { below } else { above }] = arena.named(name);
            above += side as usize;
            below += 1 - side as usize;
        }
        // Where a piece below has vanished, the list above moves up.
        if below < room.below {
            lists.copy_within(room.below..above, below);
        }
        let counts = Counts {
            below,
            above: above - room.below,
        };
        entries.truncate(first + counts.below + counts.above);
        counts
    }

    /// What a straddler is called in the halves that it reaches into.
    #[inline]
    fn reaches(&self, name: Name, arena: &Arena) -> [Option<Named>; 2] {
        if !name.is_cut() {
            // All of it is in the cell, so that it has corners in both halves: nothing of it can vanish.
            let named = arena.named(name);
            return [Some(named), Some(named.repeated())];
        }
        self.reaches_of_piece(name, arena)
    }

    #[cold]
    #[inline(never)]
    fn reaches_of_piece(&self, name: Name, arena: &Arena) -> [Option<Named>; 2] {
        let whole = arena.reference(name, self.triangles);
        // Nor can anything of a piece that keeps clear of the cell's border: that piece ends in corners too.
        if self.extent.is_around(&whole.extent) {
            return [Some(whole.triangle), Some(whole.triangle.repeated())];
        }
        let pieces = self.cut(whole).pieces();
        pieces.map(|piece| piece.map(|piece| piece.triangle))
    }
}
