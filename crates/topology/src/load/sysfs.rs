//! Reads the CPUs, caches and memories of a machine from `/sys`, as Linux shows them.
//!
//! The objects are put into a tree by their CPUs, as hwloc does it.
//!
//! # Source
//! Linux kernel documentation: `Documentation/ABI/stable/sysfs-devices-system-cpu` and
//! `sysfs-devices-node`, `Documentation/admin-guide/cputopology.rst`.

#[cfg(test)]
mod tests;

use std::collections::{HashMap, HashSet};
use std::path::Path;

use super::levels;
use crate::affinity::parse_list;
use crate::cpu_set::{CPU_NUMBER_LIMIT, CpuId, CpuSet};
use crate::object::{Attributes, CacheKind, Object, ObjectKind};
use crate::small_files::Folder;
use crate::topology::LatencyMatrix;

/// A machine.
#[derive(Debug)]
pub(super) struct Found {
    pub(super) root: Object,
    pub(super) numa_latencies: Option<LatencyMatrix>,
}

/// An object with everything inside it.
#[derive(Debug)]
struct SysfsObject {
    /// The position among objects with the same CPUs. The outermost object has the lowest rank.
    rank: u8,
    cpus: CpuSet,
    kind: ObjectKind,
    os_index: Option<u32>,
    attributes: Attributes,
    children: Vec<SysfsObject>,
}

/// Returns the machine that `/sys` below `root` shows, or `None` if it shows no CPU.
pub(super) fn find(root: &Path) -> Option<Found> {
    let system = root.join("sys/devices/system");
    let cpus = Folder::open(&system.join("cpu")).ok()?;
    let online = online_in(&cpus, "cpu");
    if online.is_empty() {
        return None;
    }
    // Collect the objects: packages, cores and caches of each CPU, and the memories.
    let mut parts = Vec::new();
    let mut read = HashMap::new();
    for cpu in online.iter() {
        match cpus.inside(&format!("cpu{cpu}")) {
            Ok(folder) => add_parts(&folder, cpu, &online, &mut parts, &mut read),
            Err(_) => parts.push(SysfsObject::cpu(cpu)),
        }
    }
    let (nodes, numa_latencies) = read_nodes(&system.join("node"), &online);
    parts.extend(nodes);
    if parts.iter().all(|part| part.rank != NODE) {
        parts.push(SysfsObject::only_node(online.clone()));
    }
    // All CPUs of an object report it, so remove the duplicates.
    let mut seen = HashSet::new();
    parts.retain(|part| part.rank == NODE || seen.insert((part.rank, part.cpus.to_string())));
    // Build the tree from the outside in.
    parts.sort_by_key(|part| (std::cmp::Reverse(part.cpus.len()), part.rank));
    let mut machine = SysfsObject::machine(online);
    for part in parts {
        machine.insert(part);
    }
    Some(Found {
        root: machine.into_root(),
        numa_latencies,
    })
}

/// Returns the CPUs that are online, as `/sys` below `root` shows them.
pub(super) fn online(root: &Path) -> Option<CpuSet> {
    let cpus = Folder::open(&root.join("sys/devices/system/cpu")).ok()?;
    Some(online_in(&cpus, "cpu")).filter(|online| !online.is_empty())
}

/// Returns a machine that is a plain list of CPUs.
pub(super) fn plain(cpus: &CpuSet) -> Found {
    let mut machine = SysfsObject::machine(cpus.clone());
    machine.insert(SysfsObject::only_node(cpus.clone()));
    for cpu in cpus.iter() {
        machine.insert(SysfsObject::cpu(cpu));
    }
    Found {
        root: machine.into_root(),
        numa_latencies: None,
    }
}

/// The rank of NUMA nodes.
const NODE: u8 = 1;

impl SysfsObject {
    fn new(rank: u8, cpus: CpuSet, kind: ObjectKind, os_index: Option<u32>) -> Self {
        Self {
            rank,
            cpus,
            kind,
            os_index,
            attributes: Attributes::None,
            children: Vec::new(),
        }
    }

