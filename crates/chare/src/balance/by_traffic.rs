//! Places elements that communicate on one worker, or on workers that are near each other.
//!
//! A message between workers is assumed to cost the transfer of its cell and its arguments from one
//! cache to another ([`HOP_BYTE_NS`]). A message within a worker costs nothing. The total message
//! cost is assumed to be spread evenly over the workers, as it is with many elements; the worker
//! with the most load bears it in addition. A placement is better if the sum of its largest load
//! and the message cost is smaller.
//!
//! Two placements are tried. The first is computed from scratch, by the function that places
//! everything ([`place`]), with the loads of the elements. On machines with all workers equally far
//! apart, each of its groups goes to the worker that already has most of it. The second starts from
//! the present placement, and moves or swaps the elements that gain from it. The placement with the
//! larger saving, less the estimated cost of its moves, is used.
//! # Source
//! Jeannot, Mercier, Tessier: Process placement in multicore clusters. IEEE TPDS 25(4), 2014, for
//! placement of loads by communication; Kernighan, Lin: An efficient heuristic procedure for
//! partitioning graphs. Bell System Technical Journal 49(2), 1970, for the swaps.

mod from_here;
#[cfg(test)]
mod tests;

use std::collections::HashSet;
use std::time::Duration;

use raddle_sync::prim::Mutex;
use raddle_topology::{
    CpuId, CpuSet, Distances, HOP_BYTE_NS, Matrix, PlaceOptions, Topology, alike, place,
};

use self::from_here::improve;
use super::MOVE_GUESS;
use super::strategy::{LoadView, Strategy};

/// The size of a message's cell, which moves between caches besides the arguments.
const CELL_BYTES: u64 = 128;

/// A strategy that places elements by the messages between them and by their run times.
///
/// One of 128 runs of entries is measured. The possible savings add up while elements stay, and
/// elements move when the sum has reached the cost of the moves. As in the ski rental problem, this
/// never costs more than twice the cost with full knowledge.
///
/// # Examples
/// ```
/// use std::time::Duration;
/// use raddle_chare::ArrayOptions;
/// use raddle_chare::balance::{Balancing, ByTraffic};
/// let balancing = Balancing::new(ByTraffic::default()).every(Duration::from_millis(10));
/// let options: ArrayOptions<usize> = ArrayOptions::new(1_000).balanced(balancing);
/// # let _ = options;
/// ```
#[derive(Debug)]
pub struct ByTraffic {
    sampling: u32,
    /// A synthetic machine, used if the workers are not bound each to its own CPU.
    flat: Mutex<Option<Topology>>,
}

impl Default for ByTraffic {
    fn default() -> Self {
        Self::sampled(128)
    }
}

impl ByTraffic {
    /// Creates a strategy that measures one in `sampling` runs of entries; 0 and 1 measure every
    /// run.
    #[must_use]
    pub fn sampled(sampling: u32) -> Self {
        Self {
            sampling: sampling.clamp(1, 1 << 20),
            flat: Mutex::new(None),
        }
    }

    /// Calls `call` with a machine and the CPU of each worker on that machine.
    fn with_machine<R>(
        &self,
        view: &LoadView,
        call: impl FnOnce(&Topology, &[CpuId]) -> R,
    ) -> Option<R> {
        // If each worker is bound to its own CPU, the distances are those of this machine.
        let bound: Vec<CpuId> = view.cpus.iter().flatten().copied().collect();
        let distinct: HashSet<_> = bound.iter().collect();
        if distinct.len() == view.worker_count
            && bound.len() == view.worker_count
            && let Ok(topology) = Topology::this_machine()
        {
            return Some(call(topology, &bound));
        }
        // Otherwise, assume that all workers are equally far apart. The synthetic machine is kept
        // for the next call.
        let mut flat = self.flat.lock().expect("nothing panics under this lock");
        if flat
            .as_ref()
            .is_none_or(|flat| flat.cpu_count() != view.worker_count)
        {
            let description = format!("package:1 core:{} pu:1", view.worker_count);
            *flat = Topology::synthetic(&description).ok();
        }
        let flat = flat.as_ref()?;
        let cpus: Vec<CpuId> = flat.cpus().iter().map(|cpu| cpu.id).collect();
        Some(call(flat, &cpus))
    }
}

impl Strategy for ByTraffic {
    fn name(&self) -> &'static str {
        "traffic"
    }

    fn needs_traffic(&self) -> bool {
        true
    }

    fn sampling(&self) -> u32 {
        self.sampling
    }

    fn is_patient(&self) -> bool {
        true
    }

    fn place(&self, view: &LoadView) -> Vec<usize> {
        let present: Vec<usize> = view.elements.iter().map(|element| element.worker).collect();
        if view.worker_count < 2 || view.traffic.is_empty() {
            return present;
        }
        let best = self.with_machine(view, |topology, cpus| {
            let costs = Costs::new(view, topology, cpus);
            let here = improve(view, &costs, present.clone());
            let fresh = fresh(view, topology, cpus, &present);
            let rate = |placed: &[usize]| {
                let moved = placed.iter().zip(&present).filter(|(to, from)| to != from);
                costs.most(view, placed) + moved.count() as f64 * MOVE_GUESS.as_nanos() as f64
            };
            match fresh {
                Some(fresh) if rate(&fresh) < rate(&here) => fresh,
                _ => here,
            }
        });
        best.unwrap_or(present)
    }

    fn gain(&self, view: &LoadView, placed: &[usize]) -> Duration {
        let present: Vec<usize> = view.elements.iter().map(|element| element.worker).collect();
        let gain_ns = self.with_machine(view, |topology, cpus| {
            let costs = Costs::new(view, topology, cpus);
            costs.most(view, &present) - costs.most(view, placed)
        });
        Duration::try_from_secs_f64(gain_ns.unwrap_or(0.0) * 1e-9).unwrap_or_default()
    }
}

