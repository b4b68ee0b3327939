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
use std::fs::{self, File};
use std::io::Read;
use std::path::Path;

use super::levels;
use crate::affinity::parse_list;
use crate::cpu_set::{CPU_NUMBER_LIMIT, CpuId, CpuSet};
use crate::object::{Attributes, CacheKind, Object, ObjectKind};
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
    let online = online_in(&system.join("cpu"), "cpu");
    if online.is_empty() {
        return None;
    }
    // Collect the objects: packages, cores and caches of each CPU, and the memories.
    let mut parts = Vec::new();
    let mut read = HashMap::new();
    for cpu in online.iter() {
        let folder = system.join(format!("cpu/cpu{cpu}"));
        add_parts(&folder, cpu, &online, &mut parts, &mut read);
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

/// The largest number of caches of a CPU.
const CACHES_MAX: u32 = 16;

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

/// Adds a CPU, and its package, core and caches.
///
/// All CPUs of an object report it. Its files are read for the first of them, because reading them
/// takes most of the time: `read` has the CPUs of the objects so far.
fn add_parts(
    folder: &Path,
    cpu: CpuId,
    online: &CpuSet,
    parts: &mut Vec<SysfsObject>,
    read: &mut HashMap<Part, CpuSet>,
) {
    let mut add = |part: Part, find: &dyn Fn() -> Option<SysfsObject>| {
        let known = read.entry(part).or_default();
        if known.contains(cpu) {
            return;
        }
        if let Some(object) = find() {
            *known = known.iter().chain(object.cpus.iter()).collect();
            parts.push(object);
        }
    };
    let topology = folder.join("topology");
    // Newer kernels use the first name of a file, older ones the second.
    let set = |names: [&str; 2]| {
        let found = names.into_iter().find_map(|name| {
            let list = read_list(&topology.join(format!("{name}_list")));
            list.or_else(|| read_mask(&topology.join(name)))
        })?;
        let set = found.intersection(online);
        set.contains(cpu).then_some(set)
    };
    let number = |name| {
        let number = read_number(&topology.join(name))?;
        u32::try_from(number).ok()
    };
    add(Part::Package, &|| {
        let cpus = set(["package_cpus", "core_siblings"])?;
        let number = number("physical_package_id");
        Some(SysfsObject::new(0, cpus, ObjectKind::Package, number))
    });
    add(Part::Core, &|| {
        let cpus = set(["core_cpus", "thread_siblings"])?;
        let number = number("core_id");
        Some(SysfsObject::new(100, cpus, ObjectKind::Core, number))
    });
    for index in 0..CACHES_MAX {
        let cache = folder.join(format!("cache/index{index}"));
        add(Part::Cache(index), &|| read_cache(&cache, cpu, online));
    }
    parts.push(SysfsObject::cpu(cpu));
}

/// Reads a cache of a CPU. Returns `None` if it does not exist or its files make no sense.
fn read_cache(folder: &Path, cpu: CpuId, online: &CpuSet) -> Option<SysfsObject> {
    let level = read_number(&folder.join("level")).filter(|level| (1..=5).contains(level))?;
    let cpus = read_list(&folder.join("shared_cpu_list"))
        .or_else(|| read_mask(&folder.join("shared_cpu_map")))?
        .intersection(online);
    if !cpus.contains(cpu) {
        return None;
    }
    let kind = match read(&folder.join("type"))?.as_str() {
        "Unified" => CacheKind::Unified,
        "Data" => CacheKind::Data,
        "Instruction" if level <= 3 => CacheKind::Instruction,
        _ => return None,
    };
    let bytes = read(&folder.join("size")).and_then(|size| {
        let kibibytes: u64 = size.strip_suffix('K')?.parse().ok()?;
        kibibytes.checked_mul(1024)
    });
    let line = read_number(&folder.join("coherency_line_size"));
    let number = read_number(&folder.join("id")).and_then(|number| u32::try_from(number).ok());
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
        ..SysfsObject::new(rank, cpus, ObjectKind::Cache, number)
    })
}

/// Reads the NUMA nodes, and the latencies between them.
fn read_nodes(folder: &Path, online: &CpuSet) -> (Vec<SysfsObject>, Option<LatencyMatrix>) {
    let numbers = online_in(folder, "node");
    let mut nodes: Vec<(u32, CpuSet)> = numbers
        .iter()
        .map(|node| {
            let file = folder.join(format!("node{node}"));
            let cpus = read_list(&file.join("cpulist")).or_else(|| read_mask(&file.join("cpumap")));
            (node.0, cpus.unwrap_or_default().intersection(online))
        })
        .collect();
    // The latencies are written in the order of the tree.
    nodes.sort_by_key(|(_, cpus)| (cpus.is_empty(), cpus.first()));
    let parts = nodes.iter().map(|(node, cpus)| {
        let bytes = read(&folder.join(format!("node{node}/meminfo"))).and_then(|text| {
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
    let row = |node: u32| {
        let text = read(&folder.join(format!("node{node}/distance")))?;
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
        .flat_map(|&(from, _)| nodes.iter().map(move |&(to, _)| (from, to)))
        .map(|(from, to)| row(from)?.get(column(to)?).copied())
        .collect();
    let values = values.filter(|_| nodes.len() > 1);
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
fn online_in(folder: &Path, name: &str) -> CpuSet {
    if let Some(online) = read_list(&folder.join("online")) {
        return online;
    }
    let entries = fs::read_dir(folder).into_iter().flatten();
    entries
        .filter_map(|entry| {
            let entry = entry.ok()?;
            let number: u32 = entry
                .file_name()
                .to_str()?
                .strip_prefix(name)?
                .parse()
                .ok()?;
            let is_off = read_number(&entry.path().join("online")) == Some(0);
            (number < CPU_NUMBER_LIMIT && !is_off).then_some(CpuId(number))
        })
        .collect()
}

/// Reads a file and removes surrounding whitespace and zeros. Copies of `/sys` may pad their last
/// block with zeros.
///
/// Nearly all files are short, so that one system call reads each of them, and a second one is not
/// needed to see its end.
fn read(file: &Path) -> Option<String> {
    let mut file = File::open(file).ok()?;
    let mut bytes = [0; 512];
    let len = file.read(&mut bytes).ok()?;
    let mut text = String::from_utf8(bytes[..len].to_vec()).ok()?;
    if len == bytes.len() {
        file.read_to_string(&mut text).ok()?;
    }
    let is_padding = |mark: char| mark.is_whitespace() || mark == '\0';
    Some(text.trim_matches(is_padding).to_owned())
}

fn read_number(file: &Path) -> Option<u64> {
    read(file)?.parse().ok()
}

/// Reads a list such as `0-3,8`.
fn read_list(file: &Path) -> Option<CpuSet> {
    parse_list(&read(file)?)
}

/// Reads a mask: hexadecimal words of 32 bits, the highest word first.
fn read_mask(file: &Path) -> Option<CpuSet> {
    let text = read(file)?;
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
