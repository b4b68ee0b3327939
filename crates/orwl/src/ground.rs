//! Where operations can run: the CPUs that workers are bound to, or workers that may be anywhere.

use std::borrow::Cow;
use std::collections::HashMap;

use raddle_runtime::Runtime;
use raddle_topology::{
    CpuId, Matrix, PlaceError, PlaceOptions, Placement, Strategy, Topology, place,
};

use crate::placement::OperationPlace;

/// The workers of a runtime, as places for operations.
#[derive(Clone, Debug)]
pub(crate) struct Ground {
    pub(crate) topology: Cow<'static, Topology>,
    /// By CPU; of several workers on one, the first.
    workers: HashMap<CpuId, usize>,
    /// The CPUs are those of this machine, and no stand-ins.
    pub(crate) is_bound: bool,
}

impl Ground {
    /// That of a runtime. Where no worker is bound, CPUs stand in for them that are equally far from each other.
    ///
    /// `None` where the machine cannot be asked.
    pub(crate) fn of(runtime: &Runtime) -> Option<Self> {
        let plan = runtime.plan();
        let bound = plan.entries.iter().rev();
        let workers: HashMap<_, _> = bound
            .filter_map(|entry| Some((entry.cpu?, entry.worker_index)))
            .collect();
        if !workers.is_empty() {
            return Some(Self {
                topology: Cow::Borrowed(Topology::this_machine().ok()?),
                workers,
                is_bound: true,
            });
        }
        let equals = format!("core:{} pu:1", runtime.worker_count());
        let topology = Topology::synthetic(&equals).ok()?;
        let cpus = topology.cpus().iter().map(|cpu| cpu.id);
        Some(Self {
            workers: cpus.zip(0..).collect(),
            topology: Cow::Owned(topology),
            is_bound: false,
        })
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

    /// The worker of a CPU, and the CPU that a thread there is bound to.
    pub(crate) fn at(&self, cpu: CpuId) -> (usize, Option<CpuId>) {
        let worker_index = self.workers.get(&cpu).copied().unwrap_or(0);
        (worker_index, Some(cpu).filter(|_| self.is_bound))
    }

    /// Where operations are in the topology; `None` where one of them is nowhere in it.
    pub(crate) fn cpus_of(&self, places: &[OperationPlace]) -> Option<Vec<CpuId>> {
        let workers = self.workers.iter().map(|(&cpu, &worker)| (worker, cpu));
        let workers: HashMap<_, _> = workers.collect();
        let cpu_of = |place: &OperationPlace| {
            let of_worker = workers.get(&place.worker_index).copied();
            place.cpu.or(of_worker)
        };
        places.iter().map(cpu_of).collect()
    }

    /// True where it makes no difference who is where.
    pub(crate) fn is_one_place(&self) -> bool {
        self.workers.len() < 2
    }
}
