//! Cells that are still to become nodes: a box, the triangles that reach into it, and their events.
//!
//! The same content exists in three forms. [`Cell`] borrows its lists, [`OwnedCell`] owns each list
//! as one vector, and [`SharedCell`] has lists in chunks, since several tasks have written them.

use std::sync::Arc;

use raddle::ChunkedArray;

use super::arena::Arena;
use super::event::Event;
use super::extent::Extent;
use super::names::Name;

/// A cell that borrows its lists.
#[derive(Debug, Clone, Copy)]
pub(in crate::kdtree) struct Cell<'a> {
    pub(in crate::kdtree) extent: Extent,
    pub(in crate::kdtree) names: &'a [Name],
    /// One sorted list per axis. The references in the events are indices into `names`.
    pub(in crate::kdtree) events: [&'a [Event]; 3],
}

/// A cell that owns its lists.
#[derive(Debug, Clone)]
pub(in crate::kdtree) struct OwnedCell {
    pub(in crate::kdtree) extent: Extent,
    pub(in crate::kdtree) names: Vec<Name>,
    pub(in crate::kdtree) events: [Vec<Event>; 3],
    /// The arena that holds the triangles' names.
    pub(in crate::kdtree) arena: Arc<Arena>,
}

/// A cell that several tasks work on. Each chunk of its lists is the output of one task.
#[derive(Debug)]
pub(in crate::kdtree) struct SharedCell {
    pub(in crate::kdtree) extent: Extent,
    pub(in crate::kdtree) names: ChunkedArray<Name>,
    pub(in crate::kdtree) events: [ChunkedArray<Event>; 3],
    /// The arena that holds the triangles' names.
    pub(in crate::kdtree) arena: Arc<Arena>,
    /// True if the lists were passed in with the build. Such lists are not kept for the next build,
    /// which brings lists of its own.
    pub(in crate::kdtree) is_external: bool,
}

impl SharedCell {
    /// Creates the root of a build.
    pub(in crate::kdtree) fn root(cell: OwnedCell) -> Self {
        Self {
            is_external: true,
            ..cell.into()
        }
    }

    /// Returns the number of references.
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
