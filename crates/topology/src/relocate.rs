//! Decides whether running parties should move to other CPUs, from their observed traffic.
//!
//! The gain of moving is weighed against its price, both as time:
//!
//! - **Gain**: the difference between the hop-bytes ([`cost`](crate::cost())) of the observed
//!   traffic under the present placement and under a better one, at [`HOP_BYTE_NS`] nanoseconds
//!   each. With 0.1 ns, a cache line of 64 bytes costs 64 ns at distance 10, which is between two
//!   cores that share memory but no cache, and twice that to the other package. Transfers on
//!   two-socket machines take this long within a factor of two.
//! - **Price**: for each party that moves, the time to refill its second-level cache at 10 GB/s (1
//!   MiB if its size is unknown), plus the time to refill its share of the third-level cache if it
//!   moves to another NUMA node, plus 50 µs for the move itself.
//!
//! # When it pays
//! It is unknown how long the traffic will continue. This is the ski rental problem: the cost of
//! staying grows with time, and the price of moving is paid once. If parties move at the moment
//! when the gain over the observed time reaches the price, they have lost as much by staying as the
//! move costs. So the total loss is at most twice that of an optimal decision with knowledge of the
//! future. Therefore the horizon is the observed time, and the gain is that of all observed bytes.
//!
//! # Search
//! Two start placements are improved by moves to free CPUs and swaps, as long as a step lowers the
//! hop-bytes and the price of all moves together. The first start is the present placement, which
//! finds the few moves that matter. The second is the result of [`place`] for the matrix, which
//! finds placements that no single swap reaches; on symmetric machines, most of its moves are then
//! undone. The better result is used.
//!
//! # Source
//! Ski rental: Karlin, Manasse, Rudolph, Sleator: Competitive snoopy caching. Algorithmica 3, 1988.

mod search;
#[cfg(test)]
mod tests;

use std::collections::HashMap;
use std::fmt;
use std::time::Duration;

use self::search::Search;
use crate::cpu_set::{CpuId, CpuSet};
use crate::matrix::Matrix;
use crate::place::{Distances, PlaceOptions, place};
use crate::topology::{Cache, Topology};

/// The assumed cost in nanoseconds of one byte per unit of distance.
pub const HOP_BYTE_NS: f64 = 0.1;

/// The cost of a move without refilling caches.
const MOVE_FIXED_NS: f64 = 50_000.0;
/// The assumed rate at which caches are refilled: 10 GB/s.
const REFILL_BYTES_PER_NS: f64 = 10.0;
/// The assumed size of a second-level cache if the machine does not report it.
const L2_GUESS_BYTES: u64 = 1 << 20;
/// The largest number of CPUs for which all pairs are compared.
const PAIRS_MAX: usize = 256;

/// A move of one party from one CPU to another.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Relocation {
    /// The party that moves.
    pub party: usize,
    /// The CPU on which it runs now.
    pub from: CpuId,
    /// The CPU to which it moves.
    pub to: CpuId,
}

/// The decision whether to move, and the reason.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct Decision {
    /// The moves. Empty if staying is better.
    pub moves: Vec<Relocation>,
    /// The time that moving would save within the observed time.
    pub gain: Duration,
    /// The price of moving.
    pub price: Duration,
    /// The hop-bytes that moving would save per second.
    pub saved_per_second: f64,
    /// The reason, as a sentence for the user.
    pub reason: String,
}

