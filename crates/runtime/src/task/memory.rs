//! The allocator of task cells: a free list per worker, slabs from the system, and a return list
//! per worker for cells that other threads free.
//!
//! Every cell has a *home*: the worker that made the cell's slab. A worker takes cells from its own
//! list without any synchronisation, the cell that was freed last first, because that one is in the
//! worker's cache. A worker that frees a cell of another home keeps it in its list if it keeps
//! fewer than [`KEPT_MAX`] such cells. The cells beyond that go into the queue of their home
//! ([`raddle_sync::mpsc`]), which takes them from there when its own list is empty. The queue holds
//! pointers, so the thread that frees a cell does not write to it.
//!
//! Small messages to another worker are in no cell on their way: when the receiver unpacks them, it
//! takes one of its own cells. So the cells that change their worker are those of stolen tasks, of
//! larger messages, and of messages from threads that are no workers.
//!
//! Slabs are never given back to the system: a runtime that ends leaves them to the next one.
//! Therefore a cell stays a cell for the life of the process, which the lineage of tasks relies on.
//!
//! **Invariant:** the slabs of a home have at most as many cells as were in use at one time of
//! those that this home took, plus [`KEPT_MAX`] for each worker, rounded up to slabs. The memory of
//! a runtime is the sum over its homes: if many tasks wait on one worker after the other, each
//! needs slabs of its own.

pub(crate) mod probe;
mod spare;

use std::cell::Cell;
use std::ptr;
use std::sync::OnceLock;

use raddle_sync::deque::Word;
use raddle_sync::mpsc::{Consumer, PointerSlot, Producer, mpsc};
use raddle_sync::prim::{Mutex, Relaxed};
use raddle_sync::push_list::Linked;

use super::TaskCell;
use crate::config::TaskMemory;

/// The number of cells in a slab, the unit of allocation.
const SLAB_CELLS: usize = if raddle_sync::prim::LIGHT { 2 } else { 64 };

/// The largest number of cells of other homes in the list of a worker.
const KEPT_MAX: u32 = if raddle_sync::prim::LIGHT { 1 } else { 32 };

type Slab = &'static [TaskCell];

/// The homes of the cells of one runtime: one per worker, and a last one for all other threads.
#[derive(Debug)]
pub(crate) struct Memory {
    /// For each home, the queue of the cells that other threads free. A home has one before it has
    /// a slab.
    homes: Box<[OnceLock<Producer<PointerSlot<FreeCell>>>]>,
    slabs: Mutex<Vec<Slab>>,
    /// The free list of the last home.
    outside: Mutex<FreeList>,
    closures: TaskMemory,
}

/// The free cells of one home, for one thread at a time.
#[derive(Debug)]
pub(crate) struct FreeList {
    home: usize,
    first: Cell<*const TaskCell>,
    /// The number of cells of other homes in the list.
    kept: Cell<u32>,
    /// Cells that other threads have freed.
    returned: Consumer<PointerSlot<FreeCell>>,
}

/// A free list together with the memory that fills it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct CellSource<'a> {
    list: &'a FreeList,
    memory: &'a Memory,
}

