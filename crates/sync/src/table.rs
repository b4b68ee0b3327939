//! The sync table: wait cells by index, in memory of one process or of several.
//!
//! Each waiter owns one cell. It waits there for anything that it waits for: another waiter of the
//! table, a message, or the first of several events. A thread that has something for the waiter
//! rings its cell. A ring costs a fence and a check while the waiter is awake. In memory that
//! processes share, all of them use the same word, so a message from another process wakes a worker
//! exactly as one from a neighbour does.
//!
//! # Misuse
//! The same as for the [cells](crate::wait): each cell has one owner.
//! # Source
//! The synchronization table, by which a thread or the network interface resumes a parked thread:
//! Parker, Efficient user-level event notification, section 3.2, after Tullsen.

use std::any::Any;
use std::fmt;
use std::ops::Range;
use std::ptr::NonNull;
use std::sync::Arc;

use crossbeam_utils::CachePadded;

use crate::placed::Placed;
use crate::wait::{Notified, WaitCell};

/// A table of wait cells, indexed by waiter. A clone refers to the same cells.
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
    /// Creates a table of `len` cells in memory of this process.
    pub fn new(len: usize) -> Self {
        // SAFETY: a cell without a token is all zeros.
        #[cfg(not(any(loom, shuttle)))]
        let cells = unsafe { Placed::zeros(len) };
        #[cfg(any(loom, shuttle))]
        let cells = Placed::new((0..len).map(|_| CachePadded::new(WaitCell::new())));
        Self { cells }
    }

    /// Returns the size in bytes of a table of `len` cells in memory that processes share. The
    /// address of the table must be a multiple of [`ALIGN`](Self::ALIGN).
    pub const fn bytes(len: usize) -> usize {
        len.checked_mul(size_of::<CachePadded<WaitCell>>())
            .expect("a table is smaller than memory")
    }

    /// The alignment of a table in shared memory, in bytes.
    pub const ALIGN: usize = align_of::<CachePadded<WaitCell>>();

    /// Creates a table of `len` cells at `address`, to which other processes
    /// [attach](Self::attach).
    ///
    /// # Safety
    /// The [`bytes`](Self::bytes) from `address` on are readable and writable, aligned, unused so
    /// far, and live as long as `memory`.
    pub unsafe fn create(
        address: NonNull<u8>,
        len: usize,
        memory: Arc<dyn Any + Send + Sync>,
    ) -> Self {
        let make = || CachePadded::new(WaitCell::new_shared());
        // SAFETY: by the contract of this function.
        let cells = unsafe { Placed::create(address, len, memory, make) };
        Self { cells }
    }

    /// Uses the table of `len` cells that another process has created in memory that this process
    /// sees at `address`.
    ///
    /// # Safety
    /// `len` cells, made by [`create`](Self::create), begin at `address` and live as long as
    /// `memory`. All users access them only as wait cells.
    pub unsafe fn attach(
        address: NonNull<u8>,
        len: usize,
        memory: Arc<dyn Any + Send + Sync>,
    ) -> Self {
        // SAFETY: by the contract of this function.
        let cells = unsafe { Placed::attach(address, len, memory) };
        Self { cells }
    }

    /// Returns the number of cells.
    pub fn len(&self) -> usize {
        self.cells.len()
    }

    /// Returns true if the table has no cells.
    pub fn is_empty(&self) -> bool {
        self.cells.is_empty()
    }

    /// Returns the indices of all cells.
    pub fn indices(&self) -> Range<usize> {
        0..self.len()
    }

    /// Returns the cell of waiter `index`. The waiter waits only there, for anything it waits for.
    ///
    /// # Panics
    /// If there is no cell `index`.
    #[inline]
    pub fn cell(&self, index: usize) -> &WaitCell {
        &self.cells[index]
    }

    /// Wakes waiter `index` if it no longer checks for the caller's change itself. See
    /// [`WaitCell::ring`].
    #[inline]
    pub fn ring(&self, index: usize) -> Notified {
        self.cell(index).ring()
    }
}

#[cfg(all(test, not(any(loom, shuttle))))]
mod tests;
