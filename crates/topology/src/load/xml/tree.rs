//! Reads the objects of an XML file, and checks each object by itself.

use std::collections::HashSet;

use super::element::{DEPTH_MAX, Element};
use super::{Context, XmlProblem};
use crate::cpu_set::{CPU_NUMBER_LIMIT, CpuId, CpuSet};

const NORMAL_KINDS: [&str; 14] = [
    "Machine", "Package", "Die", "Core", "PU", "Group", "L1Cache", "L2Cache", "L3Cache", "L4Cache",
    "L5Cache", "L1iCache", "L2iCache", "L3iCache",
];
const MEMORY_KINDS: [&str; 2] = ["NUMANode", "MemCache"];
const OTHER_KINDS: [&str; 4] = ["Bridge", "PCIDev", "OSDev", "Misc"];

/// The part of an object that the check of the sets needs.
///
/// Sets of NUMA nodes have the same type as sets of CPUs.
#[derive(Debug)]
pub(super) struct XmlObject<'document> {
    /// The offset of the object in the file, in bytes.
    pub(super) offset: usize,
    pub(super) kind: &'document str,
    pub(super) os_index: Option<u32>,
    pub(super) cpus: CpuSet,
    pub(super) complete_cpus: CpuSet,
    pub(super) nodes: CpuSet,
    pub(super) complete_nodes: CpuSet,
    pub(super) children: Vec<XmlObject<'document>>,
    pub(super) memory_children: Vec<XmlObject<'document>>,
}

/// Returns true if hwloc 2 has the type of object.
pub(super) fn is_known_kind(kind: &str) -> bool {
    NORMAL_KINDS.contains(&kind) || MEMORY_KINDS.contains(&kind) || OTHER_KINDS.contains(&kind)
}

/// Reads the machine with everything inside it.
pub(super) fn read<'document>(
    context: Context<'document>,
    machine: &'document Element,
) -> Result<XmlObject<'document>, XmlProblem> {
    let kind = machine.attribute("type").unwrap_or_default();
    if kind != "Machine" {
        return context.problem(
            machine,
            format!("an outermost object of type {kind:?}"),
            "one of type \"Machine\"",
        );
    }
    let mut reader = Reader {
        context,
        identities: HashSet::new(),
        cpu_count: 0,
    };
    let read = reader.read(machine, 0)?;
    for (name, all) in [
        ("allowed_cpuset", &read.cpus),
        ("allowed_nodeset", &read.nodes),
    ] {
        if !read_set(context, machine, name)?.is_subset_of(all) {
            return context.problem(
                machine,
                format!("an {name} with members outside the machine"),
                "a subset of the machine's own set",
            );
        }
    }
    if reader.cpu_count == 0 {
        return context.problem(
            machine,
            "a machine without a CPU",
            "at least one object of type PU",
        );
    }
    if read.nodes.is_empty() {
        return context.problem(
            machine,
            "a machine without memory",
            "at least one object of type NUMANode",
        );
    }
    Ok(read)
}

/// The state of reading the objects of one file.
struct Reader<'document> {
    context: Context<'document>,
    /// The identities (`gp_index`) of the objects so far, by which hwloc distinguishes them.
    identities: HashSet<u64>,
    cpu_count: usize,
}

