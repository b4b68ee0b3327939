//! The allocator of task cells: a free list per worker, slabs from the system, and a return list
//! per worker for cells that other threads free.
//!
//! Every cell has a *home*: the worker to which the cell's free list belongs. A worker takes cells
//! from its own list without any synchronisation. A cell that another thread frees goes into the
//! queue of its home ([`raddle_sync::mpsc`]); the home takes cells from there when its own list is
//! empty. The queue holds pointers, so neither side reads the cell itself: the thread that frees it
//! does not write to it, and its home writes the next task into it without waiting for its cache
//! lines.
//!
//! Slabs are never given back to the system: a runtime that ends leaves them to the next one.
//! Therefore a cell stays a cell for the life of the process, which the lineage of tasks relies on.
//!
//! **Invariant:** memory is bounded by the largest number of cells in use at one time, rounded up
//! to slabs.

pub(crate) mod probe;
mod spare;

use std::cell::Cell;
use std::ptr;

use raddle_sync::CachePadded;
use raddle_sync::deque::Word;
use raddle_sync::mpsc::{Consumer, Producer, mpsc};
use raddle_sync::prim::{Mutex, Relaxed};
use raddle_sync::returns::Linked;

use super::TaskCell;
use crate::config::TaskMemory;

/// The number of cells in a slab, the unit of allocation.
const SLAB_CELLS: usize = if raddle_sync::prim::LIGHT { 2 } else { 64 };

type Slab = &'static [TaskCell];

/// The homes of the cells of one runtime: one per worker, and a last one for all other threads.
#[derive(Debug)]
pub(crate) struct Memory {
    /// For each home, the queue of the cells that other threads free.
    homes: Box<[CachePadded<Producer<FreeCell>>]>,
    /// The receiving ends of these queues, until the homes take them.
    returned: Mutex<Vec<Option<Consumer<FreeCell>>>>,
    slabs: Mutex<Vec<Slab>>,
    outside: Mutex<FreeList>,
    closures: TaskMemory,
}

/// The free cells of one home, for one thread at a time.
#[derive(Debug)]
pub(crate) struct FreeList {
    home: usize,
    first: Cell<*const TaskCell>,
    /// Cells that other threads have freed.
    returned: Consumer<FreeCell>,
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
        let (homes, mut returned): (Vec<_>, Vec<_>) = (0..=worker_count)
            .map(|_| {
                let (producer, consumer) = mpsc();
                (CachePadded::new(producer), Some(consumer))
            })
            .unzip();
        let outside = returned[worker_count].take().expect("just made");
        Self {
            closures,
            homes: homes.into(),
            returned: Mutex::new(returned),
            slabs: Mutex::new(Vec::new()),
            outside: Mutex::new(FreeList::new(worker_count, outside)),
        }
    }

    /// Creates the free list of a worker.
    ///
    /// # Panics
    /// If it was created before.
    pub(crate) fn free_list(&self, worker_index: usize) -> FreeList {
        let mut returned = self
            .returned
            .lock()
            .expect("nothing panics under this lock");
        let returned = returned[worker_index].take();
        FreeList::new(worker_index, returned.expect("a worker has one free list"))
    }

    /// Returns where closures are stored.
    #[inline]
    pub(crate) fn closures(&self) -> TaskMemory {
        self.closures
    }

    /// Takes a free cell for a thread that is no worker of this runtime.
    pub(crate) fn take_outside(&self) -> &'static TaskCell {
        self.outside
            .lock()
            .expect("nothing panics under this lock")
            .take(self)
    }

    /// Frees a cell from any thread.
    pub(crate) fn give_back(&self, cell: &'static TaskCell) {
        self.homes[cell.home()].push(FreeCell(cell));
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
        let mut slabs = self.slabs.lock().expect("nothing panics under this lock");
        spare::keep(std::mem::take(&mut slabs));
    }
}

impl FreeList {
    fn new(home: usize, returned: Consumer<FreeCell>) -> Self {
        Self {
            home,
            first: Cell::new(ptr::null()),
            returned,
        }
    }

    /// Takes a free cell. Cost: a few instructions, also for a cell that another thread has freed;
    /// rarely a slab.
    #[inline]
    pub(crate) fn take(&self, memory: &Memory) -> &'static TaskCell {
        // SAFETY: null, or a cell, which lives as long as the process.
        if let Some(cell) = unsafe { self.first.get().as_ref() } {
            // Relaxed: free cells belong to this list alone.
            self.first.set(cell.next().load(Relaxed));
            return cell;
        }
        match self.returned.pop() {
            Some(FreeCell(cell)) => cell,
            None => self.refill(memory),
        }
    }

    /// Frees a cell: into this list if this is its home, otherwise into the queue of its home.
    #[inline]
    pub(crate) fn give_back(&self, cell: &'static TaskCell, memory: &Memory) {
        if cell.home() == self.home {
            // Relaxed: as in `take`.
            cell.next().store(self.first.get().cast_mut(), Relaxed);
            self.first.set(cell);
        } else {
            memory.give_back(cell);
        }
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
