//! Buffers for the lists of cells, which are reused from cell to cell and from build to build.
//!
//! Touching memory that is fresh from the system costs more than distributing events. So the list
//! of a cell is taken from a free list of the worker that fills it, otherwise from a free list of
//! another worker. The worker that has read the list puts it into one of its own free lists. After
//! the first cells there are enough buffers.
//!
//! All free lists together keep a bounded number of bytes per triangle of a build. When a returned
//! buffer exceeds the bound, either smaller buffers in the same free list or the buffer itself are
//! freed.
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
/// The size of the smallest buffer that is kept, in bytes. For smaller sizes the allocator reuses
/// memory that is not fresh.
const BYTES_MIN: usize = 16 * 1024;

/// The free lists of all workers.
#[derive(Debug)]
pub(super) struct Store {
    free_lists: Vec<CachePadded<FreeLists>>,
    /// The number of bytes in all free lists.
    kept: AtomicUsize,
    /// The maximum number of bytes in all free lists.
    limit: AtomicUsize,
    /// Cells that are no longer needed, with lists that were passed in with a build. The next
    /// builds bring their own.
    external_cells: Mutex<Vec<SharedCell>>,
}

/// The free lists of one worker.
#[derive(Debug, Default)]
struct FreeLists {
    events: FreeList<Vec<Event>>,
    names: FreeList<Vec<Name>>,
    routes: FreeList<Vec<Route>>,
    bytes: FreeList<Vec<u8>>,
    marks: FreeList<SharedMarks>,
    workspaces: FreeList<Workspace>,
}

/// Memory that can be kept in a free list.
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
    /// Returns the free list for lists of this element.
    #[expect(private_interfaces, reason = "only the store uses free lists")]
    fn free_list(free_lists: &FreeLists) -> &FreeList<Vec<Self>>;
}

/// Assigns a free list to each element type.
macro_rules! free_lists {
    ($($item:ty: $free_list:ident),+) => {$(
        impl Item for $item {
            #[expect(private_interfaces, reason = "only the store uses free lists")]
            fn free_list(free_lists: &FreeLists) -> &FreeList<Vec<Self>> {
                &free_lists.$free_list
            }
        }
    )+};
}

free_lists!(Event: events, Name: names, Route: routes, u8: bytes);

