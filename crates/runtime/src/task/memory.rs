//! The allocator of task cells: a free list per worker, slabs from the system, and a return list
//! per worker for cells that other threads free.
//!
//! Every cell has a *home*: the worker to which the cell's free list belongs. A worker takes cells
//! from its own list without any synchronisation. A cell that another thread frees goes onto the
//! [`Returns`] of its home; the home takes them all at once when its own list is empty. Slabs are
//! never given back to the system: a runtime that ends leaves them to the next one. Therefore a
//! cell stays a cell for the life of the process, which the lineage of tasks relies on.
//!
//! **Invariant:** memory is bounded by the largest number of cells in use at one time, rounded up
//! to slabs.

pub(crate) mod probe;
mod spare;

use std::cell::Cell;
use std::ptr::{self, NonNull};

use raddle_sync::CachePadded;
use raddle_sync::prim::{Mutex, Relaxed};
use raddle_sync::returns::{Linked, Returns};

use super::TaskCell;
use crate::config::TaskMemory;

/// The number of cells in a slab, the unit of allocation.
const SLAB_CELLS: usize = if raddle_sync::prim::LIGHT { 2 } else { 64 };

type Slab = &'static [TaskCell];

/// The homes of the cells of one runtime: one per worker, and a last one for all other threads.
#[derive(Debug)]
pub(crate) struct Memory {
    homes: Box<[CachePadded<Returns<TaskCell>>]>,
    slabs: Mutex<Vec<Slab>>,
    outside: Mutex<FreeList>,
    closures: TaskMemory,
}

/// The free cells of one home, for one thread at a time.
#[derive(Debug)]
pub(crate) struct FreeList {
    home: usize,
    first: Cell<*const TaskCell>,
}

// SAFETY: free cells belong to the list's owner alone; moving the list moves them all.
unsafe impl Send for FreeList {}

impl Memory {
    pub(crate) fn new(worker_count: usize, closures: TaskMemory) -> Self {
        Self {
            closures,
            homes: (0..=worker_count)
                .map(|_| CachePadded::new(Returns::new()))
                .collect(),
            slabs: Mutex::new(Vec::new()),
            outside: Mutex::new(FreeList::new(worker_count)),
        }
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
        // SAFETY: the caller frees the cell once (invariant 2 of `crate::task`), and it is in no
        // list.
        unsafe { self.homes[cell.home()].push(NonNull::from(cell)) };
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
    pub(crate) fn new(home: usize) -> Self {
        Self {
            home,
            first: Cell::new(ptr::null()),
        }
    }

    /// Takes a free cell. Cost: a few instructions; now and then a swap that takes the returned
    /// cells; rarely a slab.
    #[inline]
    pub(crate) fn take(&self, memory: &Memory) -> &'static TaskCell {
        // SAFETY: null, or a cell, which lives as long as the process.
        let cell = match unsafe { self.first.get().as_ref() } {
            Some(cell) => cell,
            None => self.refill(memory),
        };
        // Relaxed: free cells belong to this list alone.
        self.first.set(cell.next().load(Relaxed));
        cell
    }

    /// Frees a cell: into this list if this is its home, otherwise onto the return list of its
    /// home.
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
        if let Some(first) = memory.homes[self.home].take_all() {
            // SAFETY: cells live as long as the process.
            return unsafe { first.as_ref() };
        }
        let slab = memory.slab(self.home);
        for pair in slab.windows(2) {
            // Relaxed: as in `take`.
            pair[0]
                .next()
                .store(ptr::from_ref(&pair[1]).cast_mut(), Relaxed);
        }
        // Relaxed: as in `take`.
        slab[SLAB_CELLS - 1].next().store(ptr::null_mut(), Relaxed);
        &slab[0]
    }
}
