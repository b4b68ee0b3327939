//! The worker that is bound to each CPU, to be read without a lock.

use raddle_sync::prim::{AtomicUsize, Relaxed, current_cpu};
use raddle_topology::{CpuId, Topology};

/// The worker that is bound to each CPU. A hint: while workers move, it may be late.
#[derive(Debug, Default)]
pub(super) struct WorkerAt {
    /// For each CPU number, the index of the worker plus one, or zero.
    workers: Box<[AtomicUsize]>,
}

impl WorkerAt {
    /// Creates the map of workers that are bound to `cpus`.
    pub(super) fn new(topology: Option<&Topology>, cpus: &[Option<CpuId>]) -> Self {
        let last = topology.and_then(|topology| topology.allowed_set().iter().last());
        let len = last.map_or(0, |cpu| cpu.0 as usize + 1);
        let at = Self {
            workers: (0..len).map(|_| AtomicUsize::new(0)).collect(),
        };
        at.update(cpus);
        at
    }

    /// Records the CPU of each worker.
    pub(super) fn update(&self, cpus: &[Option<CpuId>]) {
        for worker in &self.workers {
            // Relaxed, here and below: a hint.
            worker.store(0, Relaxed);
        }
        for (worker, cpu) in cpus.iter().enumerate() {
            if let Some(at) = cpu.and_then(|cpu| self.workers.get(cpu.0 as usize)) {
                at.store(worker + 1, Relaxed);
            }
        }
    }

    /// Returns the worker that is bound to the CPU of the calling thread.
    pub(super) fn here(&self) -> Option<usize> {
        let worker = self.workers.get(current_cpu()?)?;
        // Relaxed: a hint.
        worker.load(Relaxed).checked_sub(1)
    }
}
