//! Reads the CPUs, caches and memories of a machine from `/sys`, as Linux shows them.
//!
//! The result is text in the XML format of hwloc 1, because that asks for little: which objects
//! there are and which CPUs they have. Everything else follows from these, and passes the checks
//! that every file passes.
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

/// An object with all that is within it.
#[derive(Debug)]
struct Part {
    /// Its place among objects of the same CPUs, the outermost first.
    rank: u8,
    cpus: CpuSet,
    /// The attributes of its element, except for its CPUs.
    attributes: String,
    children: Vec<Part>,
}

/// Describes the machine that `/sys` below `root` shows; `None` where it shows none.
pub(super) fn describe(root: &Path) -> Option<String> {
    let system = root.join("sys/devices/system");
    let online = online_in(&system.join("cpu"), "cpu");
    if online.is_empty() {
        return None;
    }
    let mut parts = Vec::new();
    for cpu in online.iter() {
        let folder = system.join(format!("cpu/cpu{cpu}"));
        add_parts(&folder, cpu, &online, &mut parts);
    }
    let (nodes, distances) = read_nodes(&system.join("node"), &online);
    parts.extend(nodes);
    // Several CPUs tell of one object.
    let mut seen = HashSet::new();
    parts.retain(|part| part.rank == NODE || seen.insert((part.rank, part.cpus.to_string())));
    parts.sort_by_key(|part| (std::cmp::Reverse(part.cpus.len()), part.rank));
    let mut machine = Part::machine(online);
    for part in parts {
        machine.insert(part);
    }
    let mut text = String::new();
    machine.write(&mut text, &distances);
    Some(format!("<topology>\n{text}</topology>\n"))
}

/// Describes a machine of which only the CPUs are known.
pub(super) fn plain(cpus: &CpuSet) -> String {
    let mut machine = Part::machine(cpus.clone());
    machine.children.extend(cpus.iter().map(Part::cpu));
    let mut text = String::new();
    machine.write(&mut text, "");
    format!("<topology>\n{text}</topology>\n")
}

const NODE: u8 = 1;

impl Part {
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

    /// Puts an object where it belongs; all that are larger are there already.
    fn insert(&mut self, part: Self) {
        let overlaps = |child: &&mut Self| !child.cpus.intersection(&part.cpus).is_empty();
        match self.children.iter_mut().find(overlaps) {
            Some(child) if part.cpus.is_subset_of(&child.cpus) => child.insert(part),
            // Firmware that contradicts itself: a tree can have only one of the two.
            Some(_) => {}
            None => self.children.push(part),
        }
    }

    /// Writes the object, and `first` before what is within it.
    fn write(&mut self, text: &mut String, first: &str) {
        // Those without CPUs are last.
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

/// Adds what a CPU tells of itself and of what it is in.
fn add_parts(folder: &Path, cpu: CpuId, online: &CpuSet, parts: &mut Vec<Part>) {
    let topology = folder.join("topology");
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
        parts.push(Part::new(0, cpus, attributes));
    }
    if let Some(cpus) = set(["core_cpus", "thread_siblings"]) {
        let attributes = format!("type=\"Core\"{}", number("core_id"));
        parts.push(Part::new(100, cpus, attributes));
    }
    for index in 0..16 {
        let Some(part) = read_cache(&folder.join(format!("cache/index{index}")), cpu, online)
        else {
            continue;
        };
        parts.push(part);
    }
    parts.push(Part::cpu(cpu));
}

fn read_cache(folder: &Path, cpu: CpuId, online: &CpuSet) -> Option<Part> {
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
    // Larger levels are further out, and instructions further in.
    let rank = 50 - 5 * level as u8 + u8::from(kind == 2);
    Some(Part::new(rank, cpus, attributes))
}

/// Reads the NUMA nodes, and the latencies between them as an element.
fn read_nodes(folder: &Path, online: &CpuSet) -> (Vec<Part>, String) {
    let numbers = online_in(folder, "node");
    let mut nodes: Vec<(u32, CpuSet)> = numbers
        .iter()
        .map(|node| {
            let file = folder.join(format!("node{node}"));
            let cpus = read_list(&file.join("cpulist")).or_else(|| read_mask(&file.join("cpumap")));
            (node.0, cpus.unwrap_or_default().intersection(online))
        })
        .collect();
    // In the order of the tree, which is that of the latencies.
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
        Part::new(NODE, cpus.clone(), attributes)
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
    // The columns of a row are in the order of numbers.
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

/// Lists the numbers of what is on line: as the kernel lists them, or else all that have a folder
/// and are not off line.
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

/// Reads a file without what surrounds its text; copies of `/sys` may fill their last block with
/// zeros.
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

/// Reads a mask, words of 32 bits in hexadecimal, the highest first.
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
