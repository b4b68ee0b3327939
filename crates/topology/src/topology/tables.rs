//! The tables that follow from the tree: CPUs, caches, NUMA nodes, and each CPU's way down from the root.

use super::{Cache, Cpu, CpuKind, NumaNode, Positions};
use crate::cpu_set::{CpuId, CpuSet};
use crate::object::{Attributes, Object, ObjectKind};

/// Everything that [`super::Topology`] looks up rather than searches for.
#[derive(Clone, Debug, Default)]
pub(crate) struct Tables {
    /// In the order of the tree.
    pub(super) cpus: Vec<Cpu>,
    positions: Positions,
    /// For each CPU the indexes of the children to take from the root down to it.
    paths: Vec<Vec<usize>>,
    pub(super) caches: Vec<Cache>,
    /// In the order of the logical index.
    pub(super) numa_nodes: Vec<NumaNode>,
    pub(super) core_count: usize,
    pub(super) package_count: usize,
    /// The depth of the CPUs, which all have the same.
    pub(super) depth_max: usize,
}

/// What is known on the way down the tree.
#[derive(Clone, Copy, Debug, Default)]
struct Way {
    core: Option<usize>,
    package: Option<usize>,
}

impl Tables {
    pub(super) fn new(root: &Object, kinds: &[CpuKind], allowed: &CpuSet) -> Self {
        let mut tables = Self::default();
        tables.descend(root, Way::default(), &mut Vec::new());
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

    fn descend(&mut self, object: &Object, mut way: Way, path: &mut Vec<usize>) {
        match object.kind {
            ObjectKind::Core => {
                way.core = Some(object.logical_index);
                self.core_count += 1;
            }
            ObjectKind::Package => {
                way.package = Some(object.logical_index);
                self.package_count += 1;
            }
            ObjectKind::Pu => self.add_cpu(object, way, path),
            ObjectKind::Cache => self.add_cache(object),
            _ => {}
        }
        for memory in &object.memory_children {
            memory.for_each(&mut |below| self.add_numa_node(below));
        }
        for (step, child) in object.children.iter().enumerate() {
            path.push(step);
            self.descend(child, way, path);
            path.pop();
        }
    }

    fn add_cpu(&mut self, object: &Object, way: Way, path: &[usize]) {
        let Some(id) = object.os_index.map(CpuId) else {
            return;
        };
        let position = self.cpus.len();
        let smt_rank = match self.cpus.last() {
            Some(before) if way.core.is_some() && before.core == way.core => before.smt_rank + 1,
            _ => 0,
        };
        self.cpus.push(Cpu {
            id,
            logical_index: object.logical_index,
            core: way.core,
            package: way.package,
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

    /// Fills in what is known only once every object was seen.
    fn complete_cpus(&mut self, kinds: &[CpuKind], allowed: &CpuSet) {
        // The node with the fewest CPUs is the nearest; it is written last, and of equals the first is.
        let mut nodes: Vec<_> = self.numa_nodes.iter().collect();
        nodes.sort_by_key(|node| std::cmp::Reverse((node.cpus.len(), node.logical_index)));
        for node in nodes {
            for id in node.cpus.iter() {
                if let Some(&position) = self.positions.get(&id) {
                    self.cpus[position].numa_node = Some(node.logical_index);
                }
            }
        }
        // One kind alone is no difference worth telling.
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
