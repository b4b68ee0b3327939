//! A simulation in progress.

use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::time::Duration;

use raddle_sync::fifo::Access;
use raddle_topology::{LatencyMatrix, Topology};

use super::super::sketch::Sketch;
use super::cpus::Cpus;
use super::flows::Flows;
use super::graph::{Graph, Order, in_pieces, pieces_of};
use super::moment::Moment;
use super::{MachineSpeed, Mapping, Simulated};

/// A simulation in progress. CPUs are identified by their index in the machine.
pub(super) struct Run<'a> {
    sketch: &'a Sketch,
    order: Order<'a>,
    cpus: Cpus,
    flows: Flows,
    /// The work in progress: when it ends, and the operation that does it.
    works: BinaryHeap<Reverse<(Moment, usize)>>,
    /// The locations that a turn of each operation fetches, in order.
    steps: Vec<Vec<Step>>,
    turns: Vec<Turn>,
    /// The NUMA node of each operation's own memory; `None` before its first use.
    memory_node: Vec<Option<usize>>,
    /// The CPU that has the value of each location; `None` before its first use.
    holder: Vec<Option<usize>>,
    /// The NUMA node of each CPU.
    nodes: Vec<usize>,
    node_count: usize,
    /// The latency between two nodes relative to that between nearest neighbours; row-major.
    relative_latency: Vec<f64>,
    now: f64,
    remote_bytes: f64,
}

/// A location, or a piece of one, that an operation uses.
#[derive(Clone, Copy)]
struct Step {
    location: usize,
    bytes: f64,
    writes: bool,
}

/// The progress of the turn that an operation is in.
#[derive(Clone, Copy, Default)]
struct Turn {
    cpu: usize,
    /// The number of steps that have begun.
    steps: usize,
    /// The number of unfinished parts (work, own memory); 0 while the steps are in progress.
    open: usize,
}

impl<'a> Run<'a> {
    pub(super) fn new(
        sketch: &'a Sketch,
        graph: &'a Graph,
        topology: &Topology,
        speed: MachineSpeed,
        mapping: &Mapping,
        turns: u64,
    ) -> Self {
        let node_of = topology.cpus().iter().map(|cpu| cpu.numa_node.unwrap_or(0));
        let nodes: Vec<usize> = node_of.collect();
        let node_count = nodes.iter().max().map_or(1, |node| node + 1);
        let pairs = (0..node_count).flat_map(|from| (0..node_count).map(move |to| (from, to)));
        let latencies = topology.numa_latencies();
        let far =
            |(from, to)| latencies.map_or(1.0, |latencies| relative_latency(latencies, from, to));
        let operation_count = sketch.operation_count();
        Self {
            order: Order::new(graph, turns),
            cpus: Cpus::new(mapping, topology, operation_count),
            flows: Flows::new(speed, node_count),
            works: BinaryHeap::new(),
            steps: steps_of(sketch),
            turns: vec![Turn::default(); operation_count],
            memory_node: vec![None; operation_count],
            holder: vec![None; sketch.locations.len()],
            node_count,
            relative_latency: pairs.map(far).collect(),
            now: 0.0,
            remote_bytes: 0.0,
            sketch,
            nodes,
        }
    }

    /// Processes all events, and returns the result.
    ///
    /// # Panics
    /// Panics if operations wait for each other.
    pub(super) fn run_to_end(mut self) -> Simulated {
        for operation in self.order.first() {
            self.begin_or_queue(operation);
        }
        let mut freed = Vec::new();
        loop {
            // Process the earliest event: the end of a transfer or the end of work.
            let work = self.works.peek().map(|Reverse((end, _))| end.0);
            match (self.flows.next_end(), work) {
                (Some(transfer), work) if work.is_none_or(|work| transfer <= work) => {
                    self.now = transfer;
                    match self.flows.end_next() {
                        Some(operation) if self.turns[operation].open == 0 => {
                            self.begin_step(operation);
                        }
                        Some(operation) => self.end_part(operation, &mut freed),
                        None => {}
                    }
                }
                (_, Some(work)) => {
                    self.now = work;
                    if let Some(Reverse((_, operation))) = self.works.pop() {
                        self.end_part(operation, &mut freed);
                    }
                }
                _ => break,
            }
        }
        // If operations wait for each other, a time without their turns would be far too short.
        if let Some(operation) = self.order.waiting() {
            panic!(
                "operation {} waits forever in turn {}; expected an order in which each operation \
                 has its turns",
                self.sketch.operations[operation].name,
                self.order.turn_of(operation)
            );
        }
        Simulated {
            time: Duration::from_nanos(self.now.ceil() as u64),
            remote_bytes: self.remote_bytes as u64,
            migrations: self.cpus.migrations,
        }
    }

