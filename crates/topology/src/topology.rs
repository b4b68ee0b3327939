//! A topology: the tree of objects, and the tables that answer questions about it quickly.
//!
//! Everything but the limits follows from the tree. Indexes of cores, packages and NUMA nodes are logical: from
//! 0 in the order of the tree, so neighbours in number are neighbours in the machine. CPUs are named by
//! the operating system's number ([`CpuId`]), because that is what people write and what binding needs.

mod serial;
mod tables;
#[cfg(test)]
mod tests;

use std::collections::HashMap;
use std::fmt;
use std::path::PathBuf;
use std::sync::Arc;

use serde::Serialize;

pub(crate) use self::tables::Tables;
use crate::cgroup::CpuQuota;
use crate::cpu_set::{CpuId, CpuSet};
use crate::object::{CacheKind, Object};

/// A machine, real or imagined, and what this process may use of it.
///
/// # Examples
/// ```
/// use raddle_topology::{CpuId, Topology};
///
/// let topology = Topology::synthetic("package:2 l3:1 core:4 pu:2")?;
/// let siblings: Vec<_> = topology.smt_siblings(CpuId(0)).collect();
/// assert_eq!(siblings, [CpuId(0), CpuId(1)]);
/// assert!(topology.distance(CpuId(0), CpuId(2)) < topology.distance(CpuId(0), CpuId(8)));
/// assert_eq!(topology.worker_count_default(), 16);
/// # Ok::<(), raddle_topology::TopologyError>(())
/// ```
#[derive(Clone, Debug)]
pub struct Topology {
    source: Source,
    hwloc_version: String,
    root: Object,
    tables: Tables,
    cpu_kinds: Vec<CpuKind>,
    numa_latencies: Option<LatencyMatrix>,
    limits: Limits,
    /// For this machine alone, where threads can be bound.
    binder: Option<Binder>,
}

/// Where a topology came from.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum Source {
    /// The machine that this process runs on.
    ThisMachine,
    /// A synthetic description.
    Synthetic(String),
    /// An XML file.
    Xml(#[serde(serialize_with = "crate::path_text::serialize")] PathBuf),
}

/// A logical CPU and its place in the machine.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Cpu {
    /// The operating system's number.
    pub id: CpuId,
    /// Its place among all CPUs in the order of the tree, from 0.
    pub logical_index: usize,
    /// The logical index of its core; `None` where cores are not known.
    pub core: Option<usize>,
    /// The logical index of its package; `None` where it is not known.
    pub package: Option<usize>,
    /// The logical index of the nearest NUMA node; of several, the first.
    pub numa_node: Option<usize>,
    /// Its place among the hardware threads of its core, from 0.
    pub smt_rank: usize,
    /// The efficiency of its kind, from 0 for those that use the least power; `None` where all are alike.
    pub efficiency: Option<usize>,
    /// Whether this process may use it.
    pub allowed: bool,
}

/// A cache of some CPUs.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Cache {
    /// 1 is nearest to the core.
    pub level: u32,
    /// What it keeps.
    pub kind: CacheKind,
    /// Its place among the caches of its level and kind, from 0.
    pub logical_index: usize,
    /// Its size in bytes, where known.
    pub size_bytes: Option<u64>,
    /// The size of a line in bytes, where known.
    pub line_bytes: Option<u64>,
    /// The CPUs that share it.
    pub cpus: CpuSet,
}

/// A memory and the CPUs that are near to it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct NumaNode {
    /// Its place among the NUMA nodes in the order of the tree, from 0.
    pub logical_index: usize,
    /// The operating system's number.
    pub os_index: Option<u32>,
    /// A finer kind, such as `MCDRAM`, where known.
    pub subtype: Option<String>,
    /// Its memory in bytes, where known.
    pub memory_bytes: Option<u64>,
    /// The CPUs that it is local to; none for memory that stands alone.
    pub cpus: CpuSet,
}

/// CPUs of one kind, on a machine that has several.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct CpuKind {
    /// Its rank, from 0 for the kind that uses the least power; `None` where hwloc cannot rank the kinds.
    pub efficiency: Option<usize>,
    /// The CPUs of this kind.
    pub cpus: CpuSet,
}

/// How long memory accesses between NUMA nodes take, relative to each other.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct LatencyMatrix {
    /// hwloc's name for it, such as `NUMALatency`.
    pub name: String,
    /// The logical indexes of the nodes, one per row and column.
    pub nodes: Vec<usize>,
    /// Row-major, `nodes.len()` × `nodes.len()`: entry `[a][b]` is the time from a CPU of `a` to memory
    /// of `b`. The unit is the machine's own; firmware usually gives 10 to local memory.
    pub values: Vec<u64>,
}

/// What this process may use of the machine.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Limits {
    /// The CPUs that the administrator leaves to the process: the cpuset of its control group.
    pub cpuset: CpuSet,
    /// The CPUs that the process was bound to when the topology was loaded; `None` for other machines.
    pub affinity: Option<CpuSet>,
    /// The CPU time that the control groups of the process leave it.
    pub quota: Option<CpuQuota>,
    /// Why a limit could not be found out, one sentence each; usually there is none.
    pub notes: Vec<String>,
}

