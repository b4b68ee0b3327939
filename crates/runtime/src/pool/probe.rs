//! A pool without a runtime around it, for tests, models and measurements; and the memory of tasks, for measurements.

use std::ops::Deref;
use std::sync::Arc;

#[cfg(not(any(loom, shuttle)))]
use raddle_sync::prim::Mutex;
use raddle_sync::prim::Relaxed;

use super::{BlockShape, Look, Pool, PoolKind, Seat, Setup, Wanted};
use crate::config::TaskMemory;
use crate::task::Task;
use crate::task::memory::Memory;

pub use crate::task::memory::probe::{Cells, FreeCells, UsedCell};

/// A pool, and tasks that are never run: only where they go matters.
#[derive(Debug)]
pub struct Probe {
    pool: Box<dyn Pool>,
    memory: Arc<Memory>,
}

/// The memory of all probes. Tasks have no lifetime: one may be put into a pool after its probe has gone, and
/// then must not lie where another runtime has its own.
#[cfg(not(any(loom, shuttle)))]
static KEPT: Mutex<Vec<Arc<Memory>>> = Mutex::new(Vec::new());

impl Probe {
    /// An empty pool of that kind.
    pub fn new(kind: PoolKind, worker_count: usize, blocks: BlockShape) -> Self {
        Self::with_setup(kind, &Setup::new(worker_count, 0, blocks))
    }

    /// As [`new`](Self::new), and for as many substitutes, which others look for from now on.
    pub fn with_substitutes(
        kind: PoolKind,
        worker_count: usize,
        substitute_count: usize,
        blocks: BlockShape,
    ) -> Self {
        let setup = Setup::new(worker_count, substitute_count, blocks);
        // Relaxed: no other thread has it yet.
        setup.present().store(setup.worker_limit(), Relaxed);
        Self::with_setup(kind, &setup)
    }

    pub(super) fn with_setup(kind: PoolKind, setup: &Setup) -> Self {
        let memory = Arc::new(Memory::new(setup.worker_limit(), TaskMemory::default()));
        #[cfg(not(any(loom, shuttle)))]
        KEPT.lock()
            .expect("nothing panics under this lock")
            .push(Arc::clone(&memory));
        Self {
            pool: kind.build(setup),
            memory,
        }
    }

    /// A task that is in no pool.
    pub fn task(&self) -> Task {
        Task::new(self.memory.take_outside())
    }
}

impl Deref for Probe {
    type Target = dyn Pool;

    fn deref(&self) -> &Self::Target {
        &*self.pool
    }
}

/// What tells a task from every other one.
pub fn address(task: &Task) -> usize {
    std::ptr::from_ref(task.cell()).addr()
}

/// Any task.
#[inline]
pub fn get(seat: &dyn Seat) -> Option<Task> {
    get_wanted(seat, Wanted::Any)
}

/// A task that is wanted.
#[inline]
pub(super) fn get_wanted(seat: &dyn Seat, wanted: Wanted<'_>) -> Option<Task> {
    let found = seat.get(wanted, &mut Look::default());
    found.map(|found| found.task)
}
