//! The places where operations can run: the CPUs of bound workers, or workers that are not bound.

use std::borrow::Cow;
use std::collections::HashMap;

use raddle_runtime::Runtime;
use raddle_topology::{
    CpuId, Matrix, PlaceError, PlaceOptions, Placement, Strategy, Topology, place,
};

/// The workers of a runtime, as places for operations.
#[derive(Clone, Debug)]
pub(crate) struct WorkerPlaces {
    pub(crate) topology: Cow<'static, Topology>,
    /// The worker of each CPU; the first, if there are several.
    workers: HashMap<CpuId, usize>,
    /// The CPU that each worker is bound to.
    bound: Vec<Option<CpuId>>,
    /// True if the CPUs are those of this machine, false if they only represent workers.
    is_real: bool,
}

impl WorkerPlaces {
    /// Returns the places of a runtime.
    ///
    /// If a worker is not bound, all workers are represented by CPUs that are equally far from each
    /// other. Returns `None` if the topology of the machine is not available.
    pub(crate) fn of(runtime: &Runtime) -> Option<Self> {
        let entries = runtime.plan().entries;
        let bound: Vec<_> = entries.iter().map(|entry| entry.cpu).collect();
        let cpus = bound.iter().copied().collect::<Option<Vec<_>>>();
        let (topology, cpus) = match cpus {
            Some(cpus) => (Cow::Borrowed(Topology::this_machine().ok()?), cpus),
            None => {
                let equals = Topology::synthetic(&format!("core:{} pu:1", bound.len())).ok()?;
                let cpus = equals.cpus().iter().map(|cpu| cpu.id).collect();
                (Cow::Owned(equals), cpus)
            }
        };
        Some(Self {
            workers: cpus.into_iter().zip(0..bound.len()).rev().collect(),
            is_real: bound.iter().all(Option::is_some),
            topology,
            bound,
        })
    }

    /// Returns the reason why places are not CPUs of this machine; empty if they are.
    pub(crate) fn caveat(&self) -> &'static str {
        match self.bound.iter().any(Option::is_some) {
            _ if self.is_real => "",
            true => "not all workers are bound, so all count as equally far from each other: ",
            false => "workers are not bound, and equally far from each other: ",
        }
    }

    /// Computes a placement of operations, given the work of each.
    ///
    /// Operations with the same label in `together` are placed together.
    pub(crate) fn place(
        &self,
        matrix: &Matrix,
        strategy: Strategy,
        loads: Vec<f64>,
        together: Option<Vec<usize>>,
    ) -> Result<Placement, PlaceError> {
        let cpus = self.workers.keys().copied().collect();
        let mut options = PlaceOptions::new()
            .strategy(strategy)
            .cpus(cpus)
            .loads(loads);
        options.together = together;
        place(matrix, &self.topology, &options)
    }

    /// Returns the worker of a CPU, and the CPU that the worker is bound to.
    pub(crate) fn at(&self, cpu: CpuId) -> (usize, Option<CpuId>) {
        let worker_index = self.workers.get(&cpu).copied().unwrap_or(0);
        (worker_index, self.bound[worker_index])
    }

    /// Returns the CPU in the topology of each operation, given its worker and the CPU of that.
    ///
    /// # Errors
    /// [`PlaceError::Placement`] if there is no such worker.
    pub(crate) fn cpus_of(
        &self,
        places: impl Iterator<Item = (usize, Option<CpuId>)>,
    ) -> Result<Vec<CpuId>, PlaceError> {
        let of_worker: HashMap<_, _> = self.workers.iter().map(|(cpu, at)| (*at, *cpu)).collect();
        let cpu_of = |(worker_index, cpu): (usize, Option<CpuId>)| {
            let bound = self.bound.get(worker_index).copied();
            let bound = bound.ok_or_else(|| PlaceError::Placement {
                found: format!("worker {worker_index}"),
                expected: format!("one below {}", self.bound.len()),
            })?;
            let placeholder = of_worker.get(&worker_index).copied();
            let real = cpu.or(bound).filter(|_| self.is_real);
            real.or(placeholder).ok_or(PlaceError::EmptyTopology)
        };
        places.map(cpu_of).collect()
    }

    /// Returns true if there is only one place, so that placement makes no difference.
    pub(crate) fn is_one_place(&self) -> bool {
        self.workers.len() < 2
    }
}
