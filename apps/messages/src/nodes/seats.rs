//! Where the threads of each node run.

use raddle_topology::{Affinity, CpuId, Plan, PlanError, Topology, plan};

use super::NodesError;

/// The CPUs of all nodes' threads; by default they run wherever the system likes.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Seats {
    nodes: Vec<Seat>,
}

/// The CPUs of one node's threads.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Seat {
    /// Of the thread that computes.
    pub(super) compute: Option<CpuId>,
    /// Of the one that receives for it.
    pub(super) receive: Option<CpuId>,
    /// Whether the threads that compute may have to share CPUs.
    pub(super) is_crowded: bool,
}

impl Seats {
    /// The places of as many workers, of which each is a node.
    ///
    /// # Errors
    /// [`PlanError`], as [`plan()`].
    pub fn of(topology: &Topology, affinity: &Affinity, nodes: u16) -> Result<Self, PlanError> {
        let plan = plan(topology, affinity, nodes.into())?;
        Ok(Self::of_plan(topology, &plan))
    }

    /// The places of a plan's workers; a receiving thread is on another hardware thread of its core where one is free, else on the same CPU.
    #[must_use]
    pub fn of_plan(topology: &Topology, plan: &Plan) -> Self {
        let taken: Vec<_> = plan.cpus().collect();
        let is_crowded = plan.shares_a_cpu() || taken.len() < plan.entries.len();
        let seat = |cpu: Option<CpuId>| Seat {
            compute: cpu,
            receive: cpu.map(|cpu| beside(topology, cpu, &taken)),
            is_crowded,
        };
        Self {
            nodes: plan.entries.iter().map(|entry| seat(entry.cpu)).collect(),
        }
    }

    /// The CPU of the thread that computes in each node.
    pub fn cpus(&self) -> impl Iterator<Item = Option<CpuId>> {
        self.nodes.iter().map(|seat| seat.compute)
    }

    /// True where the receiving threads have CPUs other than those that compute.
    pub fn receive_apart(&self) -> bool {
        self.nodes.iter().all(|seat| !seat.receive_shares())
    }

    /// Those of one node; of a node beyond the plan, none.
    pub(super) fn of_node(&self, index: usize) -> Seat {
        let unbound = Seat {
            is_crowded: true,
            ..Seat::default()
        };
        self.nodes.get(index).copied().unwrap_or(unbound)
    }
}

impl Seat {
    /// True where both threads may have to share a CPU.
    pub(super) fn receive_shares(self) -> bool {
        self.compute == self.receive || self.is_crowded
    }
}

/// Another hardware thread of the core, if nobody of ours computes there, else the same.
fn beside(topology: &Topology, cpu: CpuId, taken: &[CpuId]) -> CpuId {
    topology
        .smt_siblings(cpu)
        .filter(|other| !taken.contains(other))
        .find(|&other| topology.cpu(other).is_some_and(|other| other.allowed))
        .unwrap_or(cpu)
}

/// Binds the calling thread, where it has a place.
pub(super) fn sit_down(cpu: Option<CpuId>) -> Result<(), NodesError> {
    if let Some(cpu) = cpu {
        Topology::this_machine()?.bind_this_thread(cpu)?;
    }
    Ok(())
}
