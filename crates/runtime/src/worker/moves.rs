//! Moving the workers of a running runtime to other CPUs.
//!
//! The thread that moves workers records where each one is wanted
//! ([`Placing`](crate::placing::Placing)), and sends an urgent message to each worker that is
//! elsewhere. Each of them binds itself when it gets to that message. Two moves in a row are
//! correct: a worker goes where the last one wants it.
//!
//! With [`Affinity::Auto`](raddle_topology::Affinity::Auto) the workers move themselves when the
//! observed traffic makes it pay ([`crate::placing`] says when they review it).

use std::sync::Arc;

use raddle_topology::{CpuId, CpuSet};
use raddle_trace::record::{self, Name};

use super::{Shared, Worker, with_worker};
use crate::config::MoveError;
use crate::placing::bind;

impl Shared {
    /// Moves each worker to its CPU, or unbinds it if it has none. Returns the number of workers
    /// that have to move.
    ///
    /// If the runtime `must` have the CPUs to itself and another process has claimed one of them,
    /// no worker moves.
    ///
    /// # Errors
    /// [`MoveError`]; then no worker moves.
    pub(crate) fn move_workers(
        self: &Arc<Self>,
        rule: &str,
        cpus: &[Option<CpuId>],
        must: bool,
    ) -> Result<usize, MoveError> {
        if cpus.len() != self.worker_count() {
            return Err(MoveError::WorkerCount {
                found: cpus.len(),
                expected: self.worker_count(),
            });
        }
        let mut cpu_count = None;
        if let Some(topology) = self.placing().topology() {
            for &cpu in cpus.iter().flatten() {
                topology.check_binding(cpu)?;
            }
            let distinct: CpuSet = cpus.iter().flatten().copied().collect();
            let bound = cpus.iter().flatten().count();
            // The workers that are not bound have any CPU.
            let own = distinct.len() + cpus.len() - bound;
            cpu_count = Some(own.min(topology.worker_count_default()));
        }
        let Ok(moved) = self.placing().set_wanted(rule, cpus, must) else {
            return Ok(0);
        };
        if let Some(cpu_count) = cpu_count {
            self.crowd().set_cpu_count(cpu_count);
        }
        for &worker_index in &moved {
            self.send_urgent(worker_index, || {
                with_worker(|worker| worker.map_or((), Worker::move_to_wanted_cpu));
            });
        }
        Ok(moved.len())
    }
}

impl Worker {
    /// Binds this worker to the CPU where it is wanted. Does nothing on a compensating thread.
    fn move_to_wanted_cpu(&self) {
        if !self.is_compensating {
            let placing = self.shared.placing();
            placing.move_to_wanted(self.index);
            if record::is_on()
                && let Some(CpuId(cpu)) = placing.present_cpu(self.index)
            {
                record::note(Name::of("move worker to CPU"), cpu.into());
            }
        }
    }

    /// Binds this compensating thread to the CPU of the worker that it replaces.
    pub(super) fn take_place_of(&self, worker_index: usize) {
        let placing = self.shared.placing();
        if let Some(topology) = placing.topology().filter(|_| placing.binds()) {
            // If the system refuses, the thread runs where it ran before.
            let _ = bind(topology, placing.present_cpu(worker_index));
        }
    }

    /// Decides whether workers should move, and moves them. Does nothing if another worker is just
    /// doing that.
    #[cold]
    pub(super) fn review_placement(&self, age_ns: u64) {
        let shared = self.shared();
        shared.placing().review_workers(
            age_ns,
            || shared.traffic().flows(),
            |cpus| shared.move_workers("traffic", cpus, true).unwrap_or(0),
            || shared.age_ns(),
        );
    }
}

#[cfg(all(test, not(any(loom, shuttle))))]
mod tests;
