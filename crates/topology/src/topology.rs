//! A topology: the tree of objects, and tables for quick queries.
//!
//! Everything except the limits is derived from the tree. Cores, packages and NUMA nodes have
//! logical indexes, which count from 0 in the order of the tree. So objects with neighbouring
//! indexes are neighbours in the machine. CPUs are identified by their numbers in the operating
//! system ([`CpuId`]), because users write these numbers and binding needs them.

mod serial;
mod tables;
#[cfg(test)]
mod tests;

use std::collections::HashMap;
use std::fmt;
use std::path::PathBuf;
#[cfg(feature = "hwloc")]
use std::sync::Arc;

use serde::Serialize;

pub(crate) use self::tables::Tables;
use crate::cgroup::CpuQuota;
use crate::cpu_set::{CpuId, CpuSet};
use crate::object::{CacheKind, Object};

/// A real or imagined machine, and the part of it that this process may use.
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
    hwloc_version: Option<String>,
    root: Object,
    tables: Tables,
    cpu_kinds: Vec<CpuKind>,
    numa_latencies: Option<LatencyMatrix>,
    limits: Limits,
    /// Binds threads. Only the topology of this machine has a binder.
    binder: Option<Binder>,
}

/// The source of a topology.
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
    /// The number of the CPU in the operating system.
    pub id: CpuId,
    /// The position among all CPUs in the order of the tree, from 0.
    pub logical_index: usize,
    /// The logical index of the core. `None` if cores are unknown.
    pub core: Option<usize>,
    /// The logical index of the package. `None` if the package is unknown.
    pub package: Option<usize>,
    /// The logical index of the nearest NUMA node. If several are equally near, the first one.
    pub numa_node: Option<usize>,
    /// The position among the hardware threads of the core, from 0.
    pub smt_rank: usize,
    /// The efficiency rank of the kind of CPU. The kind that uses the least power has rank 0.
    /// `None` if all CPUs are of one kind.
    pub efficiency: Option<usize>,
    /// True if this process may use the CPU.
    pub allowed: bool,
}

/// A cache that one or more CPUs share.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Cache {
    /// The level of the cache. 1 is nearest to the core.
    pub level: u32,
    /// The content of the cache.
    pub kind: CacheKind,
    /// The position among the caches of this level and kind, from 0.
    pub logical_index: usize,
    /// The size in bytes, if known.
    pub size_bytes: Option<u64>,
    /// The size of a cache line in bytes, if known.
    pub line_bytes: Option<u64>,
    /// The CPUs that share the cache.
    pub cpus: CpuSet,
}

/// A memory, and the CPUs to which it is local.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct NumaNode {
    /// The position among all NUMA nodes in the order of the tree, from 0.
    pub logical_index: usize,
    /// The number of the node in the operating system.
    pub os_index: Option<u32>,
    /// A more specific kind, such as `MCDRAM`, if known.
    pub subtype: Option<String>,
    /// The memory in bytes, if known.
    pub memory_bytes: Option<u64>,
    /// The CPUs to which the memory is local. Empty for memory without CPUs.
    pub cpus: CpuSet,
}

/// One kind of CPU, on a machine that has several kinds.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct CpuKind {
    /// The efficiency rank. The kind that uses the least power has rank 0. `None` if hwloc cannot
    /// rank the kinds.
    pub efficiency: Option<usize>,
    /// The CPUs of this kind.
    pub cpus: CpuSet,
}

/// The relative latencies of memory accesses between NUMA nodes.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct LatencyMatrix {
    /// The name of the matrix in hwloc, such as `NUMALatency`.
    pub name: String,
    /// The logical indexes of the nodes, one per row and column.
    pub nodes: Vec<usize>,
    /// The row-major entries, `nodes.len()` × `nodes.len()`. Entry `[a][b]` is the time from a CPU
    /// of `a` to memory of `b`. The unit depends on the machine. Firmware usually reports 10 for
    /// local memory.
    pub values: Vec<u64>,
}

/// The limits on this process's use of the machine.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Limits {
    /// The CPUs that the administrator assigned to the process: the cpuset of its control group.
    pub cpuset: CpuSet,
    /// The CPUs to which the process was bound when the topology was loaded. `None` for other
    /// machines.
    pub affinity: Option<CpuSet>,
    /// The CPU time that the control groups of the process allow.
    pub quota: Option<CpuQuota>,
    /// The reasons why a limit could not be determined, one sentence each. Usually empty.
    pub notes: Vec<String>,
}

/// The distance between two CPUs. Smaller is nearer.
///
/// The tree decides first: CPUs that share a core are nearer than CPUs that share only a cache, and
/// so on up the tree. If two pairs share objects of the same level, the latencies between their
/// NUMA nodes decide.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct CpuDistance {
    /// The number of levels from a CPU up to the first object that contains both. 0 from a CPU to
    /// itself.
    pub levels_up: usize,
    /// The larger latency of the two directions between the NUMA nodes. 0 if unknown.
    pub numa_latency: u64,
}