/// How far two CPUs are apart; smaller is nearer.
///
/// The tree decides first: CPUs that share a core are nearer than those that share a cache, and so on
/// up. Among pairs that share equally little, the latency between their NUMA nodes decides.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct CpuDistance {
    /// The number of levels from a CPU up to the first object that holds both; 0 for a CPU and itself.
    pub levels_up: usize,
    /// The larger latency of the two directions between their NUMA nodes; 0 where none is known.
    pub numa_latency: u64,
}

impl LatencyMatrix {
    /// Returns the latency from a CPU of node `from` to memory of node `to`, both logical indexes.
    #[must_use]
    pub fn latency(&self, from: usize, to: usize) -> Option<u64> {
        let place = |node| self.nodes.iter().position(|&listed| listed == node);
        self.values
            .get(place(from)? * self.nodes.len() + place(to)?)
            .copied()
    }
}

impl fmt::Display for Source {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::ThisMachine => formatter.write_str("this machine"),
            Self::Synthetic(description) => write!(formatter, "synthetic: {description}"),
            Self::Xml(path) => write!(formatter, "XML file: {}", path.display()),
        }
    }
}

/// What binds threads to the CPUs of this machine.
#[derive(Clone, Debug)]
pub(crate) enum Binder {
    /// hwloc, by the handle with which it has read this machine.
    Hwloc(Arc<hwlocality::Topology>),
    /// The kernel: hwloc has not read this machine, and binds only to one that it has.
    Kernel,
}

/// What a loader hands over; see [`Topology::assemble`].
#[derive(Debug)]
pub(crate) struct Parts {
    pub(crate) source: Source,
    pub(crate) hwloc_version: String,
    pub(crate) root: Object,
    pub(crate) cpu_kinds: Vec<CpuKind>,
    pub(crate) numa_latencies: Option<LatencyMatrix>,
    pub(crate) limits: Limits,
    pub(crate) binder: Option<Binder>,
}

impl Topology {
    /// Makes the tables that follow from the tree and puts everything together.
    pub(crate) fn assemble(parts: Parts) -> Self {
        let allowed = match &parts.limits.affinity {
            Some(affinity) => parts.limits.cpuset.intersection(affinity),
            None => parts.limits.cpuset.clone(),
        };
        let tables = Tables::new(&parts.root, &parts.cpu_kinds, &allowed);
        Self {
            source: parts.source,
            hwloc_version: parts.hwloc_version,
            root: parts.root,
            tables,
            cpu_kinds: parts.cpu_kinds,
            numa_latencies: parts.numa_latencies,
            limits: parts.limits,
            binder: parts.binder,
        }
    }

    /// Tells where the topology came from.
    #[must_use]
    pub const fn source(&self) -> &Source {
        &self.source
    }

    /// Tells whether this is the machine that the process runs on, so that threads can be bound.
    #[must_use]
    pub const fn is_this_machine(&self) -> bool {
        self.binder.is_some()
    }

    /// Returns the version of hwloc's interface that was used, such as `2.8.0`.
    #[must_use]
    pub fn hwloc_version(&self) -> &str {
        &self.hwloc_version
    }

    /// Returns the whole machine as a tree.
    #[must_use]
    pub const fn root(&self) -> &Object {
        &self.root
    }

    /// Returns every logical CPU in the order of the tree, so that neighbours share most.
    #[must_use]
    pub fn cpus(&self) -> &[Cpu] {
        &self.tables.cpus
    }

    /// Returns how many logical CPUs there are, allowed or not.
    #[must_use]
    pub fn cpu_count(&self) -> usize {
        self.tables.cpus.len()
    }

    /// Returns the CPU with the operating system's number `id`, if there is one.
    #[must_use]
    pub fn cpu(&self, id: CpuId) -> Option<&Cpu> {
        self.tables
            .position(id)
            .map(|position| &self.tables.cpus[position])
    }

