//! Cells on their way to becoming nodes: a box, the triangles that reach into it, and their events.

use std::sync::Arc;

use raddle::ChunkedArray;

use super::arena::Arena;
use super::event::Event;
use super::extent::Extent;
use super::names::Name;

/// What is known of a cell, wherever its lists are kept.
#[derive(Debug, Clone, Copy)]
pub(in crate::kdtree) struct Cell<'a> {
    pub(in crate::kdtree) extent: Extent,
    pub(in crate::kdtree) names: &'a [Name],
    /// Per axis, sorted. The references in them are indices in `names`.
    pub(in crate::kdtree) events: [&'a [Event]; 3],
}

/// A cell that owns its lists.
#[derive(Debug, Clone)]
pub(in crate::kdtree) struct OwnedCell {
    pub(in crate::kdtree) extent: Extent,
    pub(in crate::kdtree) names: Vec<Name>,
    pub(in crate::kdtree) events: [Vec<Event>; 3],
    /// Knows the names.
    pub(in crate::kdtree) arena: Arc<Arena>,
}

/// A cell that several work on: what each of them has made of its lists is a chunk.
#[derive(Debug)]
pub(in crate::kdtree) struct SharedCell {
    pub(in crate::kdtree) extent: Extent,
    pub(in crate::kdtree) names: ChunkedArray<Name>,
    pub(in crate::kdtree) events: [ChunkedArray<Event>; 3],
    /// Knows the names.
    pub(in crate::kdtree) arena: Arc<Arena>,
    /// The lists came along with the build and go with it: the next one brings its own.
    pub(in crate::kdtree) is_external: bool,
}

impl SharedCell {
    /// The root of a build.
    pub(in crate::kdtree) fn root(cell: OwnedCell) -> Self {
        Self {
            is_external: true,
            ..cell.into()
        }
    }

    /// The triangles.
    pub(in crate::kdtree) fn len(&self) -> usize {
        self.names.len()
    }
}

impl From<OwnedCell> for SharedCell {
    fn from(cell: OwnedCell) -> Self {
        Self {
            extent: cell.extent,
            names: ChunkedArray::from_chunks([cell.names]),
            events: cell
                .events
                .map(|events| ChunkedArray::from_chunks([events])),
            arena: cell.arena,
            is_external: false,
        }
    }
}