    /// Begins the next turn of an operation if a CPU is available, or else queues it.
    fn begin_or_queue(&mut self, operation: usize) {
        let turn = self.order.turn_of(operation);
        if let Some(cpu) = self.cpus.take(Moment(self.now), turn, operation) {
            self.begin(operation, cpu);
        }
    }

    fn begin(&mut self, operation: usize, cpu: usize) {
        self.turns[operation] = Turn {
            cpu,
            steps: 0,
            open: 0,
        };
        self.begin_step(operation);
    }

    /// Begins the next transfer of an operation's turn, or its work once all data has arrived.
    fn begin_step(&mut self, operation: usize) {
        let cpu = self.turns[operation].cpu;
        while let Some(&step) = self.steps[operation].get(self.turns[operation].steps) {
            self.turns[operation].steps += 1;
            if step.bytes > 0.0 {
                let holder = *self.holder[step.location].get_or_insert(cpu);
                if holder != cpu {
                    let from = self.nodes[holder];
                    return self.transfer(operation, step.bytes, from);
                }
            }
        }
        let of = &self.sketch.operations[operation];
        self.turns[operation].open = 1;
        self.works
            .push(Reverse((Moment(self.now + of.work_ns), operation)));
        if of.memory_bytes > 0.0 {
            self.turns[operation].open = 2;
            let node = *self.memory_node[operation].get_or_insert(self.nodes[cpu]);
            self.transfer(operation, of.memory_bytes, node);
        }
    }

    fn transfer(&mut self, operation: usize, bytes: f64, from: usize) {
        let to = self.nodes[self.turns[operation].cpu];
        if from != to {
            self.remote_bytes += bytes;
        }
        let far = self.relative_latency[from * self.node_count + to];
        self.flows
            .begin(self.now, operation, bytes, (from, to), far);
    }

    /// Ends one part of a turn, its work or its own memory. The turn ends with its last part.
    fn end_part(&mut self, operation: usize, freed: &mut Vec<usize>) {
        self.turns[operation].open -= 1;
        if self.turns[operation].open > 0 {
            return;
        }
        let cpu = self.turns[operation].cpu;
        self.write(operation, cpu);
        self.order.end_turn(operation, freed);
        // A turn that was ready before this one ended goes first.
        if let Some(next) = self.cpus.free(cpu) {
            self.begin(next, cpu);
        }
        freed.sort_unstable_by_key(|&freed| (self.order.turn_of(freed), freed));
        for operation in freed.drain(..) {
            self.begin_or_queue(operation);
        }
    }

    fn write(&mut self, operation: usize, cpu: usize) {
        let steps = self.steps[operation].iter().filter(|step| step.writes);
        if self.sketch.operations[operation].exchanges {
            let places: Vec<usize> = steps.map(|step| step.location).collect();
            for pair in places.windows(2) {
                self.holder.swap(pair[0], pair[1]);
            }
        } else {
            for step in steps {
                self.holder[step.location] = Some(cpu);
            }
        }
    }
}

/// Returns the steps of each operation. A whole is replaced by its pieces.
fn steps_of(sketch: &Sketch) -> Vec<Vec<Step>> {
    let pieces = pieces_of(sketch);
    let mut steps = Vec::with_capacity(sketch.operation_count());
    for of in &sketch.operations {
        let mut own = Vec::new();
        for used in &of.uses {
            let places = in_pieces(used.location, &pieces);
            let all: f64 = places
                .iter()
                .map(|&place| sketch.locations[place].bytes)
                .sum();
            // An exchange moves only pointers.
            let moved = if of.exchanges { 0.0 } else { used.touched };
            own.extend(places.iter().map(|&location| Step {
                location,
                bytes: match all > 0.0 {
                    true => moved * (sketch.locations[location].bytes / all),
                    false => moved / places.len() as f64,
                },
                writes: used.access == Access::Write,
            }));
        }
        steps.push(own);
    }
    steps
}

/// Returns the latency between two nodes relative to that between `from` and its nearest neighbour.
fn relative_latency(latencies: &LatencyMatrix, from: usize, to: usize) -> f64 {
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
