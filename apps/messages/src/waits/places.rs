//! Where the two threads run, and where one that stands by.

use std::fmt;

use raddle_topology::{Affinity, CpuId, Plan, PlanError, Topology, plan};

/// How close a bystander is to who waits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Beside {
    /// On another hardware thread of the same core.
    SiblingThread,
    /// On the same CPU, since its core has no other that may be used.
    SameCpu,
}

impl Beside {
    /// Its name.
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

/// Where who runs; `None` is wherever the system likes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Places {
    /// Who asks and waits for the answer.
    pub waiter: Option<CpuId>,
    /// Who answers.
    pub answerer: Option<CpuId>,
    /// Who does something else on the waiter's core, and how close that is.
    pub bystander: Option<(CpuId, Beside)>,
}

impl Places {
    /// The places of two workers; on a machine of one CPU, or with one for the process, both are on that.
    ///
    /// # Errors
    /// [`PlanError`], as [`plan()`].
    pub fn of(topology: &Topology, affinity: &Affinity) -> Result<Self, PlanError> {
        Ok(Self::of_plan(topology, &plan(topology, affinity, 2)?))
    }

    /// The places of the first and the last worker of a plan.
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

/// Another hardware thread of the waiter's core, if the process may use one that nobody else of ours has.
fn beside(topology: &Topology, waiter: CpuId, answerer: Option<CpuId>) -> (CpuId, Beside) {
    topology
        .smt_siblings(waiter)
        .filter(|&cpu| cpu != waiter && Some(cpu) != answerer)
        .find(|&cpu| topology.cpu(cpu).is_some_and(|cpu| cpu.allowed))
        .map_or((waiter, Beside::SameCpu), |cpu| {
            (cpu, Beside::SiblingThread)
        })
}