impl Store {
    /// Creates a store for `worker_count` workers. It keeps nothing until it
    /// [expects](Self::expect) a build.
    pub(super) fn new(worker_count: usize) -> Self {
        Self {
            free_lists: (0..worker_count).map(|_| CachePadded::default()).collect(),
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
            for free_lists in &self.free_lists {
                let FreeLists {
                    events,
                    names,
                    routes,
                    bytes,
                    marks,
                    workspaces,
                } = &**free_lists;
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

    /// Returns the free lists of this worker, then those of the others. A thread that is not a
    /// worker begins with those of the first worker.
    fn free_lists(&self) -> impl Iterator<Item = &FreeLists> {
        let worker = raddle::worker_index().unwrap_or_default() % self.free_lists.len();
        let (before, from) = self.free_lists.split_at(worker);
        from.iter().chain(before).map(|free_lists| &**free_lists)
    }

    /// Returns the free lists of this worker.
    fn own(&self) -> &FreeLists {
        self.free_lists()
            .next()
            .expect("every worker has free lists")
    }

    /// Takes a buffer from the first free list that has one.
    fn find<B: Buffer>(&self, take: impl Fn(&FreeLists) -> Option<B>) -> Option<B> {
        let found = self.free_lists().find_map(take)?;
        self.kept.fetch_sub(found.byte_count(), Relaxed);
        Some(found)
    }

    /// Keeps a buffer unless it is too small. If the limit is exceeded, frees smaller buffers of
    /// that free list, or else the buffer itself.
    fn keep<B: Buffer>(&self, buffer: B, free_list: &FreeList<B>) {
        let bytes = buffer.byte_count();
        if bytes < BYTES_MIN {
            return;
        }
        let limit = self.limit.load(Relaxed);
        let mut kept = self.kept.fetch_add(bytes, Relaxed) + bytes;
        while kept > limit {
            let gone = free_list
                .take_smaller(bytes)
                .map_or(bytes, |gone| gone.byte_count());
            kept = self.kept.fetch_sub(gone, Relaxed) - gone;
            if gone == bytes {
                return;
            }
        }
        free_list.put(buffer);
    }

    /// Returns an empty buffer with space for at least `capacity` items.
    pub(super) fn take<T: Item>(&self, capacity: usize) -> Vec<T> {
        let bytes = capacity * size_of::<T>();
        if bytes < BYTES_MIN {
            return Vec::with_capacity(capacity);
        }
        self.find(|free_lists| T::free_list(free_lists).take(bytes))
            .unwrap_or_else(|| Vec::with_capacity(capacity))
    }

    /// Takes back a buffer that is no longer needed.
    pub(super) fn put<T: Item>(&self, mut buffer: Vec<T>) {
        buffer.clear();
        self.keep(buffer, T::free_list(self.own()));
    }

    /// Takes back all lists of a stack, as [`put`](Self::put) does.
    pub(super) fn put_stack(&self, stack: Stack) {
        self.put(stack.names);
        stack.events.into_iter().for_each(|events| self.put(events));
    }

    /// Takes back the lists of a cell. Lists that were passed in with the build are set aside.
    pub(super) fn put_cell(&self, cell: SharedCell) {
        if cell.is_external {
            lock(&self.external_cells).push(cell);
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
        let external_cells = mem::take(&mut *lock(&self.external_cells));
        drop(external_cells);
    }

    /// Returns marks, which are all clear.
    pub(super) fn marks(&self) -> SharedMarks {
        self.find(|free_lists| free_lists.marks.take_largest())
            .unwrap_or_default()
    }

    /// Takes back marks, which must all be clear.
    pub(super) fn put_marks(&self, marks: SharedMarks) {
        self.keep(marks, &self.own().marks);
    }

    /// Returns a workspace for a sequential build.
    pub(super) fn workspace(&self) -> Workspace {
        self.find(|free_lists| free_lists.workspaces.take_largest())
            .unwrap_or_default()
    }

    pub(super) fn put_workspace(&self, workspace: Workspace) {
        self.keep(workspace, &self.own().workspaces);
    }

    /// Takes memory for the first sequential build of a worker. Later builds reuse that workspace.
    pub(super) fn put_initial(&self, lists: Stack) {
        if self
            .free_lists()
            .all(|free_lists| free_lists.workspaces.is_empty())
        {
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
struct FreeList<B>(Mutex<Vec<B>>);

impl<B> Default for FreeList<B> {
    fn default() -> Self {
        Self(Mutex::default())
    }
}

impl<B: Buffer> FreeList<B> {
    fn lock(&self) -> MutexGuard<'_, Vec<B>> {
        lock(&self.0)
    }

    fn is_empty(&self) -> bool {
        self.lock().is_empty()
    }

    /// Takes the smallest buffer that has at least `bytes` bytes.
    fn take(&self, bytes: usize) -> Option<B> {
        let mut buffers = self.lock();
        let first = buffers.partition_point(|buffer| buffer.byte_count() < bytes);
        (first < buffers.len()).then(|| buffers.remove(first))
    }

    fn take_largest(&self) -> Option<B> {
        self.lock().pop()
    }

    /// Takes the smallest buffer if it has fewer than `bytes` bytes.
    fn take_smaller(&self, bytes: usize) -> Option<B> {
        let mut buffers = self.lock();
        let is_smaller = buffers.first()?.byte_count() < bytes;
        is_smaller.then(|| buffers.remove(0))
    }

    fn put(&self, buffer: B) {
        let mut buffers = self.lock();
        let bytes = buffer.byte_count();
        let place = buffers.partition_point(|other| other.byte_count() < bytes);
        buffers.insert(place, buffer);
    }

    /// Frees all buffers and returns their total size in bytes.
    fn clear(&self) -> usize {
        mem::take(&mut *self.lock())
            .iter()
            .map(Buffer::byte_count)
            .sum()
    }
}

/// Locks buffers and ignores poisoning: their contents after a panic do not matter.
fn lock<B>(buffers: &Mutex<Vec<B>>) -> MutexGuard<'_, Vec<B>> {
    buffers.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
mod tests;
