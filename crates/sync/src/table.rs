//! The sync table: the wait cells of those who wait for each other, by number, in memory of this process or of several.
//!
//! Each waiter owns one cell, which is where it waits for whatever it waits for: another waiter of the table, a message, or whichever of
//! several comes first. Who has something for it rings its cell; that costs a fence and a look while the waiter is awake. In memory that processes
//! share the word is the same for all of them, so that a message from another process wakes a worker as one from its neighbour does.
//!
//! # Misuse
//! That of the [cells](crate::wait), each of which has one owner.
//! # Source
//! The synchronization table by which a thread, or the network interface, resumes a thread that is parked: Parker, Efficient user-level event
//! notification, section 3.2, after Tullsen.

use std::any::Any;
use std::fmt;
use std::ops::Range;
use std::ptr::NonNull;
use std::sync::Arc;

use crossbeam_utils::CachePadded;

use crate::placed::Placed;
use crate::wait::{Notified, SpinBudget, WaitCell, Way};

/// Wait cells, by the number of who waits there. A clone is of the same cells.
#[derive(Clone)]
pub struct SyncTable {
    cells: Placed<CachePadded<WaitCell>>,
}

impl fmt::Debug for SyncTable {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_list().entries(&*self.cells).finish()
    }
}

impl SyncTable {
    /// A table of this process.
    pub fn new(len: usize) -> Self {
        let cells = (0..len).map(|_| CachePadded::new(WaitCell::new()));
        Self {
            cells: Placed::new(cells),
        }
    }

    /// The bytes that a table of so many cells takes where several processes share it; it begins at a multiple of
    /// [`ALIGN`](Self::ALIGN).
    pub const fn bytes(len: usize) -> usize {
        len.checked_mul(size_of::<CachePadded<WaitCell>>())
            .expect("a table is smaller than memory")
    }

    /// What the address of a table is a multiple of.
    pub const ALIGN: usize = align_of::<CachePadded<WaitCell>>();

    /// Makes a table of `len` cells at `address`, for other processes to [attach](Self::attach) to.
    ///
    /// # Safety
    /// [`bytes`](Self::bytes) from `address` on can be read and written, are aligned, live as long as `memory` does, and nobody uses them yet.
    pub unsafe fn create(
        address: NonNull<u8>,
        len: usize,
        memory: Arc<dyn Any + Send + Sync>,
    ) -> Self {
        let make = || CachePadded::new(WaitCell::new_shared());
        // SAFETY: as the caller says.
        let cells = unsafe { Placed::create(address, len, memory, make) };
        Self { cells }
    }

    /// The table of `len` cells that another process has made at what is `address` here.
    ///
    /// # Safety
    /// `len` cells made by [`create`](Self::create) begin at `address` and live as long as `memory` does; all who use them use them as
    /// wait cells.
    pub unsafe fn attach(
        address: NonNull<u8>,
        len: usize,
        memory: Arc<dyn Any + Send + Sync>,
    ) -> Self {
        // SAFETY: as the caller says.
        let cells = unsafe { Placed::attach(address, len, memory) };
        Self { cells }
    }

    /// How many cells there are.
    pub fn len(&self) -> usize {
        self.cells.len()
    }

    /// True of a table without cells.
    pub fn is_empty(&self) -> bool {
        self.cells.is_empty()
    }

    /// The numbers of all cells.
    pub fn indices(&self) -> Range<usize> {
        0..self.len()
    }

    /// The cell of waiter `index`: its only place to wait, whatever for.
    ///
    /// # Panics
    /// When there is none of that number.
    #[inline]
    pub fn cell(&self, index: usize) -> &WaitCell {
        &self.cells[index]
    }

    /// Wakes waiter `index` if it has stopped looking for what the caller has just done: see [`WaitCell::ring`].
    #[inline]
    pub fn ring(&self, index: usize) -> Notified {
        self.cell(index).ring()
    }

    /// Waits as waiter `index` until one of `sources` has something, and returns the first that has. Whoever makes one true rings the cell.
    ///
    /// # Panics
    /// Without a source, which would be waiting for ever.
    pub fn wait_for_any(
        &self,
        index: usize,
        budget: &mut SpinBudget,
        sources: &[&dyn Fn() -> bool],
    ) -> usize {
        assert!(!sources.is_empty(), "there is a source to wait for");
        let ready = || sources.iter().position(|source| source());
        budget.wait_until(self.cell(index), Way::Auto, || ready().is_some());
        // What a source has is the waiter's to take: it is still there.
        ready().expect("a source has something until its waiter takes it")
    }
}

#[cfg(all(test, not(any(loom, shuttle))))]
mod tests;
