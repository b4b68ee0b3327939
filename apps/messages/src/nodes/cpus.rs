//! The CPUs on which the threads of each node run.

use raddle_topology::{Affinity, CpuId, Plan, PlanError, Topology, plan};

use super::error::NodesError;

/// The CPUs of the threads of all nodes. By default, no thread is bound to a CPU.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct NodeCpus {
    nodes: Vec<ThreadCpus>,
}

/// The CPUs of the threads of one node; `None` if a thread is not bound.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct ThreadCpus {
    /// The CPU of the thread that computes.
    pub(super) compute: Option<CpuId>,
    /// The CPU of the thread that receives for it.
    pub(super) receive: Option<CpuId>,
    /// True if the computing threads may have to share CPUs.
    pub(super) is_oversubscribed: bool,
}

impl NodeCpus {
    /// Places `nodes` nodes as [`plan()`] places the same number of workers.
    ///
    /// # Errors
    /// [`PlanError`], as for [`plan()`].
    pub fn of(topology: &Topology, affinity: &Affinity, nodes: u16) -> Result<Self, PlanError> {
        let plan = plan(topology, affinity, nodes.into())?;
        Ok(Self::of_plan(topology, &plan))
    }

    /// Places one node on the CPU of each worker of a plan. A receiving thread gets another
    /// hardware thread of the same core if one is free, and the same CPU otherwise.
    #[must_use]
    pub fn of_plan(topology: &Topology, plan: &Plan) -> Self {
        let taken: Vec<_> = plan.cpus().collect();
        let is_oversubscribed = plan.shares_a_cpu() || taken.len() < plan.entries.len();
        let of_node = |cpu: Option<CpuId>| ThreadCpus {
            compute: cpu,
            receive: cpu.map(|cpu| sibling(topology, cpu, &taken)),
            is_oversubscribed,
        };
        Self {
            nodes: plan
                .entries
                .iter()
                .map(|entry| of_node(entry.cpu))
                .collect(),
        }
    }

    /// Returns the CPU of the computing thread of each node.
    pub fn compute_cpus(&self) -> impl Iterator<Item = Option<CpuId>> {
        self.nodes.iter().map(|node| node.compute)
    }

    /// Returns true if no receiving thread shares its CPU with a computing thread.
    pub fn receive_apart(&self) -> bool {
        self.nodes.iter().all(|node| !node.receive_shares())
    }

    /// Returns the CPUs of one node. A node beyond the plan has none.
    pub(super) fn of_node(&self, index: usize) -> ThreadCpus {
        let unbound = ThreadCpus {
            is_oversubscribed: true,
            ..ThreadCpus::default()
        };
        self.nodes.get(index).copied().unwrap_or(unbound)
    }
}

impl ThreadCpus {
    /// Returns true if the two threads of the node may have to share a CPU.
    pub(super) fn receive_shares(self) -> bool {
        self.compute == self.receive || self.is_oversubscribed
    }
}

/// Returns another hardware thread of the same core that is not in `taken`, or `cpu` itself if
/// there is none.
fn sibling(topology: &Topology, cpu: CpuId, taken: &[CpuId]) -> CpuId {
    topology
        .smt_siblings(cpu)
        .filter(|other| !taken.contains(other))
        .find(|&other| topology.cpu(other).is_some_and(|other| other.allowed))
        .unwrap_or(cpu)
}

/// Binds the calling thread to `cpu`, if there is one.
pub(super) fn bind_this_thread(cpu: Option<CpuId>) -> Result<(), NodesError> {
    if let Some(cpu) = cpu {
        Topology::this_machine()?.bind_this_thread(cpu)?;
    }
    Ok(())
}
