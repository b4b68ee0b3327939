//! The order in which workers take the CPUs of a machine.
//!
//! *Compact* is the order of the tree, as in hwloc and `KMP_AFFINITY=compact`. *Scatter*
//! distributes the workers at every object to its children in turn, recursively. CPUs that are the
//! second hardware thread of a core come after all first ones, because two workers on a core are
//! nearer than any two on different cores, even if the tree is uneven.
//!
//! # Source
//! OpenMP 5.2, section "Controlling OpenMP thread affinity" (`close` and `spread`); the hwloc
//! manual, `hwloc_distrib`.

use crate::cpu_set::{CpuId, CpuSet};
use crate::object::{Object, ObjectKind};
use crate::topology::Topology;

/// Returns the allowed CPUs so that neighbours in the list share as much as possible.
pub(super) fn compact(topology: &Topology) -> Vec<CpuId> {
    topology.allowed_cpus().map(|cpu| cpu.id).collect()
}

/// Returns the allowed CPUs so that every prefix of the list is spread as far as possible.
pub(super) fn scatter(topology: &Topology) -> Vec<CpuId> {
    let ranked = rank_in_core(topology);
    let rank_count = ranked.iter().map(|&(_, rank)| rank + 1).max().unwrap_or(0);
    let mut order = Vec::with_capacity(ranked.len());
    for rank in 0..rank_count {
        let round = ranked
            .iter()
            .filter(|&&(_, own)| own == rank)
            .map(|&(cpu, _)| cpu)
            .collect();
        order.extend(deal(topology.root(), &round));
    }
    order
}

/// Returns each allowed CPU with its rank among the allowed CPUs of its core.
fn rank_in_core(topology: &Topology) -> Vec<(CpuId, usize)> {
    let mut ranked: Vec<(CpuId, usize)> = Vec::new();
    let mut core_before = None;
    for cpu in topology.allowed_cpus() {
        let rank = match ranked.last() {
            Some(&(_, rank)) if cpu.core.is_some() && cpu.core == core_before => rank + 1,
            _ => 0,
        };
        core_before = cpu.core;
        ranked.push((cpu.id, rank));
    }
    ranked
}

/// Lists the CPUs of `object` that are in `chosen`, taking the children of the object in turn.
fn deal(object: &Object, chosen: &CpuSet) -> Vec<CpuId> {
    if object.kind == ObjectKind::Pu {
        return object.cpus.intersection(chosen).iter().collect();
    }
    let mut hands: Vec<_> = object
        .children
        .iter()
        .map(|child| deal(child, chosen).into_iter())
        .collect();
    let mut dealt = Vec::new();
    while !hands.is_empty() {
        hands.retain_mut(|hand| hand.next().map(|cpu| dealt.push(cpu)).is_some());
    }
    dealt
}
