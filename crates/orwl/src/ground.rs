//! Where operations can run: the CPUs that workers are bound to, or workers that may be anywhere.

use std::borrow::Cow;
use std::collections::HashMap;

use raddle_runtime::Runtime;
use raddle_topology::{
    CpuId, Matrix, PlaceError, PlaceOptions, Placement, Strategy, Topology, place,
};

/// The workers of a runtime, as places for operations.
#[derive(Clone, Debug)]
pub(crate) struct Ground {
    pub(crate) topology: Cow<'static, Topology>,
    /// By CPU; of several workers on one, the first.
    workers: HashMap<CpuId, usize>,
    /// The CPU that each worker is bound to.
    bound: Vec<Option<CpuId>>,
    /// The CPUs are those of this machine, and no stand-ins.
    is_real: bool,
}

impl Ground {
    /// That of a runtime. Where one of its workers is not bound, CPUs stand in for all of them that are equally far from each other.
    ///
    /// `None` where the machine cannot be asked.
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

    /// Why places are no CPUs of this machine; nothing where they are.
    pub(crate) fn caveat(&self) -> &'static str {
        match self.bound.iter().any(Option::is_some) {
            _ if self.is_real => "",
            true => "not all workers are bound, so all count as equally far from each other: ",
            false => "workers are not bound, and equally far from each other: ",
        }
    }

    /// Places operations that have so much work each; `together` has a label for each, where some stay together.
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

    /// The worker of a CPU, and the CPU that it is bound to.
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
            let stands_in = of_worker.get(&worker_index).copied();
            let real = cpu.or(bound).filter(|_| self.is_real);
            real.or(stands_in).ok_or(PlaceError::EmptyTopology)
        };
        places.map(cpu_of).collect()
    }

    /// True where it makes no difference who is where.
    pub(crate) fn is_one_place(&self) -> bool {
        self.workers.len() < 2
    }
}
