//! Converts the format of hwloc 1 into the format of hwloc 2, as hwloc 2 does when it reads a file.
//!
//! | hwloc 1 | hwloc 2 |
//! |---|---|
//! | `Socket`, `System` | `Package`, `Machine` |
//! | `Cache` with a depth | `L1Cache` to `L5Cache`, `L1iCache` to `L3iCache` |
//! | NUMA nodes contain the objects near them | NUMA nodes are beside these objects (see below) |
//! | a machine without NUMA has no node | such a machine has one node |
//! | `Misc` with CPUs | `Group` |
//! | no identities | `gp_index` |
//! | `distances` in an object | `distances2` beside the machine |
//!
//! A NUMA node becomes a memory of the object with the same CPUs. If there is no such object, a
//! `Group` is created for the node and its contents.
//!
//! Sets of nodes are computed anew, because hwloc 1 omitted them on machines without NUMA. Devices
//! are dropped. A file without a version may have either format. Parts that already have the newer
//! format are not changed.
//!
//! # Source
//! `hwloc.dtd` of hwloc 1.11; the hwloc manual, "Upgrading to the hwloc 2.0 API".

use super::element::Element;
use super::{Context, XmlProblem, tree};
use crate::cpu_set::{CPU_NUMBER_LIMIT, CpuId, CpuSet};

/// The types of object that a topology does not need.
const DEVICES: [&str; 4] = ["Bridge", "PCIDev", "OSDev", "Misc"];

/// Converts the outermost element to version 2.
pub(super) fn upgrade(context: Context<'_>, mut root: Element) -> Result<Element, XmlProblem> {
    root.set("version", "2.0");
    // The later checks report a missing or a second object.
    let is_object = |child: &&mut Element| child.name == "object";
    let Some(machine) = root.children.iter_mut().find(is_object) else {
        return Ok(root);
    };
    if machine.attribute("type") == Some("System") {
        machine.set("type", "Machine");
    }
    // Rename the types, and move NUMA nodes beside the objects near them.
    rename(machine);
    machine.children.iter_mut().for_each(forget_allowed);
    *machine = lift_memories(std::mem::replace(machine, empty()));
    let mut nodes = Vec::new();
    list_nodes(machine, &mut nodes);
    if nodes.is_empty() {
        let node = only_node(machine);
        machine.children.insert(0, node);
        machine.remove("allowed_nodeset");
        nodes.push(0);
    }
    // Compute what version 1 does not have: sets of nodes, allowed sets, identities.
    write_nodes(machine, &CpuSet::new());
    for (allowed, all) in [("allowed_cpuset", "cpuset"), ("allowed_nodeset", "nodeset")] {
        limit(machine, allowed, all);
    }
    let mut identity = largest_identity(machine);
    write_identities(machine, &mut identity);
    let distances = distances(context, machine, &nodes)?;
    root.children.extend(distances);
    Ok(root)
}

fn kind(object: &Element) -> &str {
    object.attribute("type").unwrap_or_default()
}

/// Gives an object and everything below it the names of hwloc 2, and drops devices.
fn rename(object: &mut Element) {
    let level = object
        .attribute("depth")
        .and_then(|depth| depth.parse().ok());
    let is_instruction = object.attribute("cache_type") == Some("2");
    match (kind(object), level) {
        ("Socket", _) => object.set("type", "Package"),
        ("Cache", Some(level @ 1..=3_u8)) if is_instruction => {
            object.set("type", format!("L{level}iCache"));
        }
        ("Cache", Some(level @ 1..=5)) => {
            object.set("type", format!("L{level}Cache"));
            if object.attribute("cache_type").is_none() {
                object.set("cache_type", "0");
            }
        }
        ("Misc", _) if object.attribute("cpuset").is_some() => object.set("type", "Group"),
        _ => {}
    }
    object.remove("online_cpuset");
    if let (None, Some(cpus)) = (
        object.attribute("complete_cpuset"),
        object.attribute("cpuset"),
    ) {
        let cpus = cpus.to_owned();
        object.set("complete_cpuset", cpus);
    }
    let is_device =
        |child: &Element| DEVICES.contains(&kind(child)) && child.attribute("cpuset").is_none();
    object.children.retain(|child| !is_device(child));
    object.children.iter_mut().for_each(rename);
}

/// Removes the allowed sets of an object and everything below it. Only the machine has them in
/// version 2.
fn forget_allowed(object: &mut Element) {
    object.remove("allowed_cpuset");
    object.remove("allowed_nodeset");
    object.children.iter_mut().for_each(forget_allowed);
}

