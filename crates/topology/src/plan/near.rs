//! The CPUs that `auto` takes: one of each core first, near each other, none that somebody else has.
//!
//! A free CPU has a rank: how many CPUs of its core somebody else has claimed or come before it there. Those of rank 0
//! have a core to themselves. If they are enough, the workers go into the smallest part of the machine
//! that has enough of them; of parts equally small, into the one with the fewest to spare, so that larger ones stay
//! whole for others. If not, all of rank 0 are taken, and the rest is looked for among those of the next rank, likewise.

use std::collections::BTreeMap;

use crate::claims::Others;
use crate::cpu_set::{CpuId, CpuSet};
use crate::object::Object;
use crate::topology::Topology;

/// At most `worker_count` free CPUs: those of lower rank first, those of one rank in the order of the tree.
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

/// The free CPUs of each rank, lowest first.
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

/// The deepest object with at least `wanted` of the `free` CPUs, and of those equally deep the one with the fewest.
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