impl<'document> Reader<'document> {
    /// Reads an object, which has `depth` objects around it.
    fn read(
        &mut self,
        node: &'document Element,
        depth: usize,
    ) -> Result<XmlObject<'document>, XmlProblem> {
        let kind = self.read_kind(node, depth)?;
        self.check_identity(node)?;
        check_cache(self.context, node, kind)?;
        let os_index = self.read_os_index(node, kind)?;
        let context = self.context;
        let mut object = XmlObject {
            offset: node.offset,
            kind,
            os_index,
            cpus: read_set(context, node, "cpuset")?,
            complete_cpus: read_set(context, node, "complete_cpuset")?,
            nodes: read_set(context, node, "nodeset")?,
            complete_nodes: read_set(context, node, "complete_nodeset")?,
            children: Vec::new(),
            memory_children: Vec::new(),
        };
        self.cpu_count += usize::from(kind == "PU");
        for child in objects_in(node) {
            let child_kind = child.attribute("type").unwrap_or_default();
            if OTHER_KINDS.contains(&child_kind) {
                self.check_other(child, depth + 1)?;
                continue;
            }
            let read = self.read(child, depth + 1)?;
            if MEMORY_KINDS.contains(&read.kind) {
                object.memory_children.push(read);
            } else {
                object.children.push(read);
            }
        }
        Ok(object)
    }

    /// Returns the type of an object, after checking that the object may occur at this depth.
    fn read_kind(
        &self,
        node: &'document Element,
        depth: usize,
    ) -> Result<&'document str, XmlProblem> {
        let Some(kind) = node.attribute("type") else {
            return self.context.problem(
                node,
                "an object without a type",
                "the attribute \"type\"",
            );
        };
        if !is_known_kind(kind) {
            return self.context.problem(
                node,
                format!("an object of the unknown type {kind:?}"),
                "a type that hwloc 2 has, such as \"Core\"",
            );
        }
        if depth >= DEPTH_MAX {
            return self.context.problem(
                node,
                format!("more than {DEPTH_MAX} nested objects"),
                "a machine of fewer levels",
            );
        }
        if kind == "Machine" && depth > 0 {
            return self
                .context
                .problem(node, "a machine inside a machine", "any other type");
        }
        Ok(kind)
    }

    /// Checks that the object has an identity, by which hwloc distinguishes it, and that no other
    /// object has the same.
    fn check_identity(&mut self, node: &Element) -> Result<(), XmlProblem> {
        let text = node.attribute("gp_index").unwrap_or_default();
        // hwloc keeps these numbers in a bit set, so a huge number costs memory.
        let identity = text
            .parse()
            .ok()
            .filter(|number| (1..1 << 32).contains(number));
        let Some(identity) = identity else {
            return self.context.problem(
                node,
                format!("{text:?} as the identity of an object"),
                "\"gp_index\", a whole number from 1",
            );
        };
        if self.identities.insert(identity) {
            Ok(())
        } else {
            self.context.problem(
                node,
                format!("the identity {identity} a second time"),
                "a \"gp_index\" that no other object has",
            )
        }
    }

    /// Returns the number of an object. CPUs and NUMA nodes must have one.
    fn read_os_index(&self, node: &Element, kind: &str) -> Result<Option<u32>, XmlProblem> {
        let needed = matches!(kind, "PU" | "NUMANode");
        let Some(text) = node.attribute("os_index") else {
            return if needed {
                self.context.problem(
                    node,
                    format!("a {kind} without a number"),
                    "the attribute \"os_index\"",
                )
            } else {
                Ok(None)
            };
        };
        let number = text.parse().ok();
        match number.filter(|&number: &u32| !needed || number < CPU_NUMBER_LIMIT) {
            Some(number) => Ok(Some(number)),
            None => self.context.problem(
                node,
                format!("{text:?} as the number of a {kind}"),
                format!("\"os_index\" below {CPU_NUMBER_LIMIT}"),
            ),
        }
    }

    /// Checks a device or the like. These objects are not kept, and may contain only each other.
    fn check_other(&mut self, node: &'document Element, depth: usize) -> Result<(), XmlProblem> {
        let kind = self.read_kind(node, depth)?;
        self.check_identity(node)?;
        for child in objects_in(node) {
            let child_kind = child.attribute("type").unwrap_or_default();
            if !OTHER_KINDS.contains(&child_kind) || (kind == "Misc" && child_kind != "Misc") {
                return self.context.problem(
                    child,
                    format!("a {child_kind:?} inside a {kind}"),
                    "a device",
                );
            }
            self.check_other(child, depth + 1)?;
        }
        Ok(())
    }
}

/// Iterates over the objects directly inside an object.
fn objects_in(node: &Element) -> impl Iterator<Item = &Element> {
    node.children_named("object")
}

/// Checks that the attributes of a cache agree with its type.
fn check_cache(context: Context<'_>, node: &Element, kind: &str) -> Result<(), XmlProblem> {
    let Some(name) = kind
        .strip_suffix("Cache")
        .filter(|name| name.starts_with('L'))
    else {
        return Ok(());
    };
    let level = name.trim_matches(|character: char| !character.is_ascii_digit());
    let kinds: &[&str] = if name.ends_with('i') {
        &["2"]
    } else {
        &["0", "1"]
    };
    let own_level = node.attribute("depth").unwrap_or_default();
    let own_kind = node.attribute("cache_type").unwrap_or_default();
    if own_level == level && kinds.contains(&own_kind) {
        return Ok(());
    }
    context.problem(
        node,
        format!("a {kind} of depth {own_level:?} and cache_type {own_kind:?}"),
        format!(
            "depth {level:?} and cache_type {:?}",
            kinds.join("\" or \"")
        ),
    )
}

/// Reads a set in the format of hwloc: words of 32 bits, the highest word first, such as
/// `0x1,,0x0000ffff`.
pub(super) fn read_set(
    context: Context<'_>,
    node: &Element,
    name: &str,
) -> Result<CpuSet, XmlProblem> {
    let Some(text) = node.attribute(name) else {
        return context.problem(
            node,
            format!("no {name}"),
            format!("the attribute {name:?}"),
        );
    };
    if let Some(set) = parse_set(text) {
        return Ok(set);
    }
    let start: String = text.chars().take(40).collect();
    context.problem(
        node,
        format!("{start:?} as {name}"),
        format!("words such as \"0x0000000f\", for numbers below {CPU_NUMBER_LIMIT}"),
    )
}

/// Parses the words of a set. Returns `None` for any other text.
pub(super) fn parse_set(text: &str) -> Option<CpuSet> {
    let mut set = CpuSet::new();
    for (word_index, word) in text.split(',').rev().enumerate() {
        let digits = word.strip_prefix("0x").unwrap_or(word);
        let hexadecimal = digits.len() <= 8 && digits.bytes().all(|byte| byte.is_ascii_hexdigit());
        // An empty word means zero, except at the end, where hwloc would drop the word before it.
        if !hexadecimal || (digits.is_empty() && (!word.is_empty() || word_index == 0)) {
            return None;
        }
        let bits = if digits.is_empty() {
            0
        } else {
            u32::from_str_radix(digits, 16).ok()?
        };
        for bit in (0..u32::BITS).filter(|bit| bits >> bit & 1 == 1) {
            let number = u32::try_from(word_index).ok()?.checked_mul(u32::BITS)? + bit;
            if number >= CPU_NUMBER_LIMIT {
                return None;
            }
            set.insert(CpuId(number));
        }
        if word_index >= (CPU_NUMBER_LIMIT / u32::BITS) as usize {
            return None;
        }
    }
    Some(set)
}
