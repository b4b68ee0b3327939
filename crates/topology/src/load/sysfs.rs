//! Reads the CPUs, caches and memories of a machine from `/sys`, as Linux shows them.
//!
//! The result is text in the XML format of hwloc 1, because this format requires little: the
//! objects and their CPUs. Everything else is derived from them. The text then passes the same
//! checks as an XML file.
//!
//! # Source
//! Linux kernel documentation: `Documentation/ABI/stable/sysfs-devices-system-cpu` and
//! `sysfs-devices-node`, `Documentation/admin-guide/cputopology.rst`.

#[cfg(test)]
mod tests;

use std::collections::HashSet;
use std::fmt::Write as _;
use std::fs;
use std::path::Path;

use super::xml::set_text;
use crate::affinity::parse_list;
use crate::cpu_set::{CPU_NUMBER_LIMIT, CpuId, CpuSet};

/// An object with everything inside it.
#[derive(Debug)]
struct SysfsObject {
    /// The position among objects with the same CPUs. The outermost object has the lowest rank.
    rank: u8,
    cpus: CpuSet,
    /// The attributes of the XML element, except for the CPUs.
    attributes: String,
    children: Vec<SysfsObject>,
}

/// Describes the machine that `/sys` below `root` shows. Returns `None` if it shows no CPU.
pub(super) fn describe(root: &Path) -> Option<String> {
    let system = root.join("sys/devices/system");
    let online = online_in(&system.join("cpu"), "cpu");
    if online.is_empty() {
        return None;
    }
    // Collect the objects: packages, cores and caches of each CPU, and the memories.
    let mut parts = Vec::new();
    for cpu in online.iter() {
        let folder = system.join(format!("cpu/cpu{cpu}"));
        add_parts(&folder, cpu, &online, &mut parts);
    }
    let (nodes, distances) = read_nodes(&system.join("node"), &online);
    parts.extend(nodes);
    // All CPUs of an object report it, so remove the duplicates.
    let mut seen = HashSet::new();
    parts.retain(|part| part.rank == NODE || seen.insert((part.rank, part.cpus.to_string())));
    // Build the tree from the outside in.
    parts.sort_by_key(|part| (std::cmp::Reverse(part.cpus.len()), part.rank));
    let mut machine = SysfsObject::machine(online);
    for part in parts {
        machine.insert(part);
    }
    let mut text = String::new();
    machine.write(&mut text, &distances);
    Some(format!("<topology>\n{text}</topology>\n"))
}

/// Describes a machine as a plain list of CPUs.
pub(super) fn plain(cpus: &CpuSet) -> String {
    let mut machine = SysfsObject::machine(cpus.clone());
    machine.children.extend(cpus.iter().map(SysfsObject::cpu));
    let mut text = String::new();
    machine.write(&mut text, "");
    format!("<topology>\n{text}</topology>\n")
}

/// The rank of NUMA nodes.
const NODE: u8 = 1;

impl SysfsObject {
    fn new(rank: u8, cpus: CpuSet, attributes: String) -> Self {
        Self {
            rank,
            cpus,
            attributes,
            children: Vec::new(),
        }
    }

    fn machine(cpus: CpuSet) -> Self {
        Self::new(0, cpus, "type=\"Machine\"".to_owned())
    }

    fn cpu(cpu: CpuId) -> Self {
        let attributes = format!("type=\"PU\" os_index=\"{cpu}\"");
        Self::new(u8::MAX, CpuSet::from_iter([cpu]), attributes)
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

    /// Writes the object as an XML element, with `first` before its children.
    fn write(&mut self, text: &mut String, first: &str) {
        // Children without CPUs come last.
        self.children
            .sort_by_key(|child| (child.cpus.is_empty(), child.cpus.first()));
        let cpus = set_text(&self.cpus);
        // Writing to a string cannot fail.
        let _infallible = writeln!(
            text,
            "<object {} cpuset=\"{cpus}\">{first}",
            self.attributes
        );
        for child in &mut self.children {
            child.write(text, "");
        }
        text.push_str("</object>\n");
    }
}

/// Adds a CPU, and its package, core and caches.
fn add_parts(folder: &Path, cpu: CpuId, online: &CpuSet, parts: &mut Vec<SysfsObject>) {
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
        read_number(&topology.join(name))
            .map_or(String::new(), |number| format!(" os_index=\"{number}\""))
    };
    if let Some(cpus) = set(["package_cpus", "core_siblings"]) {
        let attributes = format!("type=\"Package\"{}", number("physical_package_id"));
        parts.push(SysfsObject::new(0, cpus, attributes));
    }
    if let Some(cpus) = set(["core_cpus", "thread_siblings"]) {
        let attributes = format!("type=\"Core\"{}", number("core_id"));
        parts.push(SysfsObject::new(100, cpus, attributes));
    }
    for index in 0..16 {
        let Some(part) = read_cache(&folder.join(format!("cache/index{index}")), cpu, online)
        else {
            continue;
        };
        parts.push(part);
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
        "Unified" => 0,
        "Data" => 1,
        "Instruction" if level <= 3 => 2,
        _ => return None,
    };
    let mut attributes = format!("type=\"Cache\" depth=\"{level}\" cache_type=\"{kind}\"");
    let bytes = read(&folder.join("size")).and_then(|size| {
        let kibibytes: u64 = size.strip_suffix('K')?.parse().ok()?;
        kibibytes.checked_mul(1024)
    });
    let line = read_number(&folder.join("coherency_line_size"));
    for (name, value) in [("cache_size", bytes), ("cache_linesize", line)] {
        // Writing to a string cannot fail.
        let _infallible = write!(attributes, " {name}=\"{}\"", value.unwrap_or(0));
    }
    // Higher levels are farther out. An instruction cache is inside a data cache of its level.
    let rank = 50 - 5 * level as u8 + u8::from(kind == 2);
    Some(SysfsObject::new(rank, cpus, attributes))
}

/// Reads the NUMA nodes, and the latencies between them as an XML element.
fn read_nodes(folder: &Path, online: &CpuSet) -> (Vec<SysfsObject>, String) {
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
        let attributes = format!(
            "type=\"NUMANode\" os_index=\"{node}\" local_memory=\"{}\"",
            bytes.unwrap_or(0)
        );
        SysfsObject::new(NODE, cpus.clone(), attributes)
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
    let distances = values.map_or(String::new(), |values| {
        let values: String = values
            .iter()
            .map(|value| format!("<latency value=\"{value}\"/>"))
            .collect();
        let count = nodes.len();
        format!("\n<distances nbobjs=\"{count}\" latency_base=\"1\">{values}</distances>")
    });
    (parts, distances)
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
fn read(file: &Path) -> Option<String> {
    let text = fs::read_to_string(file).ok()?;
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
