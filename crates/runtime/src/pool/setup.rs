//! The facts that a pool is built for: the number of workers, and the shape of blocks.

use std::sync::Arc;

use raddle_sync::prim::AtomicUsize;

use super::parts::Parts;
use super::victims::Victims;
use super::{BlockShape, Outside};

/// The facts that a pool is built for.
#[derive(Clone, Debug)]
pub(crate) struct Setup {
    worker_count: usize,
    compensating_limit: usize,
    /// The number of workers and compensating threads started so far.
    present: Arc<AtomicUsize>,
    pub(super) blocks: BlockShape,
    /// The seed of random decisions.
    seed: u64,
    /// Tasks from threads that are no workers. Workers look there after their own tasks.
    pub(crate) outside: Arc<Outside>,
}

impl Setup {
    /// Describes a runtime of `worker_count` workers and up to `compensating_limit` compensating
    /// threads.
    pub(crate) fn new(worker_count: usize, compensating_limit: usize, blocks: BlockShape) -> Self {
        Self {
            worker_count,
            compensating_limit,
            present: Arc::new(AtomicUsize::new(worker_count)),
            blocks,
            seed: 0,
            outside: Arc::default(),
        }
    }

    /// Sets the seed of random decisions.
    pub(crate) fn with_seed(mut self, seed: u64) -> Self {
        self.seed = seed;
        self
    }

    /// Returns the order in which a worker looks through the others for work.
    pub(super) fn victims(&self, worker_index: usize) -> Victims {
        Victims::new(worker_index, self.worker_count, self.seed, self.present())
    }

    /// Creates the parts of a pool with `make`.
    pub(crate) fn parts<P, T>(
        &self,
        make: impl Fn() -> (P, T) + Send + Sync + 'static,
    ) -> Parts<P, T> {
        Parts::new(self.worker_count, self.worker_limit(), make)
    }

    /// Returns the largest number of workers, with all compensating threads.
    pub(crate) fn worker_limit(&self) -> usize {
        self.worker_count + self.compensating_limit
    }

    /// Returns the number of workers that exist from the start.
    pub(crate) fn worker_count(&self) -> usize {
        self.worker_count
    }

    /// Returns the counter of workers and compensating threads started so far.
    pub(crate) fn present(&self) -> Arc<AtomicUsize> {
        Arc::clone(&self.present)
    }
}