/// A free cell on its way to its home.
#[derive(Debug)]
struct FreeCell(&'static TaskCell);

// SAFETY: the pointer is the reference; cells live as long as the process.
unsafe impl Word for FreeCell {
    type Target = TaskCell;

    fn into_raw(self) -> *mut TaskCell {
        ptr::from_ref(self.0).cast_mut()
    }

    unsafe fn from_raw(pointer: *mut TaskCell) -> Self {
        // SAFETY: from `into_raw` (contract); cells live as long as the process.
        Self(unsafe { &*pointer })
    }
}

// SAFETY: free cells belong to the list's owner alone; moving the list moves them all.
unsafe impl Send for FreeList {}

impl Memory {
    pub(crate) fn new(worker_count: usize, closures: TaskMemory) -> Self {
        let homes: Box<[_]> = (0..=worker_count).map(|_| OnceLock::new()).collect();
        let outside = FreeList::new(worker_count, &homes);
        Self {
            closures,
            homes,
            slabs: Mutex::new(Vec::new()),
            outside: Mutex::new(outside),
        }
    }

    /// Creates the free list of a worker.
    ///
    /// # Panics
    /// If it was created before.
    pub(crate) fn free_list(&self, worker_index: usize) -> FreeList {
        FreeList::new(worker_index, &self.homes)
    }

    /// Returns where closures are stored.
    #[inline]
    pub(crate) fn closures(&self) -> TaskMemory {
        self.closures
    }

    /// Takes a free cell for a thread that is no worker of this runtime.
    pub(crate) fn take_outside(&self) -> &'static TaskCell {
        self.with_outside(|cells| cells.take())
    }

    /// Calls `call` with the cells for threads that are no workers of this runtime.
    pub(crate) fn with_outside<R>(&self, call: impl FnOnce(CellSource<'_>) -> R) -> R {
        let outside = self.outside.lock();
        call(CellSource {
            list: &outside.expect("nothing panics under this lock"),
            memory: self,
        })
    }

    /// Frees a cell from any thread.
    pub(crate) fn give_back(&self, cell: &'static TaskCell) {
        let home = self.homes[cell.home()].get();
        home.expect("a home has a queue before it has a slab")
            .push(FreeCell(cell));
    }

    #[cold]
    fn slab(&self, home: usize) -> Slab {
        let slab = spare::take().unwrap_or_else(|| {
            Box::leak(
                (0..SLAB_CELLS)
                    .map(|_| TaskCell::new())
                    .collect::<Box<[_]>>(),
            )
        });
        for cell in slab {
            cell.set_home(home);
        }
        self.slabs
            .lock()
            .expect("nothing panics under this lock")
            .push(slab);
        slab
    }
}

impl Drop for Memory {
    fn drop(&mut self) {
        // Other threads have used this list under its lock. Models do not know the owner's `Arc`,
        // which orders that, too.
        drop(self.outside.lock());
        let mut slabs = self.slabs.lock().expect("nothing panics under this lock");
        spare::keep(std::mem::take(&mut slabs));
    }
}

impl CellSource<'_> {
    /// Takes a free cell. Cost: a few instructions, also for a cell that another thread has freed;
    /// rarely a slab.
    #[inline]
    pub(crate) fn take(self) -> &'static TaskCell {
        self.list.take(self.memory)
    }

    /// Frees a cell: into the list, or into the queue of its home if the list keeps enough cells of
    /// other homes.
    #[inline]
    pub(crate) fn give_back(self, cell: &'static TaskCell) {
        self.list.give_back(cell, self.memory);
    }
}

impl FreeList {
    /// Returns this list together with the memory that fills it.
    #[inline]
    pub(crate) fn of<'a>(&'a self, memory: &'a Memory) -> CellSource<'a> {
        CellSource { list: self, memory }
    }

    fn new(home: usize, homes: &[OnceLock<Producer<PointerSlot<FreeCell>>>]) -> Self {
        let (producer, returned) = mpsc();
        homes[home].set(producer).expect("a home has one free list");
        Self {
            home,
            first: Cell::new(ptr::null()),
            kept: Cell::new(0),
            returned,
        }
    }

    #[inline]
    fn take(&self, memory: &Memory) -> &'static TaskCell {
        // SAFETY: null, or a cell, which lives as long as the process.
        if let Some(cell) = unsafe { self.first.get().as_ref() } {
            // Relaxed: free cells belong to this list alone.
            self.first.set(cell.next().load(Relaxed));
            if cell.home() != self.home {
                self.kept.set(self.kept.get() - 1);
            }
            return cell;
        }
        match self.returned.pop() {
            Some(FreeCell(cell)) => cell,
            None => self.refill(memory),
        }
    }

    #[inline]
    fn give_back(&self, cell: &'static TaskCell, memory: &Memory) {
        if cell.home() != self.home {
            if self.kept.get() == KEPT_MAX {
                return memory.give_back(cell);
            }
            self.kept.set(self.kept.get() + 1);
        }
        // Relaxed: as in `take`.
        cell.next().store(self.first.get().cast_mut(), Relaxed);
        self.first.set(cell);
    }

    #[cold]
    fn refill(&self, memory: &Memory) -> &'static TaskCell {
        let slab = memory.slab(self.home);
        for pair in slab.windows(2) {
            // Relaxed: as in `take`.
            pair[0]
                .next()
                .store(ptr::from_ref(&pair[1]).cast_mut(), Relaxed);
        }
        // Relaxed: as in `take`.
        slab[SLAB_CELLS - 1].next().store(ptr::null_mut(), Relaxed);
        self.first.set(&slab[1]);
        &slab[0]
    }
}
