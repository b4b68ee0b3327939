//! Tells a person why a worker runs where it does: where that is, and whom it shares what with.

use std::collections::BTreeMap;

use crate::affinity::Affinity;
use crate::cpu_set::{CpuId, CpuSet, number_list};
use crate::object::{Attributes, CacheKind, Object, ObjectKind};
use crate::topology::{Cpu, Topology};

/// Writes one reason per worker; `cpus` has the CPU of each that is bound.
pub(super) fn reasons(
    topology: &Topology,
    affinity: &Affinity,
    cpus: &[Option<CpuId>],
    before: usize,
) -> Vec<String> {
    let mut workers_on: BTreeMap<CpuId, Vec<usize>> = BTreeMap::new();
    for (worker, cpu) in cpus.iter().enumerate() {
        if let &Some(cpu) = cpu {
            workers_on.entry(cpu).or_default().push(worker);
        }
    }
    let crowd = Crowd {
        topology,
        used: cpus.iter().flatten().copied().collect(),
        workers_on,
        // Numbers of packages and nodes tell nothing where there is only one of them.
        many_packages: topology.package_count() > 1,
        many_nodes: topology.numa_nodes().len() > 1,
    };
    let listed = match affinity {
        Affinity::Explicit(list) => Some(list.len()),
        _ => None,
    };
    let reason = |(worker, &cpu): (usize, &Option<CpuId>)| {
        let Some(cpu) = cpu else {
            return unbound(affinity).to_owned();
        };
        let mut reason = crowd.place(cpu);
        match listed {
            Some(length) if before + worker >= length => {
                let turn = (before + worker) % length + 1;
                reason = format!("entry {turn} of the list again: {reason}");
            }
            Some(_) => reason = format!("entry {} of the list: {reason}", before + worker + 1),
            None => {}
        }
        reason + "; " + &crowd.company(worker, cpu)
    };
    cpus.iter().enumerate().map(reason).collect()
}

/// Says why a worker is not bound.
fn unbound(affinity: &Affinity) -> &'static str {
    match affinity {
        Affinity::Auto => {
            "not bound: no CPU was left for it alone, so the operating system chooses"
        }
        _ => "not bound: the affinity is none, so the operating system chooses",
    }
}

struct Crowd<'topology> {
    topology: &'topology Topology,
    /// The CPUs that have a worker.
    used: CpuSet,
    workers_on: BTreeMap<CpuId, Vec<usize>>,
    many_packages: bool,
    many_nodes: bool,
}

impl Crowd<'_> {
    /// Says where a CPU is: `core 3 of package 0, first hardware thread`.
    fn place(&self, id: CpuId) -> String {
        let Some(cpu) = self.topology.cpu(id) else {
            return format!("CPU {id}");
        };
        let mut place = match cpu.core {
            Some(core) => format!("core {core}"),
            None => format!("CPU {id}"),
        };
        match (cpu.package, cpu.numa_node) {
            (Some(package), _) if self.many_packages => place += &format!(" of package {package}"),
            (_, Some(node)) if self.many_nodes => place += &format!(" of NUMA node {node}"),
            (Some(package), _) => place += &format!(" of package {package}"),
            _ => {}
        }
        if self.topology.smt_siblings(id).count() > 1 {
            place += &format!(", {} hardware thread", ordinal(cpu));
        }
        place
    }

    /// Says whom the worker shares its CPU with, or else the smallest thing that it shares with anybody.
    fn company(&self, worker: usize, id: CpuId) -> String {
        if let Some(workers) = self.workers_on.get(&id).filter(|workers| workers.len() > 1) {
            let others = workers.iter().copied().filter(|&other| other != worker);
            return format!("the CPU is shared with {}", name_workers(others));
        }
        let above = self.above(id);
        for (shared, what) in above {
            let company = shared.intersection(&self.used);
            if company.len() < 2 {
                continue;
            }
            let mut others: Vec<_> = company
                .iter()
                .filter(|&other| other != id)
                .filter_map(|other| self.workers_on.get(&other))
                .flatten()
                .copied()
                .collect();
            others.sort_unstable();
            return format!("shares {what} with {}", name_workers(others));
        }
        "shares no cache, memory or package with another worker".to_owned()
    }

    /// Lists what holds the CPU and is worth naming, from the CPU upwards.
    fn above(&self, id: CpuId) -> Vec<(&CpuSet, String)> {
        let mut chain = Vec::new();
        let mut object = Some(self.topology.root());
        while let Some(current) = object {
            // Memory is local to all of an object, so it comes before (outside of) its children.
            if current.kind != ObjectKind::Machine
                && !current.memory_children.is_empty()
                && self.many_nodes
            {
                chain.push((&current.cpus, "the NUMA node".to_owned()));
            }
            if let Some(name) = shared_name(current) {
                chain.push((&current.cpus, name));
            }
            object = current
                .children
                .iter()
                .find(|child| child.cpus.contains(id));
        }
        chain.reverse();
        chain
    }
}

/// Names what workers can share, in a sentence; nothing for what they share without noticing.
fn shared_name(object: &Object) -> Option<String> {
    match (object.kind, object.attributes) {
        (ObjectKind::Core, _) => Some("the core".to_owned()),
        (ObjectKind::Die, _) => Some("the die".to_owned()),
        (ObjectKind::Package, _) => Some("the package".to_owned()),
        // A group that has memory of its own is named as that node.
        (ObjectKind::Group, _) if object.memory_children.is_empty() => Some("the group".to_owned()),
        (
            ObjectKind::Cache,
            Attributes::Cache {
                kind: CacheKind::Unified | CacheKind::Data,
                ..
            },
        ) => Some(object.kind_name()),
        _ => None,
    }
}

fn ordinal(cpu: &Cpu) -> String {
    const NAMES: [&str; 4] = ["first", "second", "third", "fourth"];
    let number = cpu.smt_rank + 1;
    let suffix = match (number % 10, number % 100) {
        (1, rest) if rest != 11 => "st",
        (2, rest) if rest != 12 => "nd",
        (3, rest) if rest != 13 => "rd",
        _ => "th",
    };
    match NAMES.get(cpu.smt_rank) {
        Some(name) => (*name).to_owned(),
        None => format!("{number}{suffix}"),
    }
}

/// Writes `worker 2` or `workers 0, 2-7`.
fn name_workers(workers: impl IntoIterator<Item = usize>) -> String {
    let numbers: Vec<_> = workers
        .into_iter()
        .map(|worker| u32::try_from(worker).unwrap_or(u32::MAX))
        .collect();
    let noun = if numbers.len() == 1 {
        "worker"
    } else {
        "workers"
    };
    format!("{noun} {}", number_list(numbers).replace(',', ", "))
}
