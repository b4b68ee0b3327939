//! How long a program would take on a machine that is not there.
//!
//! The order of all sections is known beforehand (see the crate's page), so a run is a graph: a turn of an operation comes after its own last
//! turn and after those turns of others that stand before it in the FIFOs of its locations. Turns are given to CPUs in the order in which they become
//! ready, one at a time for each CPU.
//!
//! # What a turn takes
//! - Its work, or the time that its own memory takes to come, if that is longer.
//! - Before that, the bytes of its locations, from the CPU of whoever wrote them last; none, if that is its own.
//!
//! Bytes come as fast as one core can take them, and wait for those of others at the memory of the NUMA node they are on, and, from
//! another node, at the links of both. A link has the whole bandwidth for one transfer after the other.
//!
//! Memory of its own is where the operation first ran. A [`Mapping::Wanders`] operation goes from CPU to CPU, as threads do that are
//! not bound, and leaves its memory behind.
//!
//! # What it leaves out
//! Caches that are shared by some cores, interference of prefetchers, the system's own work. It is for comparing placements; absolute times are as good as the
//! figures that it is given.

mod graph;
#[cfg(all(test, not(any(loom, shuttle))))]
mod tests;

use std::collections::HashMap;
use std::time::Duration;

use raddle_sync::fifo::Access;
use raddle_topology::{CpuId, LatencyMatrix, Topology};

use self::graph::{Graph, Pending};
use crate::sketch::Sketch;

/// How fast data moves in a machine, in bytes a nanosecond (which are gigabytes a second).
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct MachineSpeed {
    /// What one core takes, at most.
    pub core: f64,
    /// What the memory of a NUMA node gives to all of its cores.
    pub node: f64,
    /// What the link of a NUMA node carries.
    pub link: f64,
}

/// Where operations run in a simulation.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub enum Mapping {
    /// Each on its CPU.
    Bound(Vec<CpuId>),
    /// Each on another CPU after some turns, the same ones for the same seed.
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
    /// Predicts a run of so many turns. Cost: for each turn of each operation, its handles and those that stand next to them in FIFOs.
    ///
    /// CPUs that the machine does not have count as its first.
    #[must_use]
    pub fn simulate(
        &self,
        topology: &Topology,
        speed: MachineSpeed,
        mapping: &Mapping,
        turns: u64,
    ) -> Simulated {
        let graph = Graph::of(self);
        let mut pending = Pending::new(&graph, turns);
        let mut run = Run::new(self, topology, speed, mapping);
        while let Some((ready, turn, operation)) = pending.next() {
            let free = run.free_for(operation, turn);
            if free > ready {
                // Everything happens in the order of time, so that memories and links serve who comes first.
                pending.put_off(free, turn, operation);
            } else {
                let end = run.turn(operation, turn, ready);
                pending.ended(operation, turn, end);
            }
        }
        run.end()
    }
}

/// A simulation under way. CPUs are called by their places in the machine.
struct Run<'a> {
    sketch: &'a Sketch,
    speed: MachineSpeed,
    places: Places,
    /// The NUMA node of each CPU.
    nodes: Vec<usize>,
    /// How much longer bytes take from one node to another than between the nearest ones; row-major.
    farness: Vec<f64>,
    /// When each CPU, memory and link is free, in nanoseconds.
    cpu_free: Vec<u64>,
    memory_free: Vec<f64>,
    link_free: Vec<f64>,
    /// Where each operation ran last, and the node where its memory is.
    last: Vec<Option<usize>>,
    home: Vec<Option<usize>>,
    /// Where each location was written last.
    written: Vec<Option<usize>>,
    end: u64,
    remote_bytes: f64,
    migrations: u64,
}

/// A mapping, to places of CPUs.
enum Places {
    Bound(Vec<usize>),
    Wander(Vec<usize>, u64, u64),
}

impl Places {
    fn of(mapping: &Mapping, topology: &Topology) -> Self {
        let numbers = topology.cpus().iter().map(|cpu| cpu.id).zip(0..);
        let numbers: HashMap<CpuId, usize> = numbers.collect();
        let place = |cpu: &CpuId| numbers.get(cpu).copied().unwrap_or(0);
        match mapping {
            Mapping::Bound(cpus) => Self::Bound(cpus.iter().map(place).collect()),
            Mapping::Wanders {
                cpus,
                turns_per_stay,
                seed,
            } => Self::Wander(
                cpus.iter().map(place).collect(),
                (*turns_per_stay).max(1),
                *seed,
            ),
        }
    }

