//! What cells call their triangles: names of one word; and the pieces that planes have cut some of them into.
//!
//! A cell's list says which triangles reach into it, and what becomes of a list is to be copied, level by level. So an entry is one word: the index
//! of a triangle in the mesh, or the number of a piece of one. Boxes are looked at only where a plane cuts a triangle; that of a whole one
//! comes from its corners, that of a piece is kept in an arena. Arenas hang on one another as cells do: pieces are numbered through from the root
//! on, and an arena goes on where that of the cell above ends.

use std::sync::Arc;

use super::extent::Extent;
use super::names::{Name, Occurrence, Reference};
use crate::intersect::Corners;

/// The pieces that the triangles of a cell and those below it are named by.
#[derive(Debug, Default)]
pub(in crate::kdtree) struct Arena {
    above: Option<Arc<Self>>,
    /// The number of the first piece that is kept here.
    first: usize,
    pieces: Vec<Reference>,
}

impl Arena {
    /// An arena for what is below.
    pub(in crate::kdtree) fn below(above: &Arc<Self>) -> Self {
        Self {
            first: above.len(),
            above: Some(Arc::clone(above)),
            pieces: Vec::new(),
        }
    }

    /// The number of the next piece.
    pub(in crate::kdtree) fn len(&self) -> usize {
        self.first + self.pieces.len()
    }

    /// Keeps a piece and names it.
    #[inline]
    pub(in crate::kdtree) fn push(&mut self, piece: Reference) -> Name {
        let name = Name::piece(self.len());
        self.pieces.push(piece);
        name
    }

    /// Keeps some pieces, which have the next numbers.
    pub(in crate::kdtree) fn extend(&mut self, pieces: impl IntoIterator<Item = Reference>) {
        self.pieces.extend(pieces);
    }

    /// Forgets the pieces from some number on, all of which are kept here.
    pub(in crate::kdtree) fn truncate(&mut self, len: usize) {
        self.pieces.truncate(len - self.first);
    }

    /// The pieces that are kept here.
    pub(in crate::kdtree) fn into_pieces(self) -> Vec<Reference> {
        self.pieces
    }

    /// What has a name, among triangles with these corners.
    #[inline]
    pub(in crate::kdtree) fn reference(&self, name: Name, triangles: &[Corners]) -> Reference {
        if name.is_cut() {
            return *self.look_up(name);
        }
        Reference {
            extent: Extent::of_triangle(&triangles[name.number()]),
            triangle: name.first_occurrence(),
        }
    }

    /// Which triangle a name belongs to, as a leaf names it.
    #[inline]
    pub(in crate::kdtree) fn occurrence(&self, name: Name) -> Occurrence {
        if name.is_cut() {
            self.look_up(name).triangle
        } else {
            name.first_occurrence()
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
            triangle: Occurrence::first(triangle).repeated(),
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
        let triangles = [first, second, third].map(|name| lowest.occurrence(name).triangle());
        assert_eq!((triangles, lowest.len()), ([10, 20, 30], 3));
        let corners = [[[0.0; 3], [1.0; 3], [2.0; 3]]];
        let whole = lowest.reference(Name::whole(0), &corners);
        assert_eq!(whole.extent.high, [2.0; 3]);
        assert!(whole.triangle.is_first());
    }
}
