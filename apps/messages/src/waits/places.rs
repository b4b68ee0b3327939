//! The CPUs of the two threads, and of the bystander.

use std::fmt;

use raddle_topology::{Affinity, CpuId, Plan, PlanError, Topology, plan};

/// The position of a bystander relative to the waiting thread.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Beside {
    /// On another hardware thread of the same core.
    SiblingThread,
    /// On the same CPU, because the core has no other CPU that may be used.
    SameCpu,
}

impl Beside {
    /// Returns the name, as in tables.
    pub const fn name(self) -> &'static str {
        match self {
            Self::SiblingThread => "sibling thread",
            Self::SameCpu => "same CPU",
        }
    }
}

impl fmt::Display for Beside {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(self.name())
    }
}

/// The CPUs of the threads; `None` if a thread is not bound.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Places {
    /// The CPU of the thread that sends a number and waits for the reply.
    pub waiter: Option<CpuId>,
    /// The CPU of the thread that replies.
    pub answerer: Option<CpuId>,
    /// The CPU of the bystander, and its position relative to the waiting thread.
    pub bystander: Option<(CpuId, Beside)>,
}

impl Places {
    /// Places the two threads as [`plan()`] places two workers. If the process may use only one
    /// CPU, both are on it.
    ///
    /// # Errors
    /// [`PlanError`], as for [`plan()`].
    pub fn of(topology: &Topology, affinity: &Affinity) -> Result<Self, PlanError> {
        Ok(Self::of_plan(topology, &plan(topology, affinity, 2)?))
    }

    /// Places the two threads on the CPUs of the first and the last worker of a plan.
    #[must_use]
    pub fn of_plan(topology: &Topology, plan: &Plan) -> Self {
        let cpus: Vec<_> = plan.cpus().collect();
        let waiter = cpus.first().copied();
        let answerer = cpus.last().copied();
        Self {
            waiter,
            answerer,
            bystander: waiter.map(|waiter| beside(topology, waiter, answerer)),
        }
    }
}

/// Returns another hardware thread of the waiter's core. If the process may use none, except that
/// of the answerer, returns the CPU of the waiter.
fn beside(topology: &Topology, waiter: CpuId, answerer: Option<CpuId>) -> (CpuId, Beside) {
    topology
        .smt_siblings(waiter)
        .filter(|&cpu| cpu != waiter && Some(cpu) != answerer)
        .find(|&cpu| topology.cpu(cpu).is_some_and(|cpu| cpu.allowed))
        .map_or((waiter, Beside::SameCpu), |cpu| {
            (cpu, Beside::SiblingThread)
        })
}
