//! Dealing out triangles: each half of a cell gets the names of its own, in order, and each old one a [`Route`] for its events.
//!
//! Triangles that straddle the plane are cut: each half that a piece reaches into gets that, and where the piece's box is not that of the whole,
//! new events are made. Lists of events follow by [`super::deal`]. The work can be done on any stretch of the names by itself.
//!
//! # Source
//! Wald, Havran 2006 (see [`super`]), section 4.3; Choi et al. 2010 (see [`super::tasks`]), section 4 (`CopyTriangles`). Keeping those events of a
//! cut triangle that the cut did not move is ours.

use super::clip;
use super::lists::Lists;
use super::mark::Shorter;
use super::route::{Added, Counts, PieceRoute, Route, Straddler};
use crate::intersect::Corners;
use crate::kdtree::cells::arena::Arena;
use crate::kdtree::cells::extent::Extent;
use crate::kdtree::cells::names::Name;
use crate::kdtree::cells::names::{Occurrence, Reference};
use crate::kdtree::cost::plane::Plane;

#[cfg(test)]
pub(in crate::kdtree) mod tests;

/// A cell that is split by a plane.
#[derive(Debug, Clone, Copy)]
pub(in crate::kdtree) struct Split<'a> {
    pub(in crate::kdtree) extent: &'a Extent,
    pub(in crate::kdtree) plane: &'a Plane,
    pub(in crate::kdtree) shorter: Shorter,
    /// The corners of all triangles of the mesh.
    pub(in crate::kdtree) triangles: &'a [Corners],
}

/// Where dealing out puts what it makes, besides the names.
#[derive(Debug)]
pub(in crate::kdtree) struct SplitOutput<'a> {
    pub(in crate::kdtree) routes: &'a mut [Route],
    pub(in crate::kdtree) straddlers: &'a mut Vec<Straddler>,
    pub(in crate::kdtree) added: &'a mut Added,
    /// Knows the names, and keeps new pieces.
    pub(in crate::kdtree) arena: &'a mut Arena,
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
        let piece = |extent: &Extent, triangle: Occurrence| Reference {
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
    pub(in crate::kdtree) fn distribute<L: Lists<Name>>(
        &self,
        names: &[Name],
        first: usize,
        marks: impl Fn(usize) -> u8,
        mut to: L,
        output: &mut SplitOutput<'_>,
    ) -> L {
        for (index, &name) in names.iter().enumerate() {
            let old = first + index;
            let Some(side) = self.shorter.side_of(marks(index)) else {
                output.routes[index] = Route::straddling(output.straddlers.len());
                to = self.put_pieces(name, old, to, output);
                continue;
            };
            let Counts { below, above } = to.lens();
            let new = if side == 0 { below } else { above };
            output.routes[index] = Route::new((old - new) as u32, side);
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
        output: &mut SplitOutput<'_>,
    ) -> L {
        let cut = self.cut(output.arena.reference(name, self.triangles));
        let [piece_below, piece_above] = cut.pieces();
        let Counts { below, above } = to.lens();
        let arena = &mut *output.arena;
        let mut put = |half, index: usize, piece: Option<Reference>, added| {
            piece.map_or(PieceRoute::NONE, |piece| {
                to.put(half, arena.push(piece));
                let indices = (old as u32, index as u32);
                PieceRoute::of_piece(&cut.whole.extent, &piece.extent, indices, added)
            })
        };
        let straddler = Straddler {
            below: put(0, below, piece_below, &mut output.added.below),
            above: put(1, above, piece_above, &mut output.added.above),
        };
        output.straddlers.push(straddler);
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
    pub(in crate::kdtree) fn distribute_to_leaves(
        &self,
        names: &[Name],
        marks: &[u8],
        counts_max: Counts,
        arena: &Arena,
        entries: &mut Vec<Occurrence>,
    ) -> Counts {
        let first = entries.len();
        entries.resize(
            first + counts_max.below + counts_max.above,
            Occurrence::default(),
        );
        let lists = &mut entries[first..];
        let (mut below, mut above) = (0, counts_max.below);
        for (&name, &mark) in names.iter().zip(marks) {
            let Some(side) = self.shorter.side_of(mark) else {
                let [piece_below, piece_above] = self.reaches(name, arena);
                if let Some(occurrence) = piece_below {
                    lists[below] = occurrence;
                    below += 1;
                }
                if let Some(occurrence) = piece_above {
                    lists[above] = occurrence;
                    above += 1;
                }
                continue;
            };
            lists[if side == 0 { below } else { above }] = arena.occurrence(name);
            above += side as usize;
            below += 1 - side as usize;
        }
        // Where a piece below has vanished, the list above moves up.
        if below < counts_max.below {
            lists.copy_within(counts_max.below..above, below);
        }
        let counts = Counts {
            below,
            above: above - counts_max.below,
        };
        entries.truncate(first + counts.below + counts.above);
        counts
    }

    /// What a straddler is called in the halves that it reaches into.
    #[inline]
    fn reaches(&self, name: Name, arena: &Arena) -> [Option<Occurrence>; 2] {
        if !name.is_cut() {
            // All of it is in the cell, so that it has corners in both halves: nothing of it can vanish.
            let occurrence = arena.occurrence(name);
            return [Some(occurrence), Some(occurrence.repeated())];
        }
        self.reaches_of_piece(name, arena)
    }

    #[cold]
    #[inline(never)]
    fn reaches_of_piece(&self, name: Name, arena: &Arena) -> [Option<Occurrence>; 2] {
        let whole = arena.reference(name, self.triangles);
        // Nor can anything of a piece that keeps clear of the cell's border: that piece ends in corners too.
        if self.extent.is_around(&whole.extent) {
            return [Some(whole.triangle), Some(whole.triangle.repeated())];
        }
        let pieces = self.cut(whole).pieces();
        pieces.map(|piece| piece.map(|piece| piece.triangle))
    }
}