    fn machine(cpus: CpuSet) -> Self {
        Self::new(0, cpus, ObjectKind::Machine, Some(0))
    }

    /// Creates the only memory of a machine that shows none.
    fn only_node(cpus: CpuSet) -> Self {
        let attributes = Attributes::Numa { memory_bytes: None };
        Self {
            attributes,
            ..Self::new(NODE, cpus, ObjectKind::NumaNode, Some(0))
        }
    }

    fn cpu(cpu: CpuId) -> Self {
        let cpus = CpuSet::from_iter([cpu]);
        Self::new(u8::MAX, cpus, ObjectKind::Pu, Some(cpu.0))
    }

    /// Inserts an object into the tree. All larger objects must have been inserted before.
    fn insert(&mut self, part: Self) {
        let overlaps = |child: &&mut Self| !child.cpus.intersection(&part.cpus).is_empty();
        match self.children.iter_mut().find(overlaps) {
            Some(child) if part.cpus.is_subset_of(&child.cpus) => child.insert(part),
            // The objects overlap partly, because the firmware contradicts itself. A tree can
            // contain only one of the two.
            Some(_) => {}
            None => self.children.push(part),
        }
    }

    /// Converts the machine with everything inside it, and numbers the objects.
    fn into_root(self) -> Object {
        let mut root = self.into_object(true);
        levels::number(&mut root);
        root
    }

    /// Converts an object with everything inside it. A memory becomes a memory child of the object
    /// with the same CPUs.
    fn into_object(mut self, is_root: bool) -> Object {
        // Children without CPUs come last.
        self.children
            .sort_by_key(|child| (child.cpus.is_empty(), child.cpus.first()));
        let mut object = Object {
            kind: self.kind,
            depth: None,
            logical_index: 0,
            os_index: self.os_index,
            subtype: None,
            name: None,
            attributes: self.attributes,
            cpus: self.cpus,
            children: Vec::new(),
            memory_children: Vec::new(),
        };
        for child in self.children {
            if child.rank == NODE {
                object.add_memory(child, is_root);
            } else {
                object.children.push(child.into_object(false));
            }
        }
        object
    }
}

impl Object {
    /// Adds a memory, and the objects inside it.
    fn add_memory(&mut self, memory: SysfsObject, is_root: bool) {
        let mut inside = memory.into_object(false);
        let mut children = std::mem::take(&mut inside.children);
        // Memories with the same CPUs were nested in each other.
        let mut memories = std::mem::take(&mut inside.memory_children);
        memories.insert(0, inside);
        let same = memories[0].cpus.clone();
        let only_child = match children.as_mut_slice() {
            [child] if child.cpus == same && child.kind != ObjectKind::Pu => Some(child),
            _ => None,
        };
        if same.is_empty() || (self.cpus == same && !(is_root && only_child.is_some())) {
            self.memory_children.append(&mut memories);
        } else if let Some(child) = only_child {
            child.memory_children.append(&mut memories);
        } else {
            let group = SysfsObject::new(NODE, same, ObjectKind::Group, None);
            let mut group = group.into_object(false);
            group.attributes = Attributes::Group { level: 0 };
            group.children = children;
            group.memory_children = memories;
            return self.children.push(group);
        }
        self.children.append(&mut children);
    }
}

/// The files of a CPU that describe one object.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
enum Part {
    Package,
    Core,
    /// The folder `cache/index…` with this number.
    Cache(u32),
}

/// The CPUs of the objects that have been read, for each part of a CPU.
type Read = HashMap<Part, CpuSet>;

