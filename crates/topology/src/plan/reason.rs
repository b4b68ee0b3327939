//! Explains to the user where a worker runs, and with which workers it shares which part.

use std::collections::BTreeMap;

use crate::affinity::Affinity;
use crate::cpu_set::{CpuId, CpuSet, number_list};
use crate::object::{Attributes, CacheKind, Object, ObjectKind};
use crate::topology::{Cpu, Topology};

/// Returns one reason per worker. `cpus` has the CPU of each worker that is bound.
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
    let assignment = Assignment {
        topology,
        used: cpus.iter().flatten().copied().collect(),
        workers_on,
        // The number of a package or node is of no interest if there is only one.
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
        let mut reason = assignment.place(cpu);
        match listed {
            Some(length) if before + worker >= length => {
                let turn = (before + worker) % length + 1;
                reason = format!("entry {turn} of the list again: {reason}");
            }
            Some(_) => reason = format!("entry {} of the list: {reason}", before + worker + 1),
            None => {}
        }
        reason + "; " + &assignment.sharing(worker, cpu)
    };
    cpus.iter().enumerate().map(reason).collect()
}

/// Returns the reason of a worker that is not bound.
pub(super) fn unbound(affinity: &Affinity) -> &'static str {
    match affinity {
        Affinity::Auto => {
            "not bound: no CPU was left for it alone, so the operating system chooses"
        }
        _ => "not bound: the affinity is none, so the operating system chooses",
    }
}

/// The workers on a machine.
struct Assignment<'topology> {
    topology: &'topology Topology,
    /// The CPUs that have a worker.
    used: CpuSet,
    workers_on: BTreeMap<CpuId, Vec<usize>>,
    many_packages: bool,
    many_nodes: bool,
}

impl Assignment<'_> {
    /// Describes the position of a CPU: `core 3 of package 0, first hardware thread`.
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

    /// Describes the workers with which a worker shares its CPU, or else the smallest shared part.
    fn sharing(&self, worker: usize, id: CpuId) -> String {
        if let Some(workers) = self.workers_on.get(&id).filter(|workers| workers.len() > 1) {
            let others = workers.iter().copied().filter(|&other| other != worker);
            return format!("the CPU is shared with {}", name_workers(others));
        }
        let above = self.above(id);
        for (shared, what) in above {
            let sharing = shared.intersection(&self.used);
            if sharing.len() < 2 {
                continue;
            }
            let mut others: Vec<_> = sharing
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

    /// Returns the named objects that contain the CPU, from the CPU upwards.
    fn above(&self, id: CpuId) -> Vec<(&CpuSet, String)> {
        let mut chain = Vec::new();
        let mut object = Some(self.topology.root());
        while let Some(current) = object {
            // Memory is local to the whole object, so it comes before (outside of) the children.
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

/// Returns the name of an object that workers can share, for a sentence. `None` if sharing it has
/// no noticeable effect.
fn shared_name(object: &Object) -> Option<String> {
    match (object.kind, object.attributes) {
        (ObjectKind::Core, _) => Some("the core".to_owned()),
        (ObjectKind::Die, _) => Some("the die".to_owned()),
        (ObjectKind::Package, _) => Some("the package".to_owned()),
        // A group with its own memory is named as that NUMA node.
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

/// Returns the rank of a hardware thread as an ordinal number.
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

/// Returns `worker 2` or `workers 0, 2-7`.
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