/// Restricts the set `allowed` of the machine to the set `all`. If `allowed` is missing, sets it to
/// `all`.
fn limit(machine: &mut Element, allowed: &str, all: &str) {
    let read = |name| machine.attribute(name).and_then(tree::parse_set);
    match (read(allowed), read(all)) {
        (Some(some), Some(all)) => machine.set(allowed, set_text(&some.intersection(&all))),
        (None, Some(all)) if machine.attribute(allowed).is_none() => {
            machine.set(allowed, set_text(&all));
        }
        // The later checks report an invalid set.
        _ => {}
    }
}

/// Moves the NUMA nodes inside an object beside the objects that they contain.
fn lift_memories(mut object: Element) -> Element {
    let (mut memories, mut others) = (Vec::new(), Vec::new());
    for child in std::mem::take(&mut object.children) {
        let mut child = lift_memories(child);
        if kind(&child) == "MemCache" {
            memories.push(child);
            continue;
        }
        if kind(&child) != "NUMANode" {
            others.push(child);
            continue;
        }
        // The child is a NUMA node. Find the object with the same CPUs, or create a group.
        let mut contents: Vec<_> = std::mem::take(&mut child.children);
        match contents.as_mut_slice() {
            // In an object with CPUs, a memory without CPUs would count as near to them.
            [] if kind(&object) != "Group" && cpus(&child).is_some_and(|cpus| cpus.is_empty()) => {
                others.push(group(child, contents));
            }
            [] => memories.push(child),
            // This case must precede the next one: hwloc merges a group and its only child, and
            // their memories might get into a wrong order.
            _ if have_same_cpus(&child, &object) => {
                memories.push(child);
                others.append(&mut contents);
            }
            [only] if have_same_cpus(only, &child) && kind(only) != "PU" => {
                only.children.insert(0, child);
                others.append(&mut contents);
            }
            _ => others.push(group(child, contents)),
        }
    }
    memories.sort_by_key(number);
    // Objects from inside a node may have ended up after those of the next node.
    others.sort_by_key(|child| {
        let cpus = child.attribute("complete_cpuset").and_then(tree::parse_set);
        let first = cpus.and_then(|cpus| cpus.first());
        (first.is_none(), first)
    });
    memories.append(&mut others);
    object.children = memories;
    object
}

/// Creates a group of a NUMA node and its former contents.
fn group(node: Element, contents: Vec<Element>) -> Element {
    let mut group = empty();
    group.offset = node.offset;
    for (name, value) in [("type", "Group"), ("kind", "1001"), ("subkind", "0")] {
        group.set(name, value);
    }
    for name in ["cpuset", "complete_cpuset"] {
        if let Some(cpus) = node.attribute(name) {
            group.set(name, cpus);
        }
    }
    group.children.push(node);
    group.children.extend(contents);
    group
}

/// Creates an object without attributes and children.
fn empty() -> Element {
    Element {
        name: "object".to_owned(),
        offset: 0,
        attributes: Vec::new(),
        text: String::new(),
        children: Vec::new(),
    }
}

/// Creates the single NUMA node of a machine without NUMA.
fn only_node(machine: &Element) -> Element {
    let mut node = empty();
    node.offset = machine.offset;
    for (name, value) in [("type", "NUMANode"), ("os_index", "0")] {
        node.set(name, value);
    }
    for name in ["cpuset", "complete_cpuset", "local_memory"] {
        if let Some(value) = machine.attribute(name) {
            node.set(name, value);
        }
    }
    node
}

fn cpus(object: &Element) -> Option<CpuSet> {
    tree::parse_set(object.attribute("cpuset")?)
}

fn have_same_cpus(left: &Element, right: &Element) -> bool {
    cpus(left).is_some_and(|left| Some(left) == cpus(right))
}

/// Returns the number of an object, if it has a valid one.
fn number(object: &Element) -> Option<u32> {
    let number = object.attribute("os_index")?.parse().ok();
    number.filter(|&number| number < CPU_NUMBER_LIMIT)
}

/// Appends the numbers of the NUMA nodes to `nodes`, in the order of the tree.
fn list_nodes(object: &Element, nodes: &mut Vec<u32>) {
    if kind(object) == "NUMANode" {
        nodes.extend(number(object));
    }
    for child in &object.children {
        list_nodes(child, nodes);
    }
}

