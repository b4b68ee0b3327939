//! A pool without a runtime, for tests, models and benchmarks; and the allocator of task cells, for
//! benchmarks.

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

/// A pool, and tasks that are never run.
#[derive(Debug)]
pub struct Probe {
    pool: Box<dyn Pool>,
    memory: Arc<Memory>,
}

/// The memory of all probes. Tasks have no lifetime: a task may be put into a pool after its probe
/// was dropped, and its memory must not be reused by another runtime then.
#[cfg(not(any(loom, shuttle)))]
static KEPT: Mutex<Vec<Arc<Memory>>> = Mutex::new(Vec::new());

impl Probe {
    /// Creates an empty pool.
    pub fn new(kind: PoolKind, worker_count: usize, blocks: BlockShape) -> Self {
        Self::with_setup(kind, &Setup::new(worker_count, 0, blocks))
    }

    /// Creates a probe as [`new`](Self::new) does, with `compensating_limit` compensating threads,
    /// which count as started.
    pub fn with_compensating(
        kind: PoolKind,
        worker_count: usize,
        compensating_limit: usize,
        blocks: BlockShape,
    ) -> Self {
        let setup = Setup::new(worker_count, compensating_limit, blocks);
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

    /// Creates a task that is in no pool.
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

/// Returns an address that identifies a task.
pub fn address(task: &Task) -> usize {
    std::ptr::from_ref(task.cell()).addr()
}

/// Takes any task.
#[inline]
pub fn get(seat: &dyn Seat) -> Option<Task> {
    get_wanted(seat, Wanted::Any)
}

/// Takes a wanted task.
#[inline]
pub(super) fn get_wanted(seat: &dyn Seat, wanted: Wanted<'_>) -> Option<Task> {
    let found = seat.get(wanted, &mut Look::default());
    found.map(|found| found.task)
}
