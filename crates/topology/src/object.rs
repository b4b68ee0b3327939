//! The objects of a machine, as a tree of plain values.
//!
//! The tree has the shape of hwloc's. The leaves are processing units. Cores, caches, dies,
//! packages and groups are above them, and the machine is the root. Memory is not a level of the
//! tree: a NUMA node, possibly with a memory-side cache in front of it, is a memory child of the
//! object with the CPUs to which the node is local.
//!
//! # Source
//! Broquedis et al.: hwloc, a Generic Framework for Managing Hardware Affinities in HPC
//! Applications. PDP 2010. Goglin: Managing the Topology of Heterogeneous Cluster Nodes with hwloc.
//! HPCS 2014.

use std::fmt;

use serde::Serialize;

use crate::cpu_set::CpuSet;

/// The kind of an [`Object`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum ObjectKind {
    /// The whole machine. Only the root of the tree has this kind.
    Machine,
    /// A group of objects with no more specific kind, such as a blade.
    Group,
    /// The physical package in a socket.
    Package,
    /// A piece of silicon in a package.
    Die,
    /// A cache of CPUs. [`Attributes::Cache`] has its level and kind.
    Cache,
    /// A core. Its processing units share its execution units.
    Core,
    /// A processing unit, which is a logical CPU.
    Pu,
    /// A memory that is local to some CPUs.
    NumaNode,
    /// A cache in front of a NUMA node.
    MemoryCache,
    /// A kind that this library does not know.
    Other,
}

/// The content of a cache.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum CacheKind {
    /// Data and instructions.
    Unified,
    /// Data.
    Data,
    /// Instructions.
    Instruction,
}

/// The properties of an object that depend on its kind.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum Attributes {
    /// The object has no further properties.
    None,
    /// The properties of a cache, either of CPUs or of a memory.
    Cache {
        /// The level of the cache. 1 is nearest to the core.
        level: u32,
        /// The content of the cache.
        kind: CacheKind,
        /// The size in bytes, if known.
        size_bytes: Option<u64>,
        /// The size of a cache line in bytes, if known.
        line_bytes: Option<u64>,
    },
    /// The properties of a NUMA node.
    Numa {
        /// The node's own memory in bytes, if known.
        memory_bytes: Option<u64>,
    },
    /// The properties of a group.
    Group {
        /// The nesting level among groups that contain each other. 0 is outermost.
        level: u32,
    },
}

/// One object with everything below it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Object {
    /// The kind of the object.
    pub kind: ObjectKind,
    /// The level of the object. The root has level 0. `None` for memory, which is not part of the
    /// levels.
    pub depth: Option<usize>,
    /// The position among all objects of the same depth, from 0, in the order of the tree.
    pub logical_index: usize,
    /// The number of the object in the operating system, if it has one.
    pub os_index: Option<u32>,
    /// A more specific kind, such as `MCDRAM`, if known.
    pub subtype: Option<String>,
    /// The name of the object, if it has one.
    pub name: Option<String>,
    /// The properties that depend on the kind.
    pub attributes: Attributes,
    /// The logical CPUs of the object. For memory, the CPUs to which it is local.
    pub cpus: CpuSet,
    /// The objects inside this one.
    pub children: Vec<Object>,
    /// The memories that are local to this object, but not to a single one of its children.
    pub memory_children: Vec<Object>,
}

impl Object {
    /// Returns the name of the kind as hwloc's tools print it: `Package`, `L1d`, `NUMANode`, `PU`.
    #[must_use]
    pub fn kind_name(&self) -> String {
        let name = match (self.kind, self.attributes) {
            (
                ObjectKind::Cache,
                Attributes::Cache {
                    level,
                    kind: cache_kind,
                    ..
                },
            ) => return cache_name(level, cache_kind),
            (ObjectKind::Group, Attributes::Group { level }) => return format!("Group{level}"),
            (ObjectKind::Machine, _) => "Machine",
            (ObjectKind::Group, _) => "Group",
            (ObjectKind::Package, _) => "Package",
            (ObjectKind::Die, _) => "Die",
            (ObjectKind::Cache, _) => "Cache",
            (ObjectKind::Core, _) => "Core",
            (ObjectKind::Pu, _) => "PU",
            (ObjectKind::NumaNode, _) => "NUMANode",
            (ObjectKind::MemoryCache, _) => "MemCache",
            (ObjectKind::Other, _) => "Object",
        };
        name.to_owned()
    }

    /// Returns the total memory of all NUMA nodes in and below the object, in bytes.
    #[must_use]
    pub fn memory_total_bytes(&self) -> u64 {
        let own = match self.attributes {
            Attributes::Numa { memory_bytes } => memory_bytes.unwrap_or(0),
            _ => 0,
        };
        self.children
            .iter()
            .chain(&self.memory_children)
            .fold(own, |sum, child| {
                sum.saturating_add(child.memory_total_bytes())
            })
    }

    /// Calls `visit` for this object and everything below it, parents first, memory before
    /// children.
    pub fn for_each<'tree>(&'tree self, visit: &mut impl FnMut(&'tree Self)) {
        visit(self);
        for child in self.memory_children.iter().chain(&self.children) {
            child.for_each(visit);
        }
    }
}

impl fmt::Display for Object {
    /// Writes the kind and the logical index, such as `Core L#3`. For a CPU or a NUMA node, also
    /// writes its number in the operating system.
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{} L#{}", self.kind_name(), self.logical_index)?;
        match (self.kind, self.os_index) {
            (ObjectKind::Pu | ObjectKind::NumaNode, Some(os_index)) => {
                write!(formatter, " (P#{os_index})")
            }
            _ => Ok(()),
        }
    }
}

/// Returns the usual short name of a cache: `L1d`, `L1i`, `L2`.
pub(crate) fn cache_name(level: u32, kind: CacheKind) -> String {
    let suffix = match kind {
        CacheKind::Unified => "",
        CacheKind::Data => "d",
        CacheKind::Instruction => "i",
    };
    format!("L{level}{suffix}")
}
