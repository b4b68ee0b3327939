//! What a plan does, in one line.

use std::collections::BTreeSet;

use crate::affinity::Affinity;
use crate::claims::Others;
use crate::cpu_set::{CpuId, CpuSet, number_list};
use crate::topology::{Cpu, Topology};

/// Says what was done: by which rule, how many workers are where, who else is there, and who is not bound.
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

/// As [`summary`], with the name of whatever placed the workers.
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
    parts.extend(company(&others.processes, "another Raddle process"));
    parts.extend(company(&others.runtimes, "another runtime of this process"));
    parts.extend(others.note.clone());
    format!("placed by {rule}: {}", parts.join("; "))
}

fn unbound(rule: &str, count: usize, is_all: bool) -> String {
    let are = if count == 1 { "is" } else { "are" };
    let bound = format!("{} {are} not bound", workers(count));
    match (rule, is_all) {
        ("auto", true) => format!("{bound}, since there is no free CPU"),
        ("auto", false) => format!("{bound}, since there is no free CPU left"),
        _ => format!("{bound}, the operating system chooses"),
    }
}

/// Says that nobody is bound, since others share the CPUs unseen.
pub(super) fn unseen(topology: &Topology, worker_count: usize) -> String {
    let quota = topology.limits().quota.as_ref();
    let quota = quota.map_or_else(String::new, |quota| format!(" ({quota})"));
    format!(
        "placed by auto: {} are not bound, since the container's CPU quota{quota} shares {} CPUs with \
         processes that cannot be seen from here",
        workers(worker_count),
        topology.allowed_cpus().count(),
    )
}

/// Says how the CPUs lie: `one per core of package 0`.
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

fn company(cpus: &CpuSet, who: &str) -> Option<String> {
    let are = if cpus.len() == 1 { "is" } else { "are" };
    (!cpus.is_empty()).then(|| format!("{} {are} used by {who}", name_cpus(cpus)))
}

fn name_cpus(cpus: &CpuSet) -> String {
    let noun = if cpus.len() == 1 { "CPU" } else { "CPUs" };
    format!("{noun} {}", number_list(cpus.iter().map(|cpu| cpu.0)))
}

fn workers(count: usize) -> String {
    let noun = if count == 1 { "worker" } else { "workers" };
    format!("{count} {noun}")
}
