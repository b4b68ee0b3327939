//! The allocator of task cells without a runtime, for benchmarks.

use super::{FreeList, Memory};
use crate::config::TaskMemory;
use crate::task::TaskCell;

/// The homes of task cells, without a runtime.
#[derive(Debug)]
pub struct Cells(Memory);

/// The free list of one worker.
#[derive(Debug)]
pub struct FreeCells<'cells> {
    memory: &'cells Memory,
    list: FreeList,
}

/// A cell in use. Dropping it frees the cell.
#[derive(Debug)]
pub struct UsedCell<'list> {
    free: &'list FreeCells<'list>,
    cell: &'static TaskCell,
}

impl Cells {
    /// Creates the homes of `worker_count` workers.
    pub fn new(worker_count: usize) -> Self {
        Self(Memory::new(worker_count, TaskMemory::Cells))
    }

    /// Creates an empty free list for a worker.
    pub fn list(&self, worker_index: usize) -> FreeCells<'_> {
        FreeCells {
            memory: &self.0,
            list: self.0.free_list(worker_index),
        }
    }
}

impl FreeCells<'_> {
    /// Takes a cell, as sending a message does.
    #[inline]
    pub fn take(&self) -> UsedCell<'_> {
        UsedCell {
            free: self,
            cell: self.list.take(self.memory),
        }
    }
}

impl Drop for UsedCell<'_> {
    #[inline]
    fn drop(&mut self) {
        self.free.list.give_back(self.cell, self.free.memory);
    }
}

#[cfg(all(test, not(any(loom, shuttle))))]
mod tests;
