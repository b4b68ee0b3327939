//! Buffers for the lists of cells, which go from one cell to the next, and from one build to the next.
//!
//! Memory that is fresh from the system costs more to touch than events cost to deal out. So a cell's lists are taken from a shelf of the worker
//! that fills them, else from another's, and are put on one by who has read them; after the first cells there is enough. Together the shelves
//! keep a bounded number of bytes for each triangle of a build; what is more goes back to the system: a buffer instead of smaller ones of its kind on its
//! shelf, or itself.
//!
//! # Source
//! Mei, Zheng, Gioachin, Kalé: Optimizing a parallel runtime system for multicore clusters. TeraGrid 2010, section 4: memory comes from the thread
//! that uses it. That lists are kept, not single objects, is ours.

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

/// Bytes that are kept for each triangle: the lists of all cells of a level and of the next, and of what workers build alone meanwhile.
const BYTES_PER_TRIANGLE: usize = 300;
/// Smaller buffers are not kept: the allocator has memory of this size at hand that is not fresh.
const BYTES_MIN: usize = 16 * 1024;

/// The shelves of all workers.
#[derive(Debug)]
pub(super) struct Store {
    shelves: Vec<CachePadded<Shelves>>,
    /// Bytes on all shelves.
    kept: AtomicUsize,
    /// The most that these shall be.
    limit: AtomicUsize,
    /// What was brought to builds and is used up. The next ones bring their own.
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

/// Memory that is kept.
pub(super) trait Buffer: Sized {
    /// How much it is.
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

/// What lists are of.
pub(super) trait Item: Copy {
    /// Where lists of these are kept.
    #[expect(private_interfaces, reason = "shelves are for the store alone")]
    fn shelf(shelves: &Shelves) -> &Shelf<Vec<Self>>;
}

/// Says on which shelf the lists of an item are.
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
    /// A store for so many workers, which keeps nothing before it [expects](Self::expect) a build.
    pub(super) fn new(worker_count: usize) -> Self {
        Self {
            shelves: (0..worker_count).map(|_| CachePadded::default()).collect(),
            kept: AtomicUsize::new(0),
            limit: AtomicUsize::new(0),
            external_cells: Mutex::default(),
        }
    }

    /// Makes ready for a build of so many triangles. What was kept for much larger ones goes.
    pub(super) fn expect(&self, triangle_count: usize) {
        let limit = triangle_count * BYTES_PER_TRIANGLE;
        // Relaxed, here and below: bounds and counts, on which nothing but the amount of memory depends.
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

    /// Those of this worker, then those of others; of some worker first for threads that are none.
    fn shelves(&self) -> impl Iterator<Item = &Shelves> {
        let worker = raddle::worker_index().unwrap_or_default() % self.shelves.len();
        let (before, from) = self.shelves.split_at(worker);
        from.iter().chain(before).map(|shelves| &**shelves)
    }

    fn here(&self) -> &Shelves {
        self.shelves().next().expect("every worker has shelves")
    }

    /// Finds a buffer on the first shelf that has one.
    fn find<B: Buffer>(&self, take: impl Fn(&Shelves) -> Option<B>) -> Option<B> {
        let found = self.shelves().find_map(take)?;
        self.kept.fetch_sub(found.byte_count(), Relaxed);
        Some(found)
    }

    /// Keeps a buffer, if it is worth it, and if too many bytes are kept instead of smaller ones on that shelf.
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

    /// An empty buffer with room for so many items.
    pub(super) fn take<T: Item>(&self, capacity: usize) -> Vec<T> {
        let bytes = capacity * size_of::<T>();
        if bytes < BYTES_MIN {
            return Vec::with_capacity(capacity);
        }
        self.find(|shelves| T::shelf(shelves).take(bytes))
            .unwrap_or_else(|| Vec::with_capacity(capacity))
    }

    /// Takes memory that nobody needs.
    pub(super) fn put<T: Item>(&self, mut buffer: Vec<T>) {
        buffer.clear();
        self.keep(buffer, T::shelf(self.here()));
    }

    /// As [`put`](Self::put).
    pub(super) fn put_stack(&self, stack: Stack) {
        self.put(stack.names);
        stack.events.into_iter().for_each(|events| self.put(events));
    }

    /// Takes the lists of a cell. Those that were brought along are put aside.
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

    /// Frees what was put aside. Not a part of building: whoever times that does it afterwards.
    pub(super) fn free_external_cells(&self) {
        let external_cells = mem::take(&mut *open(&self.external_cells));
        drop(external_cells);
    }

    /// Marks, all clear.
    pub(super) fn marks(&self) -> SharedMarks {
        self.find(|shelves| shelves.marks.take_largest())
            .unwrap_or_default()
    }

    /// Takes marks that are all clear.
    pub(super) fn put_marks(&self, marks: SharedMarks) {
        self.keep(marks, &self.here().marks);
    }

    /// What a sequential build needs.
    pub(super) fn workspace(&self) -> Workspace {
        self.find(|shelves| shelves.workspaces.take_largest())
            .unwrap_or_default()
    }

    pub(super) fn put_workspace(&self, workspace: Workspace) {
        self.keep(workspace, &self.here().workspaces);
    }

    /// Takes memory for the first build that is done by one worker; later ones have what that leaves.
    pub(super) fn put_initial(&self, lists: Stack) {
        if self.shelves().all(|shelves| shelves.workspaces.is_empty()) {
            self.put_workspace(Workspace::within(lists));
        }
    }

    /// A cell with lists in one piece. Those that are not are copied.
    pub(super) fn in_one_piece(&self, cell: SharedCell) -> OwnedCell {
        OwnedCell {
            extent: cell.extent,
            names: self.join(cell.names),
            events: cell.events.map(|events| self.join(events)),
            arena: cell.arena,
        }
    }

    /// Makes one list of several.
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

/// Buffers of one kind, the smallest first.
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

    /// The smallest buffer of so many bytes or more.
    fn take(&self, bytes: usize) -> Option<B> {
        let mut buffers = self.open();
        let first = buffers.partition_point(|buffer| buffer.byte_count() < bytes);
        (first < buffers.len()).then(|| buffers.remove(first))
    }

    fn take_largest(&self) -> Option<B> {
        self.open().pop()
    }

    /// The smallest buffer, if it has fewer bytes.
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

    /// Lets all go; how many bytes that were.
    fn clear(&self) -> usize {
        mem::take(&mut *self.open())
            .iter()
            .map(Buffer::byte_count)
            .sum()
    }
}

/// Buffers are scratch memory: what a panic left in them does not matter.
fn open<B>(buffers: &Mutex<Vec<B>>) -> MutexGuard<'_, Vec<B>> {
    buffers.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
mod tests;