    /// Where a turn runs.
    fn at(&self, operation: usize, turn: u64) -> usize {
        let place = match self {
            Self::Bound(places) => places.get(operation),
            Self::Wander(places, stay, seed) => {
                let mixed = mix(seed ^ mix(operation as u64) ^ mix(turn / stay).rotate_left(17));
                places.get((mixed % places.len().max(1) as u64) as usize)
            }
        };
        place.copied().unwrap_or(0)
    }
}

impl<'a> Run<'a> {
    fn new(
        sketch: &'a Sketch,
        topology: &Topology,
        speed: MachineSpeed,
        mapping: &Mapping,
    ) -> Self {
        let nodes: Vec<_> = topology
            .cpus()
            .iter()
            .map(|cpu| cpu.numa_node.unwrap_or(0))
            .collect();
        let node_count = nodes.iter().max().map_or(1, |node| node + 1);
        let pairs = (0..node_count).flat_map(|from| (0..node_count).map(move |to| (from, to)));
        let latencies = topology.numa_latencies();
        let far = |(from, to)| latencies.map_or(1.0, |latencies| farness(latencies, from, to));
        Self {
            speed,
            places: Places::of(mapping, topology),
            farness: pairs.map(far).collect(),
            cpu_free: vec![0; nodes.len()],
            memory_free: vec![0.0; node_count],
            link_free: vec![0.0; node_count],
            last: vec![None; sketch.operations.len()],
            home: vec![None; sketch.operations.len()],
            written: vec![None; sketch.locations.len()],
            end: 0,
            remote_bytes: 0.0,
            migrations: 0,
            sketch,
            nodes,
        }
    }

    /// When the CPU of a turn is free.
    fn free_for(&self, operation: usize, turn: u64) -> u64 {
        self.cpu_free[self.places.at(operation, turn)]
    }

    /// Runs a turn that begins at `begin`; returns when it ends.
    fn turn(&mut self, operation: usize, turn: u64, begin: u64) -> u64 {
        let cpu = self.places.at(operation, turn);
        self.migrations += u64::from(self.last[operation].is_some_and(|last| last != cpu));
        self.last[operation] = Some(cpu);
        let node = self.nodes[cpu];
        let of = &self.sketch.operations[operation];
        let mut now = begin as f64;
        for &(location, access) in &of.uses {
            let from = self.written[location];
            if from.is_some_and(|from| from != cpu) {
                let from = self.nodes[from.unwrap_or(cpu)];
                now = self.transfer(now, self.sketch.locations[location].bytes, from, node);
            }
            if access == Access::Write {
                self.written[location] = Some(cpu);
            }
        }
        let home = *self.home[operation].get_or_insert(node);
        let come = self.transfer(now, of.memory_bytes, home, node);
        let end = (now + of.work_ns).max(come).ceil() as u64;
        self.cpu_free[cpu] = end;
        self.end = self.end.max(end);
        end
    }

    /// Brings bytes from one node to a core of another, from `now` on; returns when they are there.
    fn transfer(&mut self, now: f64, bytes: f64, from: usize, to: usize) -> f64 {
        if bytes == 0.0 {
            return now;
        }
        let served = serve(&mut self.memory_free[from], now, bytes / self.speed.node);
        let alone = now + bytes / self.speed.core;
        if from == to {
            return served.max(alone);
        }
        self.remote_bytes += bytes;
        let far = self.farness[from * self.memory_free.len() + to];
        let carried = bytes * far / self.speed.link;
        let out = serve(&mut self.link_free[from], now, carried);
        let into = serve(&mut self.link_free[to], now, carried);
        served.max(alone).max(out).max(into)
    }

    fn end(&self) -> Simulated {
        Simulated {
            time: Duration::from_nanos(self.end),
            remote_bytes: self.remote_bytes as u64,
            migrations: self.migrations,
        }
    }
}

/// Waits until a server is free and keeps it for so long; returns when it is done.
fn serve(free: &mut f64, now: f64, ns: f64) -> f64 {
    if ns == 0.0 {
        return now;
    }
    *free = free.max(now) + ns;
    *free
}

/// The latency between two nodes over that to the nearest other one.
fn farness(latencies: &LatencyMatrix, from: usize, to: usize) -> f64 {
    let nodes = &latencies.nodes;
    let others = nodes.iter().filter(|&&node| node != from);
    let nearest = others
        .filter_map(|&node| latencies.latency(from, node))
        .min();
    let there = latencies.latency(from, to);
    there
        .zip(nearest)
        .map_or(1.0, |(there, nearest)| there as f64 / nearest.max(1) as f64)
}

/// Mixes a number (Steele, Lea, Flood: SplitMix64).
fn mix(number: u64) -> u64 {
    let mut mixed = number.wrapping_add(0x9e37_79b9_7f4a_7c15);
    mixed = (mixed ^ mixed >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    mixed = (mixed ^ mixed >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
    mixed ^ mixed >> 31
}
