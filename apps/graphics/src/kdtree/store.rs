//! Buffers for the lists of cells, which go from one cell to the next, and from one build to the next.
//!
//! Memory that is fresh from the system costs more to touch than events cost to deal out. So a cell's lists are taken from a shelf of the worker
//! that fills them, and are put on one by who has read them; after the first cells there is enough on every shelf.
//!
//! # Source
//! Mei, Zheng, Gioachin, Kalé: Optimizing a parallel runtime system for multicore clusters. TeraGrid 2010, section 4: memory comes from the thread
//! that uses it. That lists are kept, not single objects, is ours.

use std::sync::{Mutex, MutexGuard, PoisonError};

use raddle::ChunkedArray;
use raddle_sync::CachePadded;

use super::arena::Name;
use super::cell::{OwnedCell, SharedCell};
use super::event::Event;
use super::mark::SharedMarks;
use super::route::Route;
use super::sequential::{Stack, Workspace};

/// Buffers that a worker keeps; the smallest go first.
const BUFFERS_MAX: usize = 64;

/// The shelves of all workers.
#[derive(Debug)]
pub(super) struct Store {
    shelves: Vec<CachePadded<Shelves>>,
}

#[derive(Debug, Default)]
struct Shelves {
    events: Shelf<Event>,
    names: Shelf<Name>,
    routes: Shelf<Route>,
    bytes: Shelf<u8>,
    marks: Mutex<Vec<SharedMarks>>,
    workspaces: Mutex<Vec<Workspace>>,
}

impl Store {
    pub(super) fn new(worker_count: usize) -> Self {
        Self {
            shelves: (0..worker_count).map(|_| CachePadded::default()).collect(),
        }
    }

    /// Those of this worker; of some worker for others.
    fn here(&self) -> &Shelves {
        let worker = raddle::worker_index().unwrap_or_default();
        &self.shelves[worker % self.shelves.len()]
    }

    /// An empty buffer with room for so many events.
    pub(super) fn events(&self, room: usize) -> Vec<Event> {
        self.here().events.take(room)
    }

    /// An empty buffer with room for so many names.
    pub(super) fn names(&self, room: usize) -> Vec<Name> {
        self.here().names.take(room)
    }

    /// An empty buffer with room for so many bytes.
    pub(super) fn bytes(&self, room: usize) -> Vec<u8> {
        self.here().bytes.take(room)
    }

    pub(super) fn put_bytes(&self, bytes: Vec<u8>) {
        self.here().bytes.put(bytes);
    }

    pub(super) fn put_names(&self, names: Vec<Name>) {
        self.here().names.put(names);
    }

    /// Marks, all clear.
    pub(super) fn marks(&self) -> SharedMarks {
        open(&self.here().marks).pop().unwrap_or_default()
    }

    /// Takes marks that are all clear.
    pub(super) fn put_marks(&self, marks: SharedMarks) {
        open(&self.here().marks).push(marks);
    }

    /// Takes memory for the first build that is done by one worker; later ones have what that leaves.
    pub(super) fn put_first(&self, lists: Stack) {
        let mut workspaces = open(&self.here().workspaces);
        if workspaces.is_empty() {
            workspaces.push(Workspace::within(lists));
        }
    }

    /// Takes memory that nobody needs.
    pub(super) fn put_stack(&self, stack: Stack) {
        let shelves = self.here();
        shelves.names.put(stack.names);
        for events in stack.events {
            shelves.events.put(events);
        }
    }

    /// An empty buffer with room for so many routes.
    pub(super) fn routes(&self, room: usize) -> Vec<Route> {
        self.here().routes.take(room)
    }

    /// What a sequential build needs.
    pub(super) fn workspace(&self) -> Workspace {
        open(&self.here().workspaces).pop().unwrap_or_default()
    }

    pub(super) fn put_workspace(&self, workspace: Workspace) {
        open(&self.here().workspaces).push(workspace);
    }

    pub(super) fn put_events(&self, events: Vec<Event>) {
        self.here().events.put(events);
    }

    pub(super) fn put_routes(&self, routes: Vec<Route>) {
        self.here().routes.put(routes);
    }

    /// A cell with lists in one piece. Those that are not are copied.
    pub(super) fn in_one_piece(&self, cell: SharedCell) -> OwnedCell {
        let shelves = self.here();
        OwnedCell {
            extent: cell.extent,
            names: shelves.names.join(cell.names),
            events: cell.events.map(|events| shelves.events.join(events)),
            arena: cell.arena,
        }
    }

    /// Takes the lists of a cell, unless they were brought along.
    pub(super) fn put_cell(&self, cell: SharedCell) {
        if cell.is_brought {
            return;
        }
        let shelves = self.here();
        shelves.names.put_chunks(cell.names);
        for events in cell.events {
            shelves.events.put_chunks(events);
        }
    }
}

/// Buffers of one kind, the smallest first.
#[derive(Debug)]
struct Shelf<T>(Mutex<Vec<Vec<T>>>);

impl<T> Default for Shelf<T> {
    fn default() -> Self {
        Self(Mutex::default())
    }
}

impl<T: Copy> Shelf<T> {
    /// The smallest buffer with so much room.
    fn take(&self, room: usize) -> Vec<T> {
        let mut buffers = open(&self.0);
        let first = buffers.partition_point(|buffer| buffer.capacity() < room);
        if first < buffers.len() {
            return buffers.remove(first);
        }
        drop(buffers);
        Vec::with_capacity(room)
    }

    fn put(&self, mut buffer: Vec<T>) {
        buffer.clear();
        if buffer.capacity() == 0 {
            return;
        }
        let mut buffers = open(&self.0);
        let place = buffers.partition_point(|other| other.capacity() < buffer.capacity());
        buffers.insert(place, buffer);
        if buffers.len() > BUFFERS_MAX {
            buffers.remove(0);
        }
    }

    /// Makes one buffer of several.
    fn join(&self, chunks: ChunkedArray<T>) -> Vec<T> {
        if chunks.chunks().filter(|chunk| !chunk.is_empty()).count() < 2 {
            return chunks.into_vec();
        }
        let mut all = self.take(chunks.len());
        for chunk in chunks.into_chunks() {
            all.extend_from_slice(&chunk);
            self.put(chunk);
        }
        all
    }

    fn put_chunks(&self, chunks: ChunkedArray<T>) {
        for chunk in chunks.into_chunks() {
            self.put(chunk);
        }
    }
}

/// Buffers are scratch memory: what a panic left in them does not matter.
fn open<T>(shelf: &Mutex<T>) -> MutexGuard<'_, T> {
    shelf.lock().unwrap_or_else(PoisonError::into_inner)
}