    /// Iterates over the CPUs that this process may use, in the order of the tree.
    pub fn allowed_cpus(&self) -> impl Iterator<Item = &Cpu> + '_ {
        self.tables.cpus.iter().filter(|cpu| cpu.allowed)
    }

    /// Returns the CPUs that this process may use as a set.
    #[must_use]
    pub fn allowed_set(&self) -> CpuSet {
        self.allowed_cpus().map(|cpu| cpu.id).collect()
    }

    /// Returns how many cores there are; 0 where cores are not known.
    #[must_use]
    pub const fn core_count(&self) -> usize {
        self.tables.core_count
    }

    /// Returns how many packages there are; 0 where packages are not known.
    #[must_use]
    pub const fn package_count(&self) -> usize {
        self.tables.package_count
    }

    /// Returns every cache, lowest level first, and within a level and kind in the order of the tree.
    #[must_use]
    pub fn caches(&self) -> &[Cache] {
        &self.tables.caches
    }

    /// Iterates over the caches of `level` that keep data, each with the CPUs that share it.
    pub fn caches_at(&self, level: u32) -> impl Iterator<Item = &Cache> + '_ {
        self.tables
            .caches
            .iter()
            .filter(move |cache| cache.level == level && cache.kind != CacheKind::Instruction)
    }

    /// Returns every NUMA node, in the order of its logical index. A machine without NUMA has one.
    #[must_use]
    pub fn numa_nodes(&self) -> &[NumaNode] {
        &self.tables.numa_nodes
    }

    /// Returns the latencies between NUMA nodes, where they are known.
    #[must_use]
    pub const fn numa_latencies(&self) -> Option<&LatencyMatrix> {
        self.numa_latencies.as_ref()
    }

    /// Returns the kinds of CPU; empty where hwloc knows of none.
    #[must_use]
    pub fn cpu_kinds(&self) -> &[CpuKind] {
        &self.cpu_kinds
    }

    /// Returns what this process may use.
    #[must_use]
    pub const fn limits(&self) -> &Limits {
        &self.limits
    }

    /// Returns how many workers keep busy what this process may use: one per allowed CPU, and no more
    /// than the CPU quota rounded up; at least 1.
    #[must_use]
    pub fn worker_count_default(&self) -> usize {
        let quota = self
            .limits
            .quota
            .as_ref()
            .map_or(usize::MAX, CpuQuota::worker_count_max);
        self.allowed_cpus().count().min(quota).max(1)
    }

    /// Iterates over the hardware threads of the core of `cpu`, itself included, in the order of the tree.
    ///
    /// Where cores are not known, each CPU is alone; a CPU that does not exist has none.
    pub fn smt_siblings(&self, cpu: CpuId) -> impl Iterator<Item = CpuId> + '_ {
        let siblings = self.tables.position(cpu).map_or(0..0, |position| {
            let first = position - self.tables.cpus[position].smt_rank;
            let core = self.tables.cpus[position].core;
            let same = |other: &&Cpu| core.is_some() && other.core == core;
            let count = self.tables.cpus[first..].iter().take_while(same).count();
            first..first + count.max(1)
        });
        self.tables.cpus[siblings].iter().map(|cpu| cpu.id)
    }

    /// Returns the smallest object that holds both CPUs, or `None` when one of them does not exist.
    #[must_use]
    pub fn common_ancestor(&self, left: CpuId, right: CpuId) -> Option<&Object> {
        let left = self.tables.path(left)?;
        let right = self.tables.path(right)?;
        let mut object = &self.root;
        for (&step, &other_step) in left.iter().zip(right) {
            if step != other_step {
                break;
            }
            object = &object.children[step];
        }
        Some(object)
    }

    /// Returns the depth of the smallest object that holds both CPUs: 0 where only the machine does.
    #[must_use]
    pub fn common_ancestor_depth(&self, left: CpuId, right: CpuId) -> Option<usize> {
        self.common_ancestor(left, right)?.depth
    }

    /// Returns how far two CPUs are apart, or `None` when one of them does not exist.
    ///
    /// Cost: the depth of the tree, and a look into the latencies where there are some.
    #[must_use]
    pub fn distance(&self, left: CpuId, right: CpuId) -> Option<CpuDistance> {
        let ancestor = self.common_ancestor_depth(left, right)?;
        let (left, right) = (self.cpu(left)?, self.cpu(right)?);
        let numa_latency = match (&self.numa_latencies, left.numa_node, right.numa_node) {
            (Some(matrix), Some(left), Some(right)) => {
                let there = matrix.latency(left, right).unwrap_or(0);
                there.max(matrix.latency(right, left).unwrap_or(0))
            }
            _ => 0,
        };
        Some(CpuDistance {
            levels_up: self.tables.depth_max.saturating_sub(ancestor),
            numa_latency,
        })
    }

    /// Lists every other CPU, allowed or not, nearest first; equally near ones in the order of the tree,
    /// beginning behind `cpu` and going round, so that not everybody begins with the same one.
    ///
    /// A CPU that does not exist has no neighbours. Cost: O(n log n) time for n CPUs.
    #[must_use]
    pub fn neighbours(&self, cpu: CpuId) -> Vec<CpuId> {
        let Some(position) = self.tables.position(cpu) else {
            return Vec::new();
        };
        let (before, after) = self.tables.cpus.split_at(position);
        let mut others: Vec<_> = after[1..]
            .iter()
            .chain(before)
            .map(|other| (self.distance(cpu, other.id), other.id))
            .collect();
        others.sort_by_key(|&(distance, _)| distance);
        others.into_iter().map(|(_, id)| id).collect()
    }

    pub(crate) const fn binder(&self) -> Option<&Binder> {
        self.binder.as_ref()
    }
}

/// Which place in a table each CPU number has.
pub(crate) type Positions = HashMap<CpuId, usize>;