/// Adds a CPU, and its package, core and caches.
///
/// All CPUs of an object report it. Its files are read for the first of them, because reading them
/// takes most of the time.
fn add_parts(
    folder: &Folder,
    cpu: CpuId,
    online: &CpuSet,
    parts: &mut Vec<SysfsObject>,
    read: &mut Read,
) {
    let is_read = |read: &Read, part| read.get(&part).is_some_and(|cpus| cpus.contains(cpu));
    let mut add = |read: &mut Read, part, object: Option<SysfsObject>| {
        if let Some(object) = object {
            read.entry(part).or_default().extend_from(&object.cpus);
            parts.push(object);
        }
    };
    if let Ok(topology) = folder.inside("topology") {
        if !is_read(read, Part::Package) {
            add(read, Part::Package, read_package(&topology, cpu, online));
        }
        if !is_read(read, Part::Core) {
            add(read, Part::Core, read_core(&topology, cpu, online));
        }
    }
    if let Ok(caches) = folder.inside("cache") {
        // The kernel may hide a cache, so the numbers may have gaps.
        for index in caches.numbers_after("index") {
            if !is_read(read, Part::Cache(index))
                && let Ok(cache) = caches.inside(&format!("index{index}"))
            {
                let object = read_cache(&cache, cpu, online);
                add(read, Part::Cache(index), object);
            }
        }
    }
    parts.push(SysfsObject::cpu(cpu));
}

/// Reads the package of a CPU. Returns `None` if its files make no sense.
fn read_package(topology: &Folder, cpu: CpuId, online: &CpuSet) -> Option<SysfsObject> {
    let cpus = read_sharing(topology, ["package_cpus", "core_siblings"], cpu, online)?;
    let number = read_index(topology, "physical_package_id");
    Some(SysfsObject::new(0, cpus, ObjectKind::Package, number))
}

/// Reads the core of a CPU. Returns `None` if its files make no sense.
fn read_core(topology: &Folder, cpu: CpuId, online: &CpuSet) -> Option<SysfsObject> {
    let cpus = read_sharing(topology, ["core_cpus", "thread_siblings"], cpu, online)?;
    let number = read_index(topology, "core_id");
    Some(SysfsObject::new(100, cpus, ObjectKind::Core, number))
}

/// Reads the online CPUs that share an object with `cpu`. Newer kernels use the first name of the
/// file, older ones the second.
fn read_sharing(folder: &Folder, names: [&str; 2], cpu: CpuId, online: &CpuSet) -> Option<CpuSet> {
    let found = names.into_iter().find_map(|name| {
        read_list(folder, &format!("{name}_list")).or_else(|| read_mask(folder, name))
    })?;
    let cpus = found.intersection(online);
    cpus.contains(cpu).then_some(cpus)
}

/// Reads a cache of a CPU. Returns `None` if its files make no sense.
fn read_cache(folder: &Folder, cpu: CpuId, online: &CpuSet) -> Option<SysfsObject> {
    let level = read_number(folder, "level").filter(|level| (1..=5).contains(level))?;
    let cpus = read_list(folder, "shared_cpu_list")
        .or_else(|| read_mask(folder, "shared_cpu_map"))?
        .intersection(online);
    if !cpus.contains(cpu) {
        return None;
    }
    let kind = match folder.read("type")?.as_str() {
        "Unified" => CacheKind::Unified,
        "Data" => CacheKind::Data,
        "Instruction" if level <= 3 => CacheKind::Instruction,
        _ => return None,
    };
    let bytes = folder.read("size").and_then(|size| {
        let kibibytes: u64 = size.strip_suffix('K')?.parse().ok()?;
        kibibytes.checked_mul(1024)
    });
    let line = read_number(folder, "coherency_line_size");
    // Higher levels are farther out. An instruction cache is inside a data cache of its level.
    let rank = 50 - 5 * level as u8 + u8::from(kind == CacheKind::Instruction);
    let attributes = Attributes::Cache {
        level: level as u32,
        kind,
        size_bytes: bytes.filter(|&bytes| bytes > 0),
        line_bytes: line.filter(|&bytes| bytes > 0),
    };
    Some(SysfsObject {
        attributes,
        ..SysfsObject::new(rank, cpus, ObjectKind::Cache, read_index(folder, "id"))
    })
}

