//! The one-line summary of a plan.

use std::collections::BTreeSet;

use crate::affinity::Affinity;
use crate::claims::Others;
use crate::cpu_set::{CpuId, CpuSet, number_list};
use crate::topology::{Cpu, Topology};

/// Returns the summary: the rule, the workers on CPUs, the unbound workers, and the other users.
pub(super) fn summary(
    topology: &Topology,
    affinity: &Affinity,
    cpus: &[Option<CpuId>],
    others: &Others,
) -> String {
    let rule = match affinity {
        Affinity::Explicit(_) => "list".to_owned(),
        named => named.to_string(),
    };
    placed_by(topology, &rule, cpus, others)
}

/// Returns the [`summary`], with the name of the rule that placed the workers.
pub(super) fn placed_by(
    topology: &Topology,
    rule: &str,
    cpus: &[Option<CpuId>],
    others: &Others,
) -> String {
    let bound: Vec<CpuId> = cpus.iter().flatten().copied().collect();
    let mut parts = Vec::new();
    if !bound.is_empty() {
        let set: CpuSet = bound.iter().copied().collect();
        let place = place(topology, &set, bound.len());
        parts.push(format!(
            "{} on {}{place}",
            workers(bound.len()),
            name_cpus(&set)
        ));
    }
    let unbound_count = cpus.len() - bound.len();
    if unbound_count > 0 {
        parts.push(unbound(rule, unbound_count, bound.is_empty()));
    }
    parts.extend(used_by(&others.processes, "another Raddle process"));
    parts.extend(used_by(&others.runtimes, "another runtime of this process"));
    parts.extend(others.note.clone());
    format!("placed by {rule}: {}", parts.join("; "))
}

/// Returns the summary if no worker is bound.
pub(super) fn unbound_only(rule: &str, count: usize) -> String {
    format!("placed by {rule}: {}", unbound(rule, count, true))
}

/// Describes the workers that are not bound.
fn unbound(rule: &str, count: usize, is_all: bool) -> String {
    let are = if count == 1 { "is" } else { "are" };
    let bound = format!("{} {are} not bound", workers(count));
    match (rule, is_all) {
        ("auto", true) => format!("{bound}, since there is no free CPU"),
        ("auto", false) => format!("{bound}, since there is no free CPU left"),
        _ => format!("{bound}, the operating system chooses"),
    }
}

/// Returns the summary for workers that are not bound because other users of the CPUs are not
/// visible.
pub(super) fn unseen(topology: &Topology, worker_count: usize) -> String {
    let quota = topology.limits().quota.as_ref();
    let quota = quota.map_or_else(String::new, |quota| format!(" ({quota})"));
    format!(
        "placed by auto: {} are not bound, since the container's CPU quota{quota} shares {} CPUs \
         with processes that cannot be seen from here",
        workers(worker_count),
        topology.allowed_cpus().count(),
    )
}

/// Describes the position of the CPUs: `one per core of package 0`.
fn place(topology: &Topology, set: &CpuSet, worker_count: usize) -> String {
    let known: Vec<&Cpu> = set.iter().filter_map(|cpu| topology.cpu(cpu)).collect();
    let cores: BTreeSet<_> = known.iter().filter_map(|cpu| cpu.core).collect();
    let each = if worker_count > set.len() {
        "sharing CPUs"
    } else if cores.len() == set.len() {
        "one per core"
    } else if cores.is_empty() {
        "one per CPU"
    } else {
        "one per hardware thread"
    };
    let all_in = |object: fn(&Cpu) -> Option<usize>| {
        let places: BTreeSet<_> = known.iter().map(|cpu| object(cpu)).collect();
        match places.first() {
            Some(&Some(only)) if places.len() == 1 => Ok(only),
            _ => Err(places.len()),
        }
    };
    let many_nodes = topology.numa_nodes().len() > 1;
    let of = match (all_in(|cpu| cpu.package), all_in(|cpu| cpu.numa_node)) {
        (Ok(package), Ok(node)) if many_nodes => {
            format!(" of NUMA node {node} in package {package}")
        }
        (Ok(package), _) => format!(" of package {package}"),
        (Err(_), Ok(node)) if many_nodes => format!(" of NUMA node {node}"),
        (Err(count), _) if count > 1 => format!(" of {count} packages"),
        _ => String::new(),
    };
    format!(" ({each}{of})")
}

/// Describes the CPUs of another user.
fn used_by(cpus: &CpuSet, user: &str) -> Option<String> {
    let are = if cpus.len() == 1 { "is" } else { "are" };
    (!cpus.is_empty()).then(|| format!("{} {are} used by {user}", name_cpus(cpus)))
}

fn name_cpus(cpus: &CpuSet) -> String {
    let noun = if cpus.len() == 1 { "CPU" } else { "CPUs" };
    format!("{noun} {}", number_list(cpus.iter().map(|cpu| cpu.0)))
}

fn workers(count: usize) -> String {
    let noun = if count == 1 { "worker" } else { "workers" };
    format!("{count} {noun}")
}
