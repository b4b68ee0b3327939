//! The phase `CopyTriangles`: distributes the triangles of a cell to its halves. Each half gets the
//! names of its triangles in order, and each triangle of the cell gets a [`Route`] for its events.
//!
//! A triangle that straddles the plane is cut, and each half gets the piece that reaches into it.
//! If the box of a piece differs from the box of the whole, new events are generated. The lists of
//! events are distributed afterwards, by [`super::copy_events`]. Any stretch of the names can be
//! processed on its own.
//!
//! # Source
//! Wald, Havran 2006 (see [`crate::kdtree`]), section 4.3; Choi et al. 2010 (see [`super`]),
//! section 4. Keeping the events of a cut triangle that the cut did not move is our own addition.

use super::clip;
use super::lists::Lists;
use super::mark::Shorter;
use super::route::{Added, Counts, PieceRoute, Route, Straddler};
use crate::intersect::Corners;
use crate::kdtree::cells::arena::Arena;
use crate::kdtree::cells::extent::Extent;
use crate::kdtree::cells::names::{Name, Occurrence, Reference};
use crate::kdtree::cost::plane::Plane;

#[cfg(test)]
pub(in crate::kdtree) mod tests;

/// A cell and the plane that splits it.
#[derive(Debug, Clone, Copy)]
pub(in crate::kdtree) struct Split<'a> {
    pub(in crate::kdtree) extent: &'a Extent,
    pub(in crate::kdtree) plane: &'a Plane,
    pub(in crate::kdtree) shorter: Shorter,
    /// The corners of all triangles of the mesh.
    pub(in crate::kdtree) triangles: &'a [Corners],
}

/// The output of the phase, apart from the names.
#[derive(Debug)]
pub(in crate::kdtree) struct SplitOutput<'a> {
    pub(in crate::kdtree) routes: &'a mut [Route],
    pub(in crate::kdtree) straddlers: &'a mut Vec<Straddler>,
    pub(in crate::kdtree) added: &'a mut Added,
    /// The arena that holds the names, and that stores the new pieces.
    pub(in crate::kdtree) arena: &'a mut Arena,
}

/// A triangle and the boxes of its pieces.
struct Cut {
    whole: Reference,
    below: Option<Extent>,
    above: Option<Extent>,
}

impl Cut {
    /// Returns the pieces. The piece below stays the first occurrence of the triangle; if there is
    /// none, the piece above does.
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
    /// Distributes a stretch of names by their marks. `first` is the index of the first name in the
    /// cell. Takes O(names) time.
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

    /// Distributes all names of a cell to two leaves: appends the triangles of the leaf below and
    /// then those of the leaf above to `entries`.
    ///
    /// `counts_max` is an upper limit for the number of triangles of each leaf. Returns the actual
    /// numbers. Takes O(names) time.
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
        // If a piece below was empty, the list above moves down to close the gap.
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

    /// Returns the occurrences of a straddling triangle in the halves that it reaches into.
    #[inline]
    fn reaches(&self, name: Name, arena: &Arena) -> [Option<Occurrence>; 2] {
        if !name.is_cut() {
            // The whole triangle lies in the cell, so it has corners in both halves and neither
            // piece can be empty.
            let occurrence = arena.occurrence(name);
            return [Some(occurrence), Some(occurrence.repeated())];
        }
        self.reaches_of_piece(name, arena)
    }

    #[cold]
    #[inline(never)]
    fn reaches_of_piece(&self, name: Name, arena: &Arena) -> [Option<Occurrence>; 2] {
        let whole = arena.reference(name, self.triangles);
        // A piece that does not touch the border of the cell also has corners in both halves, so
        // neither part can be empty.
        if self.extent.is_around(&whole.extent) {
            return [Some(whole.triangle), Some(whole.triangle.repeated())];
        }
        let pieces = self.cut(whole).pieces();
        pieces.map(|piece| piece.map(|piece| piece.triangle))
    }
}
