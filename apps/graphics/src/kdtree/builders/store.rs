//! Buffers for the lists of cells, which are reused from cell to cell and from build to build.
//!
//! Touching memory that is fresh from the system costs more than distributing events. So the list
//! of a cell is taken from a shelf of the worker that fills it, otherwise from another worker's
//! shelf. The worker that has read the list puts it on one of its own shelves. After the first
//! cells there are enough buffers.
//!
//! All shelves together keep a bounded number of bytes per triangle of a build. When a returned
//! buffer exceeds the bound, either smaller buffers of the same kind on the same shelf or the
//! buffer itself are freed.
//!
//! # Source
//! Mei, Zheng, Gioachin, Kalé: Optimizing a parallel runtime system for multicore clusters.
//! TeraGrid 2010, section 4: memory comes from the thread that uses it. Keeping whole lists instead
//! of single objects is our own addition.

use std::mem;
use std::sync::{Mutex, MutexGuard, PoisonError};

use raddle::ChunkedArray;
use raddle_sync::CachePadded;
use raddle_sync::prim::{AtomicUsize, Relaxed};

use super::workspace::Workspace;
use crate::kdtree::cells::cell::{OwnedCell, SharedCell};
use crate::kdtree::cells::event::Event;
use crate::kdtree::cells::names::Name;
use crate::kdtree::cells::stack::Stack;
use crate::kdtree::phases::mark::SharedMarks;
use crate::kdtree::phases::route::Route;

/// The number of bytes that are kept per triangle: enough for the lists of all cells of a level and
/// of the next, and for the workspaces of sequential builds at the same time.
const BYTES_PER_TRIANGLE: usize = 300;
/// Smaller buffers are not kept. For these sizes the allocator reuses memory that is not fresh.
const BYTES_MIN: usize = 16 * 1024;

/// The shelves of all workers.
#[derive(Debug)]
pub(super) struct Store {
    shelves: Vec<CachePadded<Shelves>>,
    /// The number of bytes on all shelves.
    kept: AtomicUsize,
    /// The maximum number of bytes on all shelves.
    limit: AtomicUsize,
    /// Cells that are no longer needed, with lists that were passed in with a build. The next
    /// builds bring their own.
    external_cells: Mutex<Vec<SharedCell>>,
}

#[derive(Debug, Default)]
struct Shelves {
    events: Shelf<Vec<Event>>,
    names: Shelf<Vec<Name>>,
    routes: Shelf<Vec<Route>>,
    bytes: Shelf<Vec<u8>>,
    marks: Shelf<SharedMarks>,
    workspaces: Shelf<Workspace>,
}

/// Memory that can be kept on a shelf.
pub(super) trait Buffer: Sized {
    /// Returns the size of the memory in bytes.
    fn byte_count(&self) -> usize;
}

impl<T> Buffer for Vec<T> {
    fn byte_count(&self) -> usize {
        self.capacity() * size_of::<T>()
    }
}

impl Buffer for SharedMarks {
    fn byte_count(&self) -> usize {
        Self::byte_count(self)
    }
}

/// An element of the lists.
pub(super) trait Item: Copy {
    /// Returns the shelf for lists of this element.
    #[expect(private_interfaces, reason = "shelves are for the store alone")]
    fn shelf(shelves: &Shelves) -> &Shelf<Vec<Self>>;
}

/// Assigns a shelf to each element type.
macro_rules! shelved {
    ($($item:ty: $shelf:ident),+) => {$(
        impl Item for $item {
            #[expect(private_interfaces, reason = "shelves are for the store alone")]
            fn shelf(shelves: &Shelves) -> &Shelf<Vec<Self>> {
                &shelves.$shelf
            }
        }
    )+};
}

shelved!(Event: events, Name: names, Route: routes, u8: bytes);