/// Decides whether parties should move, given what they exchanged within the time `observed`.
///
/// `present` has the CPU of each party. A party without a CPU stays without one, and its traffic
/// does not count, since its distance is unknown. `options` gives the CPUs to choose from, in
/// addition to the present ones. If parties have a CPU each, no two of them end up on the same CPU.
/// If they have a core each, no two of them end up on the same core.
///
/// The run time is that of [`place`], plus the number of CPUs times the number of traffic entries
/// in each pass of the improvement, which is skipped if that product exceeds some millions.
///
/// # Examples
/// ```
/// use std::time::Duration;
/// use raddle_topology::{CpuId, Matrix, PlaceOptions, Topology, relocate};
/// let topology = Topology::synthetic("package:2 core:2 pu:1")?;
/// let mut matrix = Matrix::new(4);
/// matrix.add(0, 3, 1e9);
/// matrix.add(1, 2, 1e9);
/// let present: Vec<_> = (0..4).map(|cpu| Some(CpuId(cpu))).collect();
/// let second = Duration::from_secs(1);
/// let decision = relocate(&matrix, second, &present, &topology, &PlaceOptions::new());
/// // Two parties swap, so that each pair has a package to itself.
/// assert_eq!(decision.moves.len(), 2);
/// assert!(decision.gain > decision.price);
/// # Ok::<(), raddle_topology::TopologyError>(())
/// ```
/// # Source
/// See the module.
#[must_use]
pub fn relocate(
    matrix: &Matrix,
    observed: Duration,
    present: &[Option<CpuId>],
    topology: &Topology,
    options: &PlaceOptions,
) -> Decision {
    let bound: Vec<usize> = (0..present.len().min(matrix.order()))
        .filter(|&party| present[party].is_some())
        .collect();
    let before: Vec<CpuId> = bound.iter().filter_map(|&party| present[party]).collect();
    let mut free = options
        .cpus
        .clone()
        .unwrap_or_else(|| topology.allowed_set());
    free = free.intersection(&topology.allowed_set());
    free.extend_from(&before.iter().copied().collect());
    if bound.len() < 2 {
        return Decision::stay("fewer than two of them are bound");
    }
    if alike(topology, &free) {
        return Decision::stay("all placements cost the same on this machine");
    }
    let matrix = part_of(matrix, &bound);
    if matrix.entry_count() == 0 {
        return Decision::stay("they exchange no data");
    }
    let distances = Distances::new(topology);
    let prices = Prices::new(topology);
    let search = Search::new(&matrix, &distances, &prices, &before, &free);
    let fresh = place(
        &matrix,
        topology,
        &options.clone().cpus(free.clone()).share(false),
    );
    let starts = [
        Some(before.clone()),
        fresh.ok().map(|placement| placement.cpus),
    ];
    let improved = starts
        .into_iter()
        .flatten()
        .map(|start| search.improve(start));
    let best = improved.min_by(|left, right| search.rate(left).total_cmp(&search.rate(right)));
    let after = best.unwrap_or_else(|| before.clone());
    let moves = (0..bound.len())
        .filter(|&at| after[at] != before[at])
        .map(|at| Relocation {
            party: bound[at],
            from: before[at],
            to: after[at],
        });
    Decision::weigh(
        moves.collect(),
        search.hop_bytes(&before) - search.hop_bytes(&after),
        search.price(&after),
        observed,
    )
}

impl Decision {
    /// Returns the decision not to move.
    fn stay(reason: &str) -> Self {
        Self {
            moves: Vec::new(),
            gain: Duration::ZERO,
            price: Duration::ZERO,
            saved_per_second: 0.0,
            reason: format!("no party moves: {reason}"),
        }
    }

    /// Weighs the hop-bytes that moves save within `observed` against their price in nanoseconds.
    #[must_use]
    pub fn weigh(
        mut moves: Vec<Relocation>,
        saved: f64,
        price_ns: f64,
        observed: Duration,
    ) -> Self {
        if moves.is_empty() {
            return Self::stay("no other placement is worth its price");
        }
        let duration = |ns: f64| Duration::try_from_secs_f64(ns * 1e-9).unwrap_or_default();
        let (gain, price) = (duration(saved * HOP_BYTE_NS), duration(price_ns));
        let seconds = observed.as_secs_f64().max(1e-9);
        let count = moves.len();
        let weighed = format!(
            "it saves {gain:.1?} in {observed:.1?}, {:.3e} hop-bytes a second, \
             and costs {price:.1?}",
            saved / seconds
        );
        let reason = if gain > price {
            format!("{count} move: {weighed}")
        } else {
            moves.clear();
            format!("no party moves: for {count} of them {weighed}")
        };
        Self {
            moves,
            gain,
            price,
            saved_per_second: saved / seconds,
            reason,
        }
    }
}

impl fmt::Display for Decision {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(&self.reason)
    }
}