/// The cost of moving a byte from one worker to another.
struct Costs {
    worker_count: usize,
    /// Nanoseconds per byte, row-major: a row for each sender.
    byte_ns: Vec<f64>,
}

impl Costs {
    fn new(view: &LoadView, topology: &Topology, cpus: &[CpuId]) -> Self {
        let distances = Distances::new(topology);
        let far = |from, to| distances.between(from, to).unwrap_or(0.0) * HOP_BYTE_NS;
        let pairs = cpus
            .iter()
            .flat_map(|&from| cpus.iter().map(move |&to| (from, to)));
        Self {
            worker_count: view.worker_count,
            byte_ns: pairs.map(|(from, to)| far(from, to)).collect(),
        }
    }

    fn byte_ns(&self, from: usize, to: usize) -> f64 {
        self.byte_ns[from * self.worker_count + to]
    }

    /// Returns the cost of a placement in nanoseconds: the load of the worker that has the most to
    /// do, plus an equal share of the message cost.
    fn most(&self, view: &LoadView, placed: &[usize]) -> f64 {
        let load = view
            .loads_when(placed)
            .into_iter()
            .max()
            .unwrap_or_default();
        let messages =
            flows(view).map(|(from, to, bytes)| bytes * self.byte_ns(placed[from], placed[to]));
        load.as_nanos() as f64 + messages.sum::<f64>() / self.worker_count.max(1) as f64
    }
}

/// Returns the sender, the receiver and the number of bytes of each pair of different elements.
fn flows(view: &LoadView) -> impl Iterator<Item = (usize, usize, f64)> {
    let others = view
        .traffic
        .iter()
        .filter(|traffic| traffic.from != traffic.to);
    others.map(|traffic| {
        let bytes = traffic
            .bytes
            .saturating_add(traffic.message_count.saturating_mul(CELL_BYTES));
        (traffic.from, traffic.to, bytes as f64)
    })
}

/// Computes a placement from scratch. Returns `None` if no placement is found.
fn fresh(
    view: &LoadView,
    topology: &Topology,
    cpus: &[CpuId],
    present: &[usize],
) -> Option<Vec<usize>> {
    let mut entries: Vec<_> = flows(view).collect();
    entries.sort_by_key(|&(from, to, _)| (from, to));
    // The communication matrix of the elements. Its entries are added in a fixed order, so that
    // equal inputs give equal placements.
    let mut matrix = Matrix::new(view.elements.len());
    for (from, to, bytes) in entries {
        matrix.add(from, to, bytes);
    }
    let set: CpuSet = cpus.iter().copied().collect();
    let mut options = PlaceOptions::new().cpus(set.clone());
    let loads: Vec<f64> = view
        .elements
        .iter()
        .map(|element| element.load.as_secs_f64())
        .collect();
    if loads.iter().any(|&load| load > 0.0) {
        options = options.loads(loads);
    }
    // Place the elements on the CPUs of the workers, and translate the CPUs into workers.
    let placement = place(&matrix, topology, &options).ok()?;
    let worker_of = |cpu: &CpuId| cpus.iter().position(|own| own == cpu);
    let placed: Option<Vec<usize>> = placement.cpus.iter().map(worker_of).collect();
    let placed = placed?;
    Some(if alike(topology, &set) {
        renamed(view.worker_count, &placed, present)
    } else {
        placed
    })
}

/// Assigns each group of elements to the worker that has most of it already. The groups with the
/// largest such share go first.
fn renamed(worker_count: usize, placed: &[usize], present: &[usize]) -> Vec<usize> {
    // The number of elements that each pair of a group and a worker has in common.
    let mut shared = vec![0_usize; worker_count * worker_count];
    for (&group, &worker) in placed.iter().zip(present) {
        shared[group * worker_count + worker] += 1;
    }
    let mut order: Vec<usize> = (0..shared.len()).collect();
    order.sort_by_key(|&at| std::cmp::Reverse(shared[at]));
    let mut name = vec![None; worker_count];
    let mut is_given = vec![false; worker_count];
    for at in order {
        let (group, worker) = (at / worker_count, at % worker_count);
        if name[group].is_none() && !is_given[worker] {
            name[group] = Some(worker);
            is_given[worker] = true;
        }
    }
    let worker = |&group: &usize| name[group].unwrap_or(group);
    placed.iter().map(worker).collect()
}