impl Store {
    /// Creates a store for `worker_count` workers. It keeps nothing until it
    /// [expects](Self::expect) a build.
    pub(super) fn new(worker_count: usize) -> Self {
        Self {
            shelves: (0..worker_count).map(|_| CachePadded::default()).collect(),
            kept: AtomicUsize::new(0),
            limit: AtomicUsize::new(0),
            external_cells: Mutex::default(),
        }
    }

    /// Sets the limit for a build of `triangle_count` triangles. Frees all buffers if earlier
    /// builds have left more than that.
    pub(super) fn expect(&self, triangle_count: usize) {
        let limit = triangle_count * BYTES_PER_TRIANGLE;
        // Relaxed, here and below: limits and counters, which affect only the amount of memory.
        self.limit.store(limit, Relaxed);
        if self.kept.load(Relaxed) > limit {
            for shelves in &self.shelves {
                let Shelves {
                    events,
                    names,
                    routes,
                    bytes,
                    marks,
                    workspaces,
                } = &**shelves;
                let gone = [
                    events.clear(),
                    names.clear(),
                    routes.clear(),
                    bytes.clear(),
                    marks.clear(),
                    workspaces.clear(),
                ];
                self.kept.fetch_sub(gone.iter().sum(), Relaxed);
            }
        }
    }

    /// Returns the shelves of this worker, then those of the others. A thread that is not a worker
    /// begins with those of some worker.
    fn shelves(&self) -> impl Iterator<Item = &Shelves> {
        let worker = raddle::worker_index().unwrap_or_default() % self.shelves.len();
        let (before, from) = self.shelves.split_at(worker);
        from.iter().chain(before).map(|shelves| &**shelves)
    }

    fn here(&self) -> &Shelves {
        self.shelves().next().expect("every worker has shelves")
    }

    /// Takes a buffer from the first shelf that has one.
    fn find<B: Buffer>(&self, take: impl Fn(&Shelves) -> Option<B>) -> Option<B> {
        let found = self.shelves().find_map(take)?;
        self.kept.fetch_sub(found.byte_count(), Relaxed);
        Some(found)
    }

    /// Keeps a buffer unless it is too small. If the limit is exceeded, frees smaller buffers of
    /// that shelf, or else the buffer itself.
    fn keep<B: Buffer>(&self, buffer: B, shelf: &Shelf<B>) {
        let bytes = buffer.byte_count();
        if bytes < BYTES_MIN {
            return;
        }
        let limit = self.limit.load(Relaxed);
        let mut kept = self.kept.fetch_add(bytes, Relaxed) + bytes;
        while kept > limit {
            let gone = shelf
                .take_smaller(bytes)
                .map_or(bytes, |gone| gone.byte_count());
            kept = self.kept.fetch_sub(gone, Relaxed) - gone;
            if gone == bytes {
                return;
            }
        }
        shelf.put(buffer);
    }

    /// Returns an empty buffer with space for at least `capacity` items.
    pub(super) fn take<T: Item>(&self, capacity: usize) -> Vec<T> {
        let bytes = capacity * size_of::<T>();
        if bytes < BYTES_MIN {
            return Vec::with_capacity(capacity);
        }
        self.find(|shelves| T::shelf(shelves).take(bytes))
            .unwrap_or_else(|| Vec::with_capacity(capacity))
    }

    /// Takes back a buffer that is no longer needed.
    pub(super) fn put<T: Item>(&self, mut buffer: Vec<T>) {
        buffer.clear();
        self.keep(buffer, T::shelf(self.here()));
    }

    /// Takes back all lists of a stack, as [`put`](Self::put) does.
    pub(super) fn put_stack(&self, stack: Stack) {
        self.put(stack.names);
        stack.events.into_iter().for_each(|events| self.put(events));
    }

    /// Takes back the lists of a cell. Lists that were passed in with the build are set aside.
    pub(super) fn put_cell(&self, cell: SharedCell) {
        if cell.is_external {
            open(&self.external_cells).push(cell);
            return;
        }
        self.put_chunks(cell.names);
        cell.events
            .into_iter()
            .for_each(|events| self.put_chunks(events));
    }

