//! How long a program would take on a machine that is not there.
//!
//! The order of all sections is known beforehand (see the crate's page), so a run is a graph: a turn of an operation comes after its own last
//! turn and after those turns of others that stand before it in the FIFOs of its locations. The run is played through event by event:
//! a turn may begin, a transfer ends, work is done.
//!
//! # What a turn takes
//! - First the bytes of its locations that it goes through, one location after the other, from the CPU of whoever wrote them last; none, if that is its own. Before the first
//!   write they are where they were first used, as memory is.
//! - Then its work, or the time that its own memory takes to come, if that is longer. Its own memory is on the node where it first ran.
//!
//! Each transfer takes of the memory of the node it comes from and, if that is another one, of the links of both nodes, as much more as they are farther
//! apart than neighbours; a link has one capacity for both directions. Transfers that are under way at the same time have equal shares of what limits them
//! (`flows`), so a small one does not wait until a large one has passed.
//!
//! # CPUs
//! A CPU runs one turn at a time, to its end, and then the one that has been ready for longest. A [`Mapping::Wanders`] operation takes an idle CPU,
//! any one, when its stay is over or somebody else is on the one it had, and leaves its memory behind: threads that
//! are not bound, under a scheduler that lets no CPU idle while somebody waits, and knows no memories.
//!
//! # What it leaves out
//! Caches, but for a CPU's own writes: who reads twice, or after his neighbour, brings the bytes twice. What hardware threads of a core take from each other, the latency of waking
//! somebody up, prefetchers, the system's own work. It is for comparing placements; absolute times are as good as the
//! figures that it is given.

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
use crate::sketch::Sketch;

/// How fast data moves in a machine, in bytes a nanosecond (which are gigabytes a second).
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct MachineSpeed {
    /// What one core takes, at most.
    pub core: f64,
    /// What the memory of a NUMA node gives to all of its cores.
    pub node: f64,
    /// What the link of a NUMA node carries, both ways together.
    pub link: f64,
}

/// Where operations run in a simulation.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub enum Mapping {
    /// Each on its CPU.
    Bound(Vec<CpuId>),
    /// Each on any idle CPU, and on another one after some turns; the same ones for the same seed.
    Wanders {
        /// The CPUs to choose from.
        cpus: Vec<CpuId>,
        /// Turns that it stays for.
        turns_per_stay: u64,
        /// Where the choice begins.
        seed: u64,
    },
}

/// What a simulation found.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Simulated {
    /// From the first turn of the first operation to the last of the last.
    pub time: Duration,
    /// Bytes that came from another NUMA node.
    pub remote_bytes: u64,
    /// Turns on another CPU than the one before.
    pub migrations: u64,
}

impl Sketch {
    /// Predicts a run of so many turns. Cost: for each turn of each operation its handles, those that stand next to them in FIFOs, and for each
    /// transfer the others that are under way, of which a CPU has one at most.
    ///
    /// CPUs that the machine does not have count as its first. Rates are above 0.
    #[must_use]
    pub fn simulate(
        &self,
        topology: &Topology,
        speed: MachineSpeed,
        mapping: &Mapping,
        turns: u64,
    ) -> Simulated {
        let graph = Graph::of(self);
        Run::new(self, &graph, topology, speed, mapping, turns).play()
    }
}
