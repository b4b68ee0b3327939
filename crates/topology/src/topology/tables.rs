//! The tables derived from the tree: CPUs, caches, NUMA nodes, and the path from the root to each
//! CPU.

use super::{Cache, Cpu, CpuKind, NumaNode, Positions};
use crate::cpu_set::{CpuId, CpuSet};
use crate::object::{Attributes, Object, ObjectKind};

/// The lookup tables of a [`super::Topology`].
#[derive(Clone, Debug, Default)]
pub(crate) struct Tables {
    /// All CPUs, in the order of the tree.
    pub(super) cpus: Vec<Cpu>,
    positions: Positions,
    /// The path from the root to each CPU: the index of the child to take at each level.
    paths: Vec<Vec<usize>>,
    pub(super) caches: Vec<Cache>,
    /// All NUMA nodes, in the order of logical indexes.
    pub(super) numa_nodes: Vec<NumaNode>,
    pub(super) core_count: usize,
    pub(super) package_count: usize,
    /// The depth of the CPUs. All CPUs have the same depth.
    pub(super) depth_max: usize,
}

/// The objects that contain the current one, during the descent of the tree.
#[derive(Clone, Copy, Debug, Default)]
struct Ancestors {
    core: Option<usize>,
    package: Option<usize>,
}

impl Tables {
    pub(super) fn new(root: &Object, kinds: &[CpuKind], allowed: &CpuSet) -> Self {
        let mut tables = Self::default();
        tables.descend(root, Ancestors::default(), &mut Vec::new());
        tables
            .caches
            .sort_by_key(|cache| (cache.level, cache.kind as u8, cache.logical_index));
        tables.numa_nodes.sort_by_key(|node| node.logical_index);
        tables.complete_cpus(kinds, allowed);
        tables
    }

    pub(super) fn position(&self, cpu: CpuId) -> Option<usize> {
        self.positions.get(&cpu).copied()
    }

    pub(super) fn path(&self, cpu: CpuId) -> Option<&[usize]> {
        self.position(cpu)
            .map(|position| self.paths[position].as_slice())
    }

    /// Adds `object` and everything below it. `path` leads from the root to `object`.
    fn descend(&mut self, object: &Object, mut ancestors: Ancestors, path: &mut Vec<usize>) {
        match object.kind {
            ObjectKind::Core => {
                ancestors.core = Some(object.logical_index);
                self.core_count += 1;
            }
            ObjectKind::Package => {
                ancestors.package = Some(object.logical_index);
                self.package_count += 1;
            }
            ObjectKind::Pu => self.add_cpu(object, ancestors, path),
            ObjectKind::Cache => self.add_cache(object),
            _ => {}
        }
        for memory in &object.memory_children {
            memory.for_each(&mut |below| self.add_numa_node(below));
        }
        for (step, child) in object.children.iter().enumerate() {
            path.push(step);
            self.descend(child, ancestors, path);
            path.pop();
        }
    }

    fn add_cpu(&mut self, object: &Object, ancestors: Ancestors, path: &[usize]) {
        let Some(id) = object.os_index.map(CpuId) else {
            return;
        };
        let position = self.cpus.len();
        let core = ancestors.core;
        let smt_rank = match self.cpus.last() {
            Some(before) if core.is_some() && before.core == core => before.smt_rank + 1,
            _ => 0,
        };
        self.cpus.push(Cpu {
            id,
            logical_index: object.logical_index,
            core,
            package: ancestors.package,
            numa_node: None,
            smt_rank,
            efficiency: None,
            allowed: false,
        });
        self.paths.push(path.to_vec());
        self.positions.insert(id, position);
        self.depth_max = self.depth_max.max(object.depth.unwrap_or(0));
    }

    fn add_cache(&mut self, object: &Object) {
        if let Attributes::Cache {
            level,
            kind,
            size_bytes,
            line_bytes,
        } = object.attributes
        {
            self.caches.push(Cache {
                level,
                kind,
                logical_index: object.logical_index,
                size_bytes,
                line_bytes,
                cpus: object.cpus.clone(),
            });
        }
    }

    fn add_numa_node(&mut self, object: &Object) {
        if let Attributes::Numa { memory_bytes } = object.attributes {
            self.numa_nodes.push(NumaNode {
                logical_index: object.logical_index,
                os_index: object.os_index,
                subtype: object.subtype.clone(),
                memory_bytes,
                cpus: object.cpus.clone(),
            });
        }
    }

    /// Fills in the fields that are known only after the descent: NUMA node, efficiency,
    /// permission.
    fn complete_cpus(&mut self, kinds: &[CpuKind], allowed: &CpuSet) {
        // The node with the fewest CPUs is the nearest. Later writes win, so nodes with more CPUs
        // come first, and nodes with equally many CPUs come in descending order.
        let mut nodes: Vec<_> = self.numa_nodes.iter().collect();
        nodes.sort_by_key(|node| std::cmp::Reverse((node.cpus.len(), node.logical_index)));
        for node in nodes {
            for id in node.cpus.iter() {
                if let Some(&position) = self.positions.get(&id) {
                    self.cpus[position].numa_node = Some(node.logical_index);
                }
            }
        }
        // If all CPUs are of one kind, the efficiency distinguishes nothing.
        let kinds = if kinds.len() > 1 { kinds } else { &[] };
        for cpu in &mut self.cpus {
            cpu.allowed = allowed.contains(cpu.id);
            cpu.efficiency = kinds
                .iter()
                .find(|kind| kind.cpus.contains(cpu.id))
                .and_then(|kind| kind.efficiency);
        }
    }
}