/// Reads the NUMA nodes, and the latencies between them.
fn read_nodes(path: &Path, online: &CpuSet) -> (Vec<SysfsObject>, Option<LatencyMatrix>) {
    let Ok(all) = Folder::open(path) else {
        return (Vec::new(), None);
    };
    let numbers = online_in(&all, "node");
    let mut nodes: Vec<(u32, Option<Folder>, CpuSet)> = numbers
        .iter()
        .map(|node| {
            let folder = all.inside(&format!("node{node}")).ok();
            let read =
                |folder| read_list(folder, "cpulist").or_else(|| read_mask(folder, "cpumap"));
            let cpus = folder.as_ref().and_then(read).unwrap_or_default();
            (node.0, folder, cpus.intersection(online))
        })
        .collect();
    // The latencies are written in the order of the tree.
    nodes.sort_by_key(|(_, _, cpus)| (cpus.is_empty(), cpus.first()));
    let parts = nodes.iter().map(|(node, folder, cpus)| {
        let text = folder.as_ref().and_then(|folder| folder.read("meminfo"));
        let bytes = text.and_then(|text| {
            let (_, after) = text.split_once("MemTotal:")?;
            let kibibytes: u64 = after.split_whitespace().next()?.parse().ok()?;
            kibibytes.checked_mul(1024)
        });
        SysfsObject {
            attributes: Attributes::Numa {
                memory_bytes: bytes.filter(|&bytes| bytes > 0),
            },
            ..SysfsObject::new(NODE, cpus.clone(), ObjectKind::NumaNode, Some(*node))
        }
    });
    let parts = parts.collect();
    if nodes.len() < 2 {
        return (parts, None);
    }
    // A machine with one node has no latencies.
    let row = |folder: &Option<Folder>| {
        let text = folder.as_ref()?.read("distance")?;
        let row: Option<Vec<u64>> = text
            .split_whitespace()
            .map(|word| word.parse().ok())
            .collect();
        row.filter(|row| row.len() == nodes.len())
    };
    // In `/sys`, the columns of a row are in the order of node numbers.
    let column = |node: u32| numbers.iter().position(|number| number.0 == node);
    let values: Option<Vec<u64>> = nodes
        .iter()
        .flat_map(|(_, from, _)| {
            let row = row(from);
            let to = nodes.iter().map(|(to, ..)| *to);
            to.map(move |to| row.as_ref()?.get(column(to)?).copied())
        })
        .collect();
    let latencies = values.map(|values| LatencyMatrix {
        name: "NUMALatency".to_owned(),
        nodes: (0..nodes.len()).collect(),
        values,
    });
    (parts, latencies)
}

/// Returns the numbers of the CPUs or nodes that are online.
///
/// If the kernel provides no list, returns all that have a folder and are not marked as offline.
fn online_in(folder: &Folder, name: &str) -> CpuSet {
    if let Some(online) = read_list(folder, "online") {
        return online;
    }
    let is_online = |number: &u32| {
        let of_one = folder.inside(&format!("{name}{number}"));
        of_one.is_ok_and(|of_one| read_number(&of_one, "online") != Some(0))
    };
    let numbers = folder.numbers_after(name).into_iter();
    numbers
        .filter(|number| *number < CPU_NUMBER_LIMIT && is_online(number))
        .map(CpuId)
        .collect()
}

fn read_number(folder: &Folder, name: &str) -> Option<u64> {
    folder.read(name)?.parse().ok()
}

/// Reads the number that the system gives to an object.
fn read_index(folder: &Folder, name: &str) -> Option<u32> {
    folder.read(name)?.parse().ok()
}

/// Reads a list such as `0-3,8`.
fn read_list(folder: &Folder, name: &str) -> Option<CpuSet> {
    parse_list(&folder.read(name)?)
}

/// Reads a mask: hexadecimal words of 32 bits, the highest word first.
fn read_mask(folder: &Folder, name: &str) -> Option<CpuSet> {
    let text = folder.read(name)?;
    let mut set = CpuSet::new();
    for (index, word) in text.split(',').rev().enumerate() {
        let bits = u32::from_str_radix(word, 16).ok()?;
        let first = u32::try_from(index).ok()?.checked_mul(u32::BITS)?;
        for bit in (0..u32::BITS).filter(|bit| bits >> bit & 1 == 1) {
            let number = first
                .checked_add(bit)
                .filter(|number| *number < CPU_NUMBER_LIMIT)?;
            set.insert(CpuId(number));
        }
    }
    Some(set)
}
