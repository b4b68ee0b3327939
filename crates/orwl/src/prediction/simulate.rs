//! A simulator: predicts how long a program takes on a machine that need not exist.
//!
//! The order of all sections is known before the run (see the crate's page). A run is therefore a
//! graph. A turn of an operation follows the operation's own previous turn, and the turns of other
//! operations that are ahead of it in the FIFOs of its locations. The simulator processes the run
//! event by event: a turn may begin, a transfer ends, work is done.
//!
//! # The time of a turn
//! - First, the turn fetches the bytes that it uses from its locations, one location after the
//!   other. They come from the CPU of the last writer. If that is the turn's own CPU, nothing is
//!   transferred. Before the first write, the bytes are where they were first used (first-touch
//!   allocation).
//! - Then, the turn does its work and, at the same time, reads the operation's own memory. The turn
//!   ends when both are done. An operation's own memory is on the node where it first ran.
//!
//! A transfer uses the memory bandwidth of its source node. If the destination is another node, the
//! transfer also uses the links of both nodes, in proportion to the distance between them relative
//! to the nearest neighbour. A link has one capacity for both directions. Concurrent transfers get
//! equal shares of the resource that limits them (`flows`), so a small transfer does not wait for a
//! large one to end.
//!
//! # CPUs
//! A CPU runs one turn at a time, to its end. Then it runs the turn that has been ready for the
//! longest time. A [`Mapping::Wanders`] operation moves to any idle CPU when its stay is over or
//! its previous CPU is busy. Its memory does not move with it. This models threads that are not
//! bound, under a scheduler that never leaves a CPU idle while a thread waits, and that ignores
//! NUMA memory.
//!
//! # Limitations
//! The model has no caches, except that a CPU has its own writes. An operation that reads the same
//! bytes twice, or after its neighbour, transfers them twice. The model also leaves out the
//! competition between hardware threads of a core, wake-up latency, prefetchers and the work of the
//! operating system. It is meant for comparing placements. Absolute times are only as good as the
//! speeds that are given.

mod cpus;
mod flows;
mod graph;
mod moment;
mod run;
#[cfg(all(test, not(any(loom, shuttle))))]
mod tests;

use std::time::Duration;

use raddle_topology::{CpuId, Topology};

use self::graph::Graph;
use self::run::Run;
use super::sketch::Sketch;

/// The speed at which data moves in a machine, in bytes per nanosecond (gigabytes per second).
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct MachineSpeed {
    /// The greatest bandwidth of one core.
    pub core: f64,
    /// The bandwidth of the memory of a NUMA node, which its cores share.
    pub node: f64,
    /// The bandwidth of the link of a NUMA node, for both directions together.
    pub link: f64,
}

/// The rule that decides where operations run in a simulation.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub enum Mapping {
    /// Each operation runs on the CPU at its index.
    Bound(Vec<CpuId>),
    /// Each operation runs on any idle CPU, and moves after some turns.
    ///
    /// The same seed gives the same choices.
    Wanders {
        /// The CPUs to choose from.
        cpus: Vec<CpuId>,
        /// The number of turns between two moves of an operation.
        turns_per_stay: u64,
        /// The seed of the random choices.
        seed: u64,
    },
}

/// The result of a simulation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Simulated {
    /// The time from the beginning of the first turn to the end of the last.
    pub time: Duration,
    /// The number of bytes that were transferred between NUMA nodes.
    pub remote_bytes: u64,
    /// The number of turns that ran on another CPU than the operation's previous turn.
    pub migrations: u64,
}

impl Sketch {
    /// Predicts a run of `turns` turns.
    ///
    /// A CPU that the machine does not have counts as its first CPU. Rates should be above 0.
    ///
    /// The simulation is meant for comparing placements. It has no caches, except that a CPU has
    /// its own writes, and no wake-up latency. Hardware threads of a core do not compete. All data
    /// is in memory, whatever its size, so programs that need to keep data on disk are not
    /// predicted.
    ///
    /// Cost: for each turn of each operation, linear in its handles and their neighbours in the
    /// FIFOs. For each transfer, linear in the concurrent transfers, of which each CPU has at most
    /// one.
    #[must_use]
    pub fn simulate(
        &self,
        topology: &Topology,
        speed: MachineSpeed,
        mapping: &Mapping,
        turns: u64,
    ) -> Simulated {
        let graph = Graph::of(self);
        Run::new(self, &graph, topology, speed, mapping, turns).run_to_end()
    }
}
