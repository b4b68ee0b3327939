//! Runs the strands of a recording on a number of workers that do not exist.
//!
//! A worker runs its messages first, in the order of arrival, then its own tasks, the newest first,
//! and then takes the oldest task of another worker, as the runtime does. Taking one, and waking a
//! worker that sleeps, cost time ([`crate::costs`]). An object that a task has made, such as a
//! chare of a seed, is on the worker that has run this task. The others of a collection are divided
//! among the workers in blocks, as the runtime divides arrays.
//!
//! The simulation does not know memory: strands take as long as in the recording, wherever they
//! run.

use std::cmp::Reverse;
use std::collections::{BinaryHeap, VecDeque};

use serde::Serialize;

use crate::costs::Costs;
use crate::graph::{Graph, OUTSIDE, ObjectRank, Strand};

/// The result of a simulation.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct Simulated {
    /// The number of workers.
    pub workers: usize,
    /// The time from the begin to the end, in nanoseconds.
    pub ns: u64,
    /// The number of tasks that a worker has taken from another one.
    pub steals: u64,
    /// The time of the worker with the most work, in nanoseconds.
    pub busiest_ns: u64,
    /// The time in which workers took tasks, in nanoseconds.
    pub stealing_ns: u64,
}

/// The number of a worker that does not exist: the outside.
const NO_WORKER: u32 = u32::MAX;

/// A simulation under way.
struct Simulation<'a> {
    graph: &'a Graph,
    costs: Costs,
    /// For each strand, the number of strands that must end before.
    missing: Vec<u32>,
    workers: Vec<Worker>,
    /// For each object, the worker that has made it.
    homes: Vec<Option<u32>>,
    /// Workers with tasks, in no order, and the position of each.
    with_tasks: Vec<u32>,
    idle: Vec<u32>,
    /// The ends of strands: time, order, worker, strand.
    ends: BinaryHeap<Reverse<(u64, u64, u32, u32)>>,
    order: u64,
    random: u64,
    result: Simulated,
}

#[derive(Clone, Default)]
struct Worker {
    mail: VecDeque<u32>,
    tasks: VecDeque<u32>,
    /// The position in `with_tasks`, if it is there.
    listed: Option<u32>,
    is_idle: bool,
    busy_ns: u64,
}

/// Runs the strands of a graph on `workers` workers.
pub(crate) fn simulate(graph: &Graph, workers: usize, costs: Costs) -> Simulated {
    let mut simulation = Simulation {
        graph,
        costs,
        missing: graph.predecessor_counts(),
        workers: vec![Worker::default(); workers],
        homes: vec![None; graph.objects.len()],
        with_tasks: Vec::new(),
        idle: Vec::new(),
        ends: BinaryHeap::new(),
        order: 0,
        random: 0x9e37_79b9_7f4a_7c15,
        result: Simulated {
            workers,
            ..Simulated::default()
        },
    };
    simulation.run();
    simulation.result
}