/// Returns true if all pairs of CPUs have the same distance, so that all placements cost the same.
///
/// With more than 256 CPUs, only consecutive CPUs are compared, and the first one with each other.
///
/// # Examples
/// ```
/// use raddle_topology::{Topology, alike};
/// let flat = Topology::synthetic("package:1 core:4 pu:1")?;
/// assert!(alike(&flat, &flat.allowed_set()));
/// let deep = Topology::synthetic("package:2 core:2 pu:1")?;
/// assert!(!alike(&deep, &deep.allowed_set()));
/// # Ok::<(), raddle_topology::TopologyError>(())
/// ```
#[must_use]
pub fn alike(topology: &Topology, cpus: &CpuSet) -> bool {
    let cpus: Vec<CpuId> = cpus.iter().collect();
    if cpus.len() < 3 {
        return true;
    }
    let distances = Distances::new(topology);
    let first = distances.between(cpus[0], cpus[1]);
    let is_like = |left: usize, right: usize| distances.between(cpus[left], cpus[right]) == first;
    if cpus.len() > PAIRS_MAX {
        return (1..cpus.len()).all(|at| is_like(0, at) && is_like(at - 1, at));
    }
    (0..cpus.len()).all(|left| (0..left).all(|right| is_like(left, right)))
}

/// Returns the matrix of some parties among each other.
fn part_of(matrix: &Matrix, parties: &[usize]) -> Matrix {
    let mut place = vec![None; matrix.order()];
    for (at, &party) in parties.iter().enumerate() {
        place[party] = Some(at);
    }
    let mut part = Matrix::new(parties.len());
    for (at, &party) in parties.iter().enumerate() {
        for (to, bytes) in matrix.row(party) {
            if let Some(to) = place[to] {
                part.add(at, to, bytes);
            }
        }
    }
    part
}

/// Returns the price of moving a party from the first CPU to the second, summed over all pairs.
///
/// # Source
/// Same as [`relocate`]: refilling the caches, and the move itself.
#[must_use]
pub fn relocation_price(topology: &Topology, moves: &[(CpuId, CpuId)]) -> Duration {
    let prices = Prices::new(topology);
    let price_ns: f64 = moves.iter().map(|&(from, to)| prices.of(from, to)).sum();
    Duration::from_nanos(price_ns as u64)
}

/// The prices of moving to each CPU.
struct Prices<'topology> {
    topology: &'topology Topology,
    /// The nanoseconds to refill the own caches of each CPU, and its share of the third level.
    refill_ns: HashMap<CpuId, (f64, f64)>,
}

impl<'topology> Prices<'topology> {
    fn new(topology: &'topology Topology) -> Self {
        let mut refill_ns: HashMap<CpuId, (f64, f64)> = HashMap::new();
        let fill = |bytes: u64| bytes as f64 / REFILL_BYTES_PER_NS;
        for cpu in topology.cpus() {
            refill_ns.insert(cpu.id, (fill(L2_GUESS_BYTES), 0.0));
        }
        let share = |cache: &Cache| {
            let bytes = cache.size_bytes.filter(|&bytes| bytes > 0)?;
            Some(fill(bytes) / cache.cpus.len().max(1) as f64)
        };
        for cache in topology.caches_at(2) {
            let Some(bytes) = cache.size_bytes.filter(|&bytes| bytes > 0) else {
                continue;
            };
            for cpu in cache.cpus.iter() {
                refill_ns.entry(cpu).or_default().0 = fill(bytes);
            }
        }
        for cache in topology.caches_at(3) {
            for cpu in cache.cpus.iter() {
                refill_ns.entry(cpu).or_default().1 = share(cache).unwrap_or(0.0);
            }
        }
        Self {
            topology,
            refill_ns,
        }
    }

    /// Returns the price of a move in nanoseconds, which is 0 if the CPUs are the same.
    fn of(&self, from: CpuId, to: CpuId) -> f64 {
        if from == to {
            return 0.0;
        }
        let (own, shared) = self.refill_ns.get(&to).copied().unwrap_or_default();
        let node = |cpu| self.topology.cpu(cpu).and_then(|cpu| cpu.numa_node);
        let far = if node(from) == node(to) { 0.0 } else { shared };
        MOVE_FIXED_NS + own + far
    }
}
