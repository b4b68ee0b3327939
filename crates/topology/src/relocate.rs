//! Whether parties that run already should run elsewhere, from what they were seen to exchange.
//!
//! What would be gained is weighed against what moving costs, both as time:
//!
//! - **Gain**: the hop-bytes ([`cost`](crate::cost())) of what was observed, as it is placed and as it could be, at [`HOP_BYTE_NS`]
//!   nanoseconds each. 0.1 ns makes a cache line of 64 bytes cost 64 ns at distance 10, which is from one core to another with which
//!   it shares memory and no cache, and twice that to the other package: what such transfers take on two-socket machines,
//!   within a factor of two.
//! - **Price**: for each party that moves, its second-level cache to be filled again at 10 GB/s (1 MiB where its size is not
//!   known), if it comes to another NUMA node also its share of the third level, and 50 µs for the move itself.
//!
//! # When it pays
//! Nobody knows for how long the traffic goes on. As with skis that one may rent or buy: what is given away by staying grows with time, and
//! the price of moving is paid once. Who moves at the moment when the gain over the time observed has reached the price has given away as
//! much as it pays, and so has lost at most twice what somebody would have lost who knew the future. So the horizon is as long as
//! what was observed, and the gain is that of the observed bytes, all of them.
//!
//! # What is tried
//! Two starts are improved, by moves to free CPUs and swaps that lower the hop-bytes and the price of all moves together, as long as one
//! does: the present placement, which finds the few moves that matter, and what [`place`] makes of the matrix from nothing, which finds
//! what no single swap reaches, and most of whose moves are taken back where machines are symmetric. The better one counts.
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

/// Nanoseconds that a byte is thought to cost for each unit of distance.
pub const HOP_BYTE_NS: f64 = 0.1;

/// What a move costs without its caches.
const MOVE_FIXED_NS: f64 = 50_000.0;
/// How fast caches are thought to fill: 10 GB/s.
const REFILL_BYTES_PER_NS: f64 = 10.0;
/// The second-level cache of machines that do not tell.
const L2_GUESS_BYTES: u64 = 1 << 20;
/// Of how many CPUs all pairs are compared.
const PAIRS_MAX: usize = 256;

/// One party goes from one CPU to another.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Relocation {
    /// The party.
    pub party: usize,
    /// The CPU that it leaves.
    pub from: CpuId,
    /// The CPU that it goes to.
    pub to: CpuId,
}

/// What was decided, and why.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct Decision {
    /// Who moves; empty where staying is better.
    pub moves: Vec<Relocation>,
    /// What moving would save over a time as long as was observed.
    pub gain: Duration,
    /// What moving would cost.
    pub price: Duration,
    /// The hop-bytes that moving would save in each second.
    pub saved_per_second: f64,
    /// Why, for a person.
    pub reason: String,
}

/// Decides whether parties should move, given what they exchanged within `observed`.
///
/// `present` has the CPU of each party; those without one stay without, and what they exchange does not count, since nobody knows how
/// far it goes. `options` says which CPUs there are to choose from: among others those where parties are now. No two parties that
/// have a CPU each come to share one, or a core while they had one each. Cost: that of [`place`], and the square of the number of parties times what each
/// exchanges with others, where that is no more than some millions.
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
/// // Two of them change places, and each pair has a package to itself.
/// assert_eq!(decision.moves.len(), 2);
/// assert!(decision.gain > decision.price);
/// # Ok::<(), raddle_topology::TopologyError>(())
/// ```
/// # Source
/// As the module.
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
        return Decision::stay("they exchange nothing");
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
    fn stay(reason: &str) -> Self {
        Self {
            moves: Vec::new(),
            gain: Duration::ZERO,
            price: Duration::ZERO,
            saved_per_second: 0.0,
            reason: format!("nobody moves: {reason}"),
        }
    }

    /// Weighs what these moves save, in hop-bytes within `observed`, against what they cost, in nanoseconds.
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
            "it saves {gain:.1?} in {observed:.1?}, {:.3e} hop-bytes a second, and costs {price:.1?}",
            saved / seconds
        );
        let reason = if gain > price {
            format!("{count} move: {weighed}")
        } else {
            moves.clear();
            format!("nobody moves: for {count} of them {weighed}")
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

/// True when no placement on these CPUs is better than another: all are equally far apart.
///
/// Of more than 256 CPUs, those that follow each other in number are compared, and the first with each.
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

/// What some parties exchange among each other.
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

/// What it costs when somebody goes from the one CPU to the other, for each pair.
///
/// # Source
/// As [`relocate`]: caches to fill, and the move itself.
#[must_use]
pub fn relocation_price(topology: &Topology, moves: &[(CpuId, CpuId)]) -> Duration {
    let prices = Prices::new(topology);
    let price_ns: f64 = moves.iter().map(|&(from, to)| prices.of(from, to)).sum();
    Duration::from_nanos(price_ns as u64)
}

/// What it costs to come to a CPU.
struct Prices<'topology> {
    topology: &'topology Topology,
    /// Nanoseconds to fill the caches of a CPU, and those that it shares with its NUMA node.
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

    /// Nanoseconds; none for who stays.
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
