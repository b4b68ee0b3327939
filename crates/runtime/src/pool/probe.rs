//! A pool without a runtime around it, to measure what it costs.

use super::{BlockShape, Look, PoolKind, Seat, Setup, Wanted};
use crate::config::TaskMemory;
use crate::task::Task;
use crate::task::memory::Memory;

/// The seat of one of two workers, of whom the other does nothing.
#[derive(Debug)]
pub struct Probe {
    seat: Box<dyn Seat>,
    /// Tasks that nobody runs: only where they go matters.
    tasks: Vec<Task>,
    memory: Memory,
}

impl Probe {
    /// An empty pool of that kind.
    pub fn new(kind: PoolKind) -> Self {
        let pool = kind.build(&Setup::new(2, 0, BlockShape::default()));
        Self {
            seat: pool.seat(0),
            tasks: Vec::new(),
            memory: Memory::new(2, TaskMemory::default()),
        }
    }

    /// Puts so many tasks and gets them back; returns how many came.
    ///
    /// A pool with a private buffer keeps one task there: with more, all but one go to the queue and come from there.
    #[inline]
    pub fn put_and_get(&mut self, count: usize) -> u64 {
        while self.tasks.len() < count {
            self.tasks.push(Task::new(self.memory.take_outside()));
        }
        for task in self.tasks.drain(self.tasks.len() - count..) {
            let _seen_by_nobody = self.seat.put(task);
        }
        let mut look = Look::default();
        while let Some(found) = self.seat.get(Wanted::Any, &mut look) {
            self.tasks.push(found.task);
            if self.tasks.len() == count {
                break;
            }
        }
        self.tasks.len() as u64
    }
}
