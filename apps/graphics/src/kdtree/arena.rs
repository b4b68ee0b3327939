//! What cells call their triangles: names of one word; and the pieces that planes have cut some of them into.
//!
//! A cell's list says which triangles reach into it, and what becomes of a list is to be copied, level by level. So an entry is one word: the index
//! of a triangle in the mesh, or the number of a piece of one. Boxes are looked at only where a plane cuts a triangle; that of a whole one
//! comes from its corners, that of a piece is kept in an arena. Arenas hang on one another as cells do: pieces are numbered through from the root
//! on, and an arena goes on where that of the cell above ends.

use std::sync::Arc;

use super::cell::{Extent, Named, Reference};
use crate::intersect::Corners;

/// What a cell calls a triangle.
///
/// ```text
///  31    30                              0
/// ┌─────┬─────────────────────────────────┐
/// │ cut │ index of a triangle, or a piece │
/// └─────┴─────────────────────────────────┘
/// ```
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct Name(u32);

impl Name {
    const CUT: u32 = 1 << 31;

    /// The name of a triangle that no plane has cut.
    #[inline]
    pub(super) fn whole(triangle: u32) -> Self {
        debug_assert!(triangle < Self::CUT);
        Self(triangle)
    }

    /// The name of a piece.
    ///
    /// # Panics
    /// When there are 2^31 of them.
    #[inline]
    pub(super) fn piece(number: usize) -> Self {
        assert!(number < Self::CUT as usize, "too many pieces of triangles");
        Self(number as u32 | Self::CUT)
    }

    /// Whether a plane has cut the triangle.
    #[inline]
    pub(super) fn is_cut(self) -> bool {
        self.0 >= Self::CUT
    }

    /// The index of the triangle, or the number of the piece.
    pub(super) fn number(self) -> usize {
        (self.0 & !Self::CUT) as usize
    }
}

/// The pieces that the triangles of a cell and those below it are named by.
#[derive(Debug, Default)]
pub(super) struct Arena {
    above: Option<Arc<Self>>,
    /// The number of the first piece that is kept here.
    first: usize,
    pieces: Vec<Reference>,
}

impl Arena {
    /// An arena for what is below.
    pub(super) fn below(above: &Arc<Self>) -> Self {
        Self {
            first: above.len(),
            above: Some(Arc::clone(above)),
            pieces: Vec::new(),
        }
    }

    /// The number of the next piece.
    pub(super) fn len(&self) -> usize {
        self.first + self.pieces.len()
    }

    /// Keeps a piece and names it.
    #[inline]
    pub(super) fn push(&mut self, piece: Reference) -> Name {
        let name = Name::piece(self.len());
        self.pieces.push(piece);
        name
    }

    /// Keeps some pieces, which have the next numbers.
    pub(super) fn extend(&mut self, pieces: impl IntoIterator<Item = Reference>) {
        self.pieces.extend(pieces);
    }

    /// Forgets the pieces from some number on, all of which are kept here.
    pub(super) fn truncate(&mut self, len: usize) {
        self.pieces.truncate(len - self.first);
    }

    /// The pieces that are kept here.
    pub(super) fn into_pieces(self) -> Vec<Reference> {
        self.pieces
    }

    /// What has a name, among triangles with these corners.
    #[inline]
    pub(super) fn reference(&self, name: Name, triangles: &[Corners]) -> Reference {
        if name.is_cut() {
            return *self.look_up(name);
        }
        Reference {
            extent: Extent::of_triangle(&triangles[name.number()]),
            triangle: Named::first(name.0),
        }
    }

    /// Which triangle a name belongs to, as a leaf names it.
    #[inline]
    pub(super) fn named(&self, name: Name) -> Named {
        if name.is_cut() {
            self.look_up(name).triangle
        } else {
            Named::first(name.0)
        }
    }

    #[inline]
    fn look_up(&self, name: Name) -> &Reference {
        let number = name.number();
        let mut arena = self;
        while let (true, Some(above)) = (number < arena.first, &arena.above) {
            arena = above;
        }
        &arena.pieces[number - arena.first]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_is_found_in_whichever_arena_it_is() {
        let reference = |triangle| Reference {
            extent: Extent::ZERO,
            triangle: Named::first(triangle).repeated(),
        };
        let mut root = Arena::default();
        let first = root.push(reference(10));
        let root = Arc::new(root);
        let mut below = Arena::below(&root);
        let second = below.push(reference(20));
        let below = Arc::new(below);
        let mut lowest = Arena::below(&below);
        let third = lowest.push(reference(30));
        lowest.push(reference(40));
        lowest.truncate(3);
        let triangles = [first, second, third].map(|name| lowest.named(name).triangle());
        assert_eq!((triangles, lowest.len()), ([10, 20, 30], 3));
        let corners = [[[0.0; 3], [1.0; 3], [2.0; 3]]];
        let whole = lowest.reference(Name::whole(0), &corners);
        assert_eq!(whole.extent.high, [2.0; 3]);
        assert!(whole.triangle.is_first());
    }
}
