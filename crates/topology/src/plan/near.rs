//! The CPUs that `auto` selects: free ones, near each other, one per core first.
//!
//! A free CPU has a rank: the number of CPUs of its core that are claimed by another user or come
//! before it. CPUs of rank 0 have a core to themselves. If there are enough of them, the workers go
//! into the smallest part of the machine that has enough. Among parts of the same size, the one
//! with the fewest free CPUs is chosen, so that larger parts stay whole for others. Otherwise all
//! CPUs of rank 0 are taken, and the remaining workers get CPUs of the next rank in the same way.

use std::collections::BTreeMap;

use crate::claims::Others;
use crate::cpu_set::{CpuId, CpuSet};
use crate::object::Object;
use crate::topology::Topology;

/// Returns at most `worker_count` free CPUs, by rank and then in the order of the tree.
pub(super) fn near(topology: &Topology, others: &Others, worker_count: usize) -> Vec<CpuId> {
    let mut chosen = Vec::new();
    for free in ranks(topology, others) {
        let wanted = worker_count - chosen.len();
        let mut part = free.clone();
        if let Some(object) = smallest_with(topology.root(), &free, wanted) {
            part = object.cpus.intersection(&free);
        }
        let in_order = topology.allowed_cpus().map(|cpu| cpu.id);
        chosen.extend(in_order.filter(|&cpu| part.contains(cpu)).take(wanted));
        if chosen.len() == worker_count {
            break;
        }
    }
    chosen
}

/// Returns the free CPUs of each rank, lowest rank first.
fn ranks(topology: &Topology, others: &Others) -> Vec<CpuSet> {
    let mut on_core: BTreeMap<usize, usize> = BTreeMap::new();
    for cpu in topology.cpus().iter().filter(|cpu| others.have(cpu.id)) {
        if let Some(core) = cpu.core {
            *on_core.entry(core).or_default() += 1;
        }
    }
    let mut ranks: Vec<CpuSet> = Vec::new();
    for cpu in topology.allowed_cpus().filter(|cpu| !others.have(cpu.id)) {
        let rank = cpu.core.map_or(0, |core| {
            let before = on_core.entry(core).or_default();
            *before += 1;
            *before - 1
        });
        if ranks.len() <= rank {
            ranks.resize(rank + 1, CpuSet::new());
        }
        ranks[rank].insert(cpu.id);
    }
    ranks
}

/// Returns the deepest object with at least `wanted` of the `free` CPUs. Among objects of the same
/// depth, it is the one with the fewest free CPUs.
fn smallest_with<'tree>(
    object: &'tree Object,
    free: &CpuSet,
    wanted: usize,
) -> Option<&'tree Object> {
    if object.cpus.intersection(free).len() < wanted {
        return None;
    }
    let within = object
        .children
        .iter()
        .filter_map(|child| smallest_with(child, free, wanted));
    let spare = |found: &&Object| {
        let depth = found.depth.unwrap_or(0);
        (usize::MAX - depth, found.cpus.intersection(free).len())
    };
    Some(within.min_by_key(spare).unwrap_or(object))
}
