//! The pieces that split planes cut triangles into, and their lookup by [`Name`].
//!
//! Every list of a cell's triangles is copied again and again, level by level. So an entry of a
//! list is a single word, a [`Name`]: the index of a whole triangle in the mesh, or the number of a
//! piece of a triangle. The box of a triangle is needed only when a plane cuts the triangle. The
//! box of a whole triangle is computed from its corners; the box of a piece is stored in an arena.
//!
//! Arenas form a chain that follows the nesting of the cells. Pieces are numbered consecutively
//! from the root down, so an arena continues the numbering where the arena of the parent cell ends.

use std::sync::Arc;

use super::extent::Extent;
use super::names::{Name, Occurrence, Reference};
use crate::intersect::Corners;

/// The pieces that belong to a cell and to the cells below it.
#[derive(Debug, Default)]
pub(in crate::kdtree) struct Arena {
    above: Option<Arc<Self>>,
    /// The number of the first piece that is stored in this arena.
    first: usize,
    pieces: Vec<Reference>,
}

impl Arena {
    /// Creates an empty arena for the cells below the cell of `above`.
    pub(in crate::kdtree) fn below(above: &Arc<Self>) -> Self {
        Self {
            first: above.len(),
            above: Some(Arc::clone(above)),
            pieces: Vec::new(),
        }
    }

    /// Returns the number that the next piece will get.
    pub(in crate::kdtree) fn len(&self) -> usize {
        self.first + self.pieces.len()
    }

    /// Stores a piece and returns its name.
    #[inline]
    pub(in crate::kdtree) fn push(&mut self, piece: Reference) -> Name {
        let name = Name::piece(self.len());
        self.pieces.push(piece);
        name
    }

    /// Stores several pieces, which get consecutive numbers.
    pub(in crate::kdtree) fn extend(&mut self, pieces: impl IntoIterator<Item = Reference>) {
        self.pieces.extend(pieces);
    }

    /// Removes the pieces from number `len` on.
    ///
    /// All of them must be stored in this arena, not in one above it.
    pub(in crate::kdtree) fn truncate(&mut self, len: usize) {
        self.pieces.truncate(len - self.first);
    }

    /// Returns the pieces that are stored in this arena.
    pub(in crate::kdtree) fn into_pieces(self) -> Vec<Reference> {
        self.pieces
    }

    /// Looks up the reference of a name, given the corners of all triangles of the mesh.
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

    /// Returns the triangle of a name, in the form in which a leaf stores it.
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
    fn a_name_is_found_in_the_arena_that_stores_it() {
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