/// Writes the node sets of an object and everything below it: the nodes `above`, beside and below
/// each object. Returns the nodes beside and below `object`.
fn write_nodes(object: &mut Element, above: &CpuSet) -> CpuSet {
    let is_memory = |object: &Element| matches!(kind(object), "NUMANode" | "MemCache");
    let mut within = CpuSet::new();
    if kind(object) == "NUMANode" {
        within.extend_from(&CpuSet::from_iter(number(object).map(CpuId)));
    }
    for memory in object.children.iter_mut().filter(|child| is_memory(child)) {
        within.extend_from(&write_nodes(memory, &CpuSet::new()));
    }
    let mut reach = above.clone();
    reach.extend_from(&within);
    for child in object.children.iter_mut().filter(|child| !is_memory(child)) {
        if child.name == "object" {
            within.extend_from(&write_nodes(child, &reach));
        }
    }
    let mut all = above.clone();
    all.extend_from(&within);
    let text = set_text(&all);
    object.set("nodeset", text.clone());
    object.set("complete_nodeset", text);
    within
}

/// Formats a set like hwloc: words of 32 bits, the highest word first.
fn set_text(set: &CpuSet) -> String {
    let mut words = vec![0_u32];
    for id in set.iter() {
        let at = id.index() / u32::BITS as usize;
        words.resize(words.len().max(at + 1), 0);
        words[at] |= 1 << (id.0 % u32::BITS);
    }
    let words: Vec<_> = words
        .iter()
        .rev()
        .map(|word| format!("0x{word:08x}"))
        .collect();
    words.join(",")
}

/// Returns the largest identity in an object, or 0 if there is none.
fn largest_identity(object: &Element) -> u64 {
    let own = object
        .attribute("gp_index")
        .and_then(|text| text.parse().ok());
    let below = object.children.iter().map(largest_identity).max();
    own.unwrap_or(0).max(below.unwrap_or(0))
}

/// Gives an identity to each object that has none. `identity` is the largest one so far.
fn write_identities(object: &mut Element, identity: &mut u64) {
    if object.attribute("gp_index").is_none() {
        *identity += 1;
        object.set("gp_index", identity.to_string());
    }
    for child in object
        .children
        .iter_mut()
        .filter(|child| child.name == "object")
    {
        write_identities(child, identity);
    }
}

/// Converts the latencies between all NUMA nodes into a matrix of version 2. Other matrices are
/// dropped.
fn distances(
    context: Context<'_>,
    machine: &Element,
    nodes: &[u32],
) -> Result<Option<Element>, XmlProblem> {
    let count = nodes.len().to_string();
    let is_of_nodes = |matrix: &&Element| matrix.attribute("nbobjs") == Some(&count);
    let Some(matrix) = machine.children_named("distances").find(is_of_nodes) else {
        return Ok(None);
    };
    // The latencies are multiples of a base. Version 2 has whole numbers instead.
    let base = matrix.attribute("latency_base").unwrap_or("1");
    let base = base.parse().ok().filter(|base: &f64| base.is_finite());
    let mut values = String::new();
    let mut value_count = 0;
    for latency in matrix.children_named("latency") {
        let text = latency.attribute("value").unwrap_or_default();
        let value = text
            .parse::<f64>()
            .ok()
            .zip(base)
            .map(|(value, base)| value * base);
        let Some(value) = value.filter(|value| (0.0..1e18).contains(value)) else {
            return context.problem(latency, format!("{text:?} as a latency"), "a number from 0");
        };
        values += &format!("{value:.0} ");
        value_count += 1;
    }
    if value_count != nodes.len() * nodes.len() {
        return context.problem(
            matrix,
            format!("{value_count} latencies between {count} objects"),
            format!("{}", nodes.len() * nodes.len()),
        );
    }
    let indexes: String = nodes.iter().map(|node| format!("{node} ")).collect();
    let mut new = empty();
    "distances2".clone_into(&mut new.name);
    new.offset = matrix.offset;
    for (name, value) in [
        ("type", "NUMANode"),
        ("nbobjs", count.as_str()),
        ("kind", "5"),
        ("name", "NUMALatency"),
        ("indexing", "os"),
    ] {
        new.set(name, value);
    }
    for (name, text) in [("indexes", indexes), ("u64values", values)] {
        let mut part = empty();
        name.clone_into(&mut part.name);
        part.offset = matrix.offset;
        part.set("length", text.len().to_string());
        part.text = text;
        new.children.push(part);
    }
    Ok(Some(new))
}