    fn put_chunks<T: Item>(&self, chunks: ChunkedArray<T>) {
        for chunk in chunks.into_chunks() {
            self.put(chunk);
        }
    }

    /// Frees the lists that were set aside. This is not part of the build, so the caller calls it
    /// after measuring the time.
    pub(super) fn free_external_cells(&self) {
        let external_cells = mem::take(&mut *open(&self.external_cells));
        drop(external_cells);
    }

    /// Returns marks, which are all clear.
    pub(super) fn marks(&self) -> SharedMarks {
        self.find(|shelves| shelves.marks.take_largest())
            .unwrap_or_default()
    }

    /// Takes back marks, which must all be clear.
    pub(super) fn put_marks(&self, marks: SharedMarks) {
        self.keep(marks, &self.here().marks);
    }

    /// Returns a workspace for a sequential build.
    pub(super) fn workspace(&self) -> Workspace {
        self.find(|shelves| shelves.workspaces.take_largest())
            .unwrap_or_default()
    }

    pub(super) fn put_workspace(&self, workspace: Workspace) {
        self.keep(workspace, &self.here().workspaces);
    }

    /// Takes memory for the first sequential build of a worker. Later builds reuse that workspace.
    pub(super) fn put_initial(&self, lists: Stack) {
        if self.shelves().all(|shelves| shelves.workspaces.is_empty()) {
            self.put_workspace(Workspace::within(lists));
        }
    }

    /// Converts a cell to one with contiguous lists. Lists in several chunks are copied.
    pub(super) fn in_one_piece(&self, cell: SharedCell) -> OwnedCell {
        OwnedCell {
            extent: cell.extent,
            names: self.join(cell.names),
            events: cell.events.map(|events| self.join(events)),
            arena: cell.arena,
        }
    }

    /// Joins several chunks to one list.
    fn join<T: Item>(&self, chunks: ChunkedArray<T>) -> Vec<T> {
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
}

/// Buffers of one kind, sorted by size, the smallest first.
#[derive(Debug)]
struct Shelf<B>(Mutex<Vec<B>>);

impl<B> Default for Shelf<B> {
    fn default() -> Self {
        Self(Mutex::default())
    }
}

impl<B: Buffer> Shelf<B> {
    fn open(&self) -> MutexGuard<'_, Vec<B>> {
        open(&self.0)
    }

    fn is_empty(&self) -> bool {
        self.open().is_empty()
    }

    /// Takes the smallest buffer that has at least `bytes` bytes.
    fn take(&self, bytes: usize) -> Option<B> {
        let mut buffers = self.open();
        let first = buffers.partition_point(|buffer| buffer.byte_count() < bytes);
        (first < buffers.len()).then(|| buffers.remove(first))
    }

    fn take_largest(&self) -> Option<B> {
        self.open().pop()
    }

    /// Takes the smallest buffer if it has fewer than `bytes` bytes.
    fn take_smaller(&self, bytes: usize) -> Option<B> {
        let mut buffers = self.open();
        let is_smaller = buffers.first()?.byte_count() < bytes;
        is_smaller.then(|| buffers.remove(0))
    }

    fn put(&self, buffer: B) {
        let mut buffers = self.open();
        let bytes = buffer.byte_count();
        let place = buffers.partition_point(|other| other.byte_count() < bytes);
        buffers.insert(place, buffer);
    }

    /// Frees all buffers and returns their total size in bytes.
    fn clear(&self) -> usize {
        mem::take(&mut *self.open())
            .iter()
            .map(Buffer::byte_count)
            .sum()
    }
}

/// Ignores poisoning: buffers are scratch memory, so it does not matter what a panic left in them.
fn open<B>(buffers: &Mutex<Vec<B>>) -> MutexGuard<'_, Vec<B>> {
    buffers.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
mod tests;