impl Simulation<'_> {
    fn run(&mut self) {
        for worker in (0..self.workers.len() as u32).rev() {
            self.rest(worker);
        }
        for strand in 0..self.graph.strands.len() {
            if self.missing[strand] == 0 {
                self.free(0, NO_WORKER, strand as u32);
            }
        }
        while let Some(Reverse((ns, _, worker, strand))) = self.ends.pop() {
            self.result.ns = ns;
            let next = self.end(ns, worker, strand);
            if worker == NO_WORKER {
                continue;
            }
            match next {
                Some(strand) => self.start(ns, worker, strand),
                None => self.find_work(ns, worker),
            }
        }
        let busiest = self.workers.iter().map(|worker| worker.busy_ns).max();
        self.result.busiest_ns = busiest.unwrap_or(0);
    }

    /// Ends a strand. Returns the strand with which its worker goes on, if there is one.
    fn end(&mut self, ns: u64, worker: u32, strand: u32) -> Option<u32> {
        let graph = self.graph;
        let run = graph.strands[strand as usize].run;
        let mut next = None;
        for &successor in graph.successors(strand as usize) {
            let missing = &mut self.missing[successor as usize];
            *missing -= 1;
            if *missing > 0 {
                continue;
            }
            // A worker goes on with its own task: with the first half of a fork, or after a join.
            let of_successor = graph.strands[successor as usize].run;
            let goes_on = worker != NO_WORKER && of_successor == run && run != OUTSIDE;
            match (goes_on, next) {
                (true, None) => next = Some(successor),
                (true, Some(other)) => {
                    let is_first = |strand: u32| graph.strands[strand as usize].from_ns;
                    let (first, second) = match is_first(successor) < is_first(other) {
                        true => (successor, other),
                        false => (other, successor),
                    };
                    next = Some(first);
                    self.free(ns, worker, second);
                }
                (false, _) => self.free(ns, worker, successor),
            }
        }
        next
    }

    /// Makes a strand available that depends on nothing any more.
    fn free(&mut self, ns: u64, by: u32, strand: u32) {
        let of_strand = self.graph.strands[strand as usize];
        if of_strand.run == OUTSIDE {
            self.push_end(ns + of_strand.duration_ns, NO_WORKER, strand);
            return;
        }
        let run = &self.graph.runs[of_strand.run as usize];
        if let Some(object) = run.object.filter(|_| run.first == strand) {
            let to = self.worker_of(object);
            if self.workers[to as usize].is_idle {
                self.wake(to);
                let delay_ns = if by == to { 0 } else { self.costs.message_ns };
                self.start(ns + delay_ns, to, strand);
            } else {
                self.workers[to as usize].mail.push_back(strand);
            }
            return;
        }
        let by = match by {
            NO_WORKER => 0,
            by => by,
        };
        // A worker that searches takes the oldest task, which may be another one.
        self.put(by, strand);
        if let Some(thief) = self.idle.last().copied() {
            self.wake(thief);
            self.find_work(ns, thief);
        }
    }

    /// Returns the worker of an object.
    fn worker_of(&self, object: u32) -> u32 {
        let ObjectRank { rank, count } = self.graph.objects[object as usize];
        let block = rank * self.workers.len() as u64 / count.max(1);
        self.homes[object as usize].unwrap_or(block as u32)
    }

    fn put(&mut self, worker: u32, strand: u32) {
        let of_worker = &mut self.workers[worker as usize];
        of_worker.tasks.push_back(strand);
        if of_worker.listed.is_none() {
            of_worker.listed = Some(self.with_tasks.len() as u32);
            self.with_tasks.push(worker);
        }
    }

    /// Takes a worker from the list of those with tasks if it has none left.
    fn review(&mut self, worker: u32) {
        if !self.workers[worker as usize].tasks.is_empty() {
            return;
        }
        let Some(place) = self.workers[worker as usize].listed.take() else {
            return;
        };
        self.with_tasks.swap_remove(place as usize);
        if let Some(moved) = self.with_tasks.get(place as usize) {
            self.workers[*moved as usize].listed = Some(place);
        }
    }

    fn find_work(&mut self, ns: u64, worker: u32) {
        let own = &mut self.workers[worker as usize];
        if let Some(strand) = own.mail.pop_front() {
            return self.start(ns, worker, strand);
        }
        if let Some(strand) = own.tasks.pop_back() {
            self.review(worker);
            return self.start(ns, worker, strand);
        }
        if self.with_tasks.is_empty() {
            return self.rest(worker);
        }
        // xorshift64: repeatable, and good enough to choose victims.
        self.random ^= self.random << 13;
        self.random ^= self.random >> 7;
        self.random ^= self.random << 17;
        let place = self.random % self.with_tasks.len() as u64;
        let victim = self.with_tasks[place as usize];
        let strand = self.workers[victim as usize].tasks.pop_front();
        self.review(victim);
        match strand {
            Some(strand) => {
                self.result.steals += 1;
                self.result.stealing_ns += self.costs.steal_ns;
                self.start(ns + self.costs.steal_ns, worker, strand);
            }
            None => self.rest(worker),
        }
    }

    fn start(&mut self, ns: u64, worker: u32, strand: u32) {
        let Strand {
            duration_ns, run, ..
        } = self.graph.strands[strand as usize];
        let run = &self.graph.runs[run as usize];
        if let Some(object) = run.makes.filter(|_| run.first == strand) {
            self.homes[object as usize] = Some(worker);
        }
        self.workers[worker as usize].busy_ns += duration_ns;
        self.push_end(ns + duration_ns, worker, strand);
    }

    fn push_end(&mut self, ns: u64, worker: u32, strand: u32) {
        self.order += 1;
        self.ends.push(Reverse((ns, self.order, worker, strand)));
    }

    fn rest(&mut self, worker: u32) {
        self.workers[worker as usize].is_idle = true;
        self.idle.push(worker);
    }

    fn wake(&mut self, worker: u32) {
        self.workers[worker as usize].is_idle = false;
        self.idle.retain(|idle| *idle != worker);
    }
}
