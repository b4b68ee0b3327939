//! The memory of tasks and messages without a runtime around it, for measurements.

use super::{FreeList, Memory};
use crate::config::TaskMemory;
use crate::task::TaskCell;

/// The homes of task cells.
#[derive(Debug)]
pub struct Cells(Memory);

/// A free list as a worker has one.
#[derive(Debug)]
pub struct FreeCells<'cells> {
    memory: &'cells Memory,
    list: FreeList,
}

/// A cell that is in use until this is dropped.
#[derive(Debug)]
pub struct UsedCell<'list> {
    free: &'list FreeCells<'list>,
    cell: &'static TaskCell,
}

impl Cells {
    /// Homes for the cells of so many workers.
    pub fn new(worker_count: usize) -> Self {
        Self(Memory::new(worker_count, TaskMemory::Cells))
    }

    /// An empty free list of that worker.
    pub fn list(&self, worker_index: usize) -> FreeCells<'_> {
        FreeCells {
            memory: &self.0,
            list: FreeList::new(worker_index),
        }
    }
}

impl FreeCells<'_> {
    /// A cell, as a message takes it.
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
