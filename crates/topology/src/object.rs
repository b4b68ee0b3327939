//! The objects that a machine is made of, as a tree of plain values.
//!
//! The shape is hwloc's: processing units at the leaves, cores, caches, dies, packages and groups above
//! them, the machine at the root. Memory hangs beside the tree: a NUMA node, perhaps behind a cache on
//! the memory's side, is a memory child of the object whose CPUs it is local to.
//!
//! # Source
//! Broquedis et al.: hwloc, a Generic Framework for Managing Hardware Affinities in HPC Applications.
//! PDP 2010. Goglin: Managing the Topology of Heterogeneous Cluster Nodes with hwloc. HPCS 2014.

use std::fmt;

use serde::Serialize;

use crate::cpu_set::CpuSet;

/// Which kind of thing an [`Object`] is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum ObjectKind {
    /// The whole machine; the root of the tree, and only that.
    Machine,
    /// Objects that belong together for a reason that has no name of its own, such as a blade.
    Group,
    /// What sits in a socket.
    Package,
    /// A piece of silicon in a package.
    Die,
    /// A cache; its level and kind stand in [`Attributes::Cache`].
    Cache,
    /// A core; its processing units share its execution units.
    Core,
    /// A processing unit, which is a logical CPU.
    Pu,
    /// A memory with CPUs that are close to it.
    NumaNode,
    /// A cache in front of a NUMA node.
    MemoryCache,
    /// A kind that this library does not know.
    Other,
}

/// What a cache keeps.
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

/// What is known of an object beyond its place in the tree.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum Attributes {
    /// Nothing more.
    None,
    /// A cache, of a CPU or of a memory.
    Cache {
        /// 1 is nearest to the core.
        level: u32,
        /// What it keeps.
        kind: CacheKind,
        /// Its size in bytes, where known.
        size_bytes: Option<u64>,
        /// The size of a line in bytes, where known.
        line_bytes: Option<u64>,
    },
    /// A NUMA node.
    Numa {
        /// Its own memory in bytes, where known.
        memory_bytes: Option<u64>,
    },
    /// A group, with its level among the groups that hold each other.
    Group {
        /// 0 is outermost.
        level: u32,
    },
}

/// One object with everything below it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Object {
    /// What it is.
    pub kind: ObjectKind,
    /// Its level counted from the root, which has 0; `None` for memory, which stands beside the levels.
    pub depth: Option<usize>,
    /// Its place among all objects of its depth, from 0, in the order of the tree.
    pub logical_index: usize,
    /// The operating system's number for it, where it has one.
    pub os_index: Option<u32>,
    /// A finer kind, such as `MCDRAM`, where known.
    pub subtype: Option<String>,
    /// A name, where it has one.
    pub name: Option<String>,
    /// What else is known of it.
    pub attributes: Attributes,
    /// Its logical CPUs; for memory, those that it is local to.
    pub cpus: CpuSet,
    /// The objects that it is made of.
    pub children: Vec<Object>,
    /// The memories that are local to it and to none of its children alone.
    pub memory_children: Vec<Object>,
}

impl Object {
    /// Returns the name of its kind as hwloc's own tools print it: `Package`, `L1d`, `NUMANode`, `PU`.
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

    /// Adds up the memory of every NUMA node in and below it, in bytes.
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

    /// Calls `visit` with it and with everything below it, parents first, memory before children.
    pub fn for_each<'tree>(&'tree self, visit: &mut impl FnMut(&'tree Self)) {
        visit(self);
        for child in self.memory_children.iter().chain(&self.children) {
            child.for_each(visit);
        }
    }
}

impl fmt::Display for Object {
    /// Writes kind and logical index, `Core L#3`, and the operating system's number for a CPU or a memory.
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