impl LatencyMatrix {
    /// Returns the latency from a CPU of node `from` to memory of node `to`, or `None` if the
    /// matrix does not contain both nodes. Both arguments are logical indexes.
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

/// The means of binding threads to the CPUs of this machine.
#[derive(Clone, Debug)]
pub(crate) enum Binder {
    /// hwloc, through the handle with which it loaded this machine.
    #[cfg(feature = "hwloc")]
    Hwloc(Arc<hwlocality::Topology>),
    /// System calls. Used if hwloc did not load this machine, because hwloc can bind only to a
    /// machine that it loaded.
    Kernel,
}

/// The result of a loader, for [`Topology::assemble`].
#[derive(Debug)]
pub(crate) struct Parts {
    pub(crate) source: Source,
    pub(crate) hwloc_version: Option<String>,
    pub(crate) root: Object,
    pub(crate) cpu_kinds: Vec<CpuKind>,
    pub(crate) numa_latencies: Option<LatencyMatrix>,
    pub(crate) limits: Limits,
    pub(crate) binder: Option<Binder>,
}

impl Topology {
    /// Builds a topology from the result of a loader, including the tables derived from the tree.
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

    /// Returns the source of the topology.
    #[must_use]
    pub const fn source(&self) -> &Source {
        &self.source
    }

    /// Returns true if the process runs on this machine, so that threads can be bound.
    #[must_use]
    pub const fn is_this_machine(&self) -> bool {
        self.binder.is_some()
    }

    /// Returns the version of the hwloc interface that loaded the topology, such as `2.8.0`. `None`
    /// if it was loaded without hwloc.
    #[must_use]
    pub fn hwloc_version(&self) -> Option<&str> {
        self.hwloc_version.as_deref()
    }

    /// Returns the whole machine as a tree.
    #[must_use]
    pub const fn root(&self) -> &Object {
        &self.root
    }

    /// Returns every logical CPU in the order of the tree, so neighbours in the slice share the
    /// most.
    #[must_use]
    pub fn cpus(&self) -> &[Cpu] {
        &self.tables.cpus
    }

    /// Returns the number of logical CPUs, whether this process may use them or not.
    #[must_use]
    pub fn cpu_count(&self) -> usize {
        self.tables.cpus.len()
    }

    /// Returns the CPU with the number `id` in the operating system, if it exists.
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

    /// Returns the set of CPUs that this process may use.
    #[must_use]
    pub fn allowed_set(&self) -> CpuSet {
        self.allowed_cpus().map(|cpu| cpu.id).collect()
    }

    /// Returns the number of cores, or 0 if cores are unknown.
    #[must_use]
    pub const fn core_count(&self) -> usize {
        self.tables.core_count
    }

    /// Returns the number of packages, or 0 if packages are unknown.
    #[must_use]
    pub const fn package_count(&self) -> usize {
        self.tables.package_count
    }

    /// Returns every cache, lowest level first. Caches of one level and kind are in the order of
    /// the tree.
    #[must_use]
    pub fn caches(&self) -> &[Cache] {
        &self.tables.caches
    }

    /// Iterates over the caches of `level` that contain data.
    pub fn caches_at(&self, level: u32) -> impl Iterator<Item = &Cache> + '_ {
        self.tables
            .caches
            .iter()
            .filter(move |cache| cache.level == level && cache.kind != CacheKind::Instruction)
    }

    /// Returns every NUMA node in the order of logical indexes. A machine without NUMA has one
    /// node.
    #[must_use]
    pub fn numa_nodes(&self) -> &[NumaNode] {
        &self.tables.numa_nodes
    }

    /// Returns the latencies between NUMA nodes, if known.
    #[must_use]
    pub const fn numa_latencies(&self) -> Option<&LatencyMatrix> {
        self.numa_latencies.as_ref()
    }

    /// Returns the kinds of CPUs. Empty if hwloc knows none.
    #[must_use]
    pub fn cpu_kinds(&self) -> &[CpuKind] {
        &self.cpu_kinds
    }

    /// Returns the limits of this process.
    #[must_use]
    pub const fn limits(&self) -> &Limits {
        &self.limits
    }

    /// Returns the number of workers that make full use of the CPUs of this process.
    ///
    /// The number is the minimum of the number of allowed CPUs and the CPU quota, rounded up. It is
    /// at least 1.
    #[must_use]
    pub fn worker_count_default(&self) -> usize {
        let quota = self
            .limits
            .quota
            .as_ref()
            .map_or(usize::MAX, CpuQuota::worker_count_max);
        self.allowed_cpus().count().min(quota).max(1)
    }

    /// Iterates over the hardware threads of the core of `cpu`, including `cpu`, in the order of
    /// the tree.
    ///
    /// If cores are unknown, yields only `cpu`. If `cpu` does not exist, yields nothing.
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

    /// Returns the smallest object that contains both CPUs, or `None` if one of them does not
    /// exist.
    #[must_use]
    pub fn common_ancestor(&self, left: CpuId, right: CpuId) -> Option<&Object> {
        let left = self.tables.path(left)?;
        let right = self.tables.path(right)?;
        // Go down from the root for as long as both paths agree.
        let mut object = &self.root;
        for (&step, &other_step) in left.iter().zip(right) {
            if step != other_step {
                break;
            }
            object = &object.children[step];
        }
        Some(object)
    }

    /// Returns the distance between two CPUs, or `None` if one of them does not exist.
    ///
    /// Cost: proportional to the depth of the tree, plus a lookup in the latencies if they are
    /// known.
    #[must_use]
    pub fn distance(&self, left: CpuId, right: CpuId) -> Option<CpuDistance> {
        let ancestor = self.common_ancestor(left, right)?.depth?;
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

    /// Lists every other CPU, nearest first, whether this process may use it or not.
    ///
    /// Equally near CPUs are in the order of the tree, starting after `cpu` and wrapping around. So
    /// the lists of different CPUs start with different neighbours. A CPU that does not exist has
    /// no neighbours. Takes O(n log n) time for n CPUs.
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

/// The position of each CPU in the table of CPUs.
pub(crate) type Positions = HashMap<CpuId, usize>;
