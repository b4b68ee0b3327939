//! Checks an XML file before hwloc sees it.
//!
//! hwloc says of every wrong file that it is an "invalid argument", and its XML parser writes what it thinks
//! to the standard error stream, where a library has no business. So the file is parsed here first: what is no
//! XML, is not the export of a topology, or lacks what hwloc relies on, is told with line and column.
//!
//! # Source
//! `hwloc2.dtd` and the manual's section "Importing and exporting topologies from/to XML files".

use std::collections::HashSet;

use roxmltree::{Document, Node, ParsingOptions};

use crate::cpu_set::CPU_NUMBER_LIMIT;

/// The most nodes of an XML tree that are accepted: text, elements and attributes' owners together.
const XML_NODES_MAX: u32 = 1 << 22;

/// How many objects may stand inside each other; hwloc and we go down the tree by recursion.
const DEPTH_MAX: usize = 128;

/// The longest text of a set that is read: 32 bits take 11 characters, `0x12345678,`.
const SET_CHARACTERS_MAX: usize = CPU_NUMBER_LIMIT as usize / 32 * 11;

const NORMAL_KINDS: [&str; 20] = [
    "Machine", "System", "Package", "Socket", "Die", "Core", "PU", "Group", "L1Cache", "L2Cache",
    "L3Cache", "L4Cache", "L5Cache", "L1iCache", "L2iCache", "L3iCache", "Cache", "Tile", "Module",
    "Cluster",
];
const MEMORY_KINDS: [&str; 4] = ["NUMANode", "Node", "MemCache", "MemorySideCache"];
const OTHER_KINDS: [&str; 6] = ["Bridge", "PCIDev", "PCIDevice", "OSDev", "OSDevice", "Misc"];

/// What is wrong with a file, and where.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct XmlProblem {
    pub(super) line: u32,
    pub(super) column: u32,
    pub(super) found: String,
    pub(super) expected: String,
}

/// Takes the bytes as text.
pub(super) fn decode(bytes: &[u8]) -> Result<&str, XmlProblem> {
    std::str::from_utf8(bytes).map_err(|error| {
        let valid = String::from_utf8_lossy(&bytes[..error.valid_up_to()]);
        let (line, column) = end_of(&valid);
        XmlProblem {
            line,
            column,
            found: format!(
                "bytes that are no text (0x{:02x})",
                bytes.get(error.valid_up_to()).copied().unwrap_or(0)
            ),
            expected: "an XML file in UTF-8".to_owned(),
        }
    })
}

/// Checks that `text` is the export of a topology with all that hwloc relies on.
pub(super) fn check(text: &str) -> Result<(), XmlProblem> {
    const EXPECTED: &str = "a topology that hwloc exported as XML";
    let at_end = |found: &str| {
        let (line, column) = end_of(text);
        Err(XmlProblem {
            line,
            column,
            found: found.to_owned(),
            expected: EXPECTED.to_owned(),
        })
    };
    if text.trim().is_empty() {
        return at_end("an empty file");
    }
    let options = ParsingOptions {
        allow_dtd: true,
        nodes_limit: XML_NODES_MAX,
        ..ParsingOptions::default()
    };
    let document = match Document::parse_with_options(text, options) {
        Ok(document) => document,
        Err(roxmltree::Error::UnexpectedEndOfStream | roxmltree::Error::UnclosedRootNode) => {
            return at_end("the end of the file, although elements are still open");
        }
        Err(error) => {
            let position = error.pos();
            return Err(XmlProblem {
                line: position.row,
                column: position.col,
                found: format!("malformed XML ({})", without_place(&error.to_string())),
                expected: EXPECTED.to_owned(),
            });
        }
    };
    Checker {
        document: &document,
        cpus: HashSet::new(),
    }
    .check_topology()
}

struct Checker<'document> {
    document: &'document Document<'document>,
    /// The numbers of the CPUs met so far.
    cpus: HashSet<u32>,
}

impl Checker<'_> {
    fn check_topology(&mut self) -> Result<(), XmlProblem> {
        let root = self.document.root_element();
        if root.tag_name().name() != "topology" {
            return self.problem(
                root,
                format!("the element <{}>", root.tag_name().name()),
                "<topology>",
            );
        }
        let mut objects = root.children().filter(|child| child.has_tag_name("object"));
        let Some(machine) = objects.next() else {
            return self.problem(
                root,
                "a topology without an object",
                "an object of type Machine",
            );
        };
        if let Some(second) = objects.next() {
            return self.problem(second, "a second object beside the machine", "only one");
        }
        let kind = machine.attribute("type").unwrap_or_default();
        if !matches!(kind, "Machine" | "System") {
            return self.problem(
                machine,
                format!("an outermost object of type {kind:?}"),
                "one of type \"Machine\"",
            );
        }
        self.check_object(machine, 0)?;
        if self.cpus.is_empty() {
            return self.problem(
                machine,
                "a machine without a CPU",
                "at least one object of type PU",
            );
        }
        Ok(())
    }

    fn check_object(&mut self, object: Node<'_, '_>, depth: usize) -> Result<(), XmlProblem> {
        let Some(kind) = object.attribute("type") else {
            return self.problem(object, "an object without a type", "the attribute \"type\"");
        };
        if depth >= DEPTH_MAX {
            return self.problem(
                object,
                format!("objects inside each other {depth} deep"),
                "a machine of fewer levels",
            );
        }
        let normal = NORMAL_KINDS.contains(&kind);
        let memory = MEMORY_KINDS.contains(&kind);
        if !normal && !memory && !OTHER_KINDS.contains(&kind) {
            return self.problem(
                object,
                format!("an object of the unknown type {kind:?}"),
                "one that hwloc has",
            );
        }
        if matches!(kind, "Machine" | "System") && depth > 0 {
            return self.problem(
                object,
                "a machine inside a machine",
                "objects that it is made of",
            );
        }
        if normal {
            self.check_set(object, "cpuset", true)?;
        }
        for name in [
            "cpuset",
            "complete_cpuset",
            "nodeset",
            "complete_nodeset",
            "allowed_cpuset",
            "allowed_nodeset",
        ] {
            self.check_set(object, name, false)?;
        }
        if kind == "PU" {
            self.check_cpu(object)?;
        }
        for child in object
            .children()
            .filter(|child| child.has_tag_name("object"))
        {
            self.check_object(child, depth + 1)?;
        }
        Ok(())
    }

    fn check_cpu(&mut self, object: Node<'_, '_>) -> Result<(), XmlProblem> {
        let text = object.attribute("os_index").unwrap_or_default();
        let number = text
            .parse()
            .ok()
            .filter(|&number: &u32| number < CPU_NUMBER_LIMIT);
        let Some(number) = number else {
            return self.problem(
                object,
                format!("{text:?} as the number of a CPU"),
                format!("\"os_index\" below {CPU_NUMBER_LIMIT}"),
            );
        };
        if !self.cpus.insert(number) {
            return self.problem(
                object,
                format!("CPU {number} for the second time"),
                "each CPU once",
            );
        }
        Ok(())
    }

    /// Checks that a set is written as hwloc does, `0xff`, `0x1,0x00000000`, perhaps `0xf...f,0x1`.
    fn check_set(&self, object: Node<'_, '_>, name: &str, needed: bool) -> Result<(), XmlProblem> {
        let Some(text) = object.attribute(name) else {
            return if needed {
                let kind = object.attribute("type").unwrap_or_default();
                self.problem(
                    object,
                    format!("a {kind} without a {name}"),
                    format!("the attribute {name:?}"),
                )
            } else {
                Ok(())
            };
        };
        let word = |word: &str| {
            let digits = word.strip_prefix("0x").unwrap_or(word);
            digits.len() <= 8 && digits.chars().all(|digit| digit.is_ascii_hexdigit())
        };
        let finite = text
            .strip_prefix("0xf...f")
            .map_or(text, |rest| rest.strip_prefix(',').unwrap_or(rest));
        if text.len() > SET_CHARACTERS_MAX || !finite.split(',').all(word) {
            let start: String = text.chars().take(40).collect();
            return self.problem(
                object,
                format!("{start:?} as {name}"),
                format!(
                    "hexadecimal words such as \"0x000000ff\", of CPUs below {CPU_NUMBER_LIMIT}"
                ),
            );
        }
        Ok(())
    }

    fn problem<T>(
        &self,
        node: Node<'_, '_>,
        found: impl Into<String>,
        expected: impl Into<String>,
    ) -> Result<T, XmlProblem> {
        let position = self.document.text_pos_at(node.range().start);
        Err(XmlProblem {
            line: position.row,
            column: position.col,
            found: found.into(),
            expected: expected.into(),
        })
    }
}

/// Returns line and column behind the last character, from 1.
fn end_of(text: &str) -> (u32, u32) {
    let line = text.matches('\n').count() + 1;
    let column = text.rsplit('\n').next().unwrap_or_default().chars().count() + 1;
    let limited = |number: usize| u32::try_from(number).unwrap_or(u32::MAX);
    (limited(line), limited(column))
}

/// Drops " at 3:5" from the end of a parser's message, because the place is told before it.
fn without_place(message: &str) -> &str {
    match message.rsplit_once(" at ") {
        Some((before, place)) if place.chars().all(|c| c.is_ascii_digit() || c == ':') => before,
        _ => message,
    }
}
