//! Output of topologies as indented lines, like `lstopo --of console`.
//!
//! An object that is the only child of its parent follows it on the same line:
//! `L2 L#0 (1024KB) + L1d L#0 (48KB) + Core L#0 + PU L#0 (P#0)`. Below the tree are the latencies
//! between NUMA nodes and the facts about the usable CPUs.

use std::fmt::Write;

use super::facts;
use super::size::size;
use crate::cpu_set::CpuId;
use crate::object::{Attributes, Object, ObjectKind};
use crate::topology::{LatencyMatrix, Topology};

/// The maximum number of NUMA nodes for which latencies are printed as a matrix.
const MATRIX_NODES_MAX: usize = 16;

/// Returns a topology as text with a line break at the end. Sizes are in units of 1024.
///
/// # Examples
/// ```
/// use raddle_topology::{Topology, format};
/// let topology = Topology::synthetic("core:2 pu:2")?;
/// assert!(format::text(&topology).contains("  Core L#1\n    PU L#2 (P#2)\n"));
/// # Ok::<(), raddle_topology::TopologyError>(())
/// ```
#[must_use]
pub fn text(topology: &Topology) -> String {
    let mut writer = Writer {
        topology,
        text: String::new(),
    };
    writer.write_object(topology.root(), 0);
    if let Some(matrix) = topology.numa_latencies() {
        writer.write_latencies(matrix);
    }
    writer.write_kinds();
    writer.text.push('\n');
    for (name, fact) in facts(topology) {
        writer.write_line(&format!("{:<10}{fact}", format!("{name}:")));
    }
    writer.text
}

/// The text so far.
struct Writer<'topology> {
    topology: &'topology Topology,
    text: String,
}

impl Writer<'_> {
    /// Writes an object and its descendants. Only children with siblings are indented.
    fn write_object(&mut self, object: &Object, indent: usize) {
        let mut line = " ".repeat(2 * indent) + &self.label(object);
        let mut last = object;
        while let ([], [only]) = (last.memory_children.as_slice(), last.children.as_slice()) {
            line += " + ";
            line += &self.label(only);
            last = only;
        }
        self.write_line(&line);
        for child in last.memory_children.iter().chain(&last.children) {
            self.write_object(child, indent + 1);
        }
    }

    /// Returns a label such as `Package L#0`, `L2 L#1 (1024KB)`, `NUMANode L#0 (P#0 31GB)` or
    /// `PU L#3 (P#3)`.
    fn label(&self, object: &Object) -> String {
        let kind = object.kind_name();
        let kind = match &object.subtype {
            Some(subtype) => format!("{kind}({subtype})"),
            None => kind,
        };
        let mut label = if object.kind == ObjectKind::Machine {
            kind
        } else {
            format!("{kind} L#{}", object.logical_index)
        };
        let facts = self.label_facts(object);
        if !facts.is_empty() {
            label += &format!(" ({})", facts.join(" "));
        }
        let forbidden = |id: u32| self.topology.cpu(CpuId(id)).is_some_and(|cpu| !cpu.allowed);
        if object.kind == ObjectKind::Pu && object.os_index.is_some_and(forbidden) {
            label += " (not allowed)";
        }
        label
    }

    /// Returns the facts in parentheses.
    fn label_facts(&self, object: &Object) -> Vec<String> {
        let mut facts = Vec::new();
        if let (ObjectKind::Pu | ObjectKind::NumaNode, Some(os_index)) =
            (object.kind, object.os_index)
        {
            facts.push(format!("P#{os_index}"));
        }
        match object.attributes {
            Attributes::Cache {
                size_bytes: Some(bytes),
                ..
            }
            | Attributes::Numa {
                memory_bytes: Some(bytes),
            } => facts.push(size(bytes)),
            _ => {}
        }
        let total = object.memory_total_bytes();
        if object.kind == ObjectKind::Machine && total > 0 {
            facts.push(format!("{} total", size(total)));
        }
        facts
    }

    /// Writes the latencies between NUMA nodes, or their range if there are many nodes.
    fn write_latencies(&mut self, matrix: &LatencyMatrix) {
        let count = matrix.nodes.len();
        if count > MATRIX_NODES_MAX {
            let smallest = matrix.values.iter().min().copied().unwrap_or(0);
            let largest = matrix.values.iter().max().copied().unwrap_or(0);
            self.write_line(&format!(
                "\nlatencies between {count} NUMA nodes ({}): {smallest} to {largest}",
                matrix.name
            ));
            return;
        }
        let width = matrix
            .values
            .iter()
            .map(|value| value.to_string().len())
            .chain([matrix
                .nodes
                .iter()
                .max()
                .map_or(1, |node| node.to_string().len() + 2)])
            .max()
            .unwrap_or(1)
            + 1;
        self.write_line(&format!(
            "\nlatencies between NUMA nodes ({}):",
            matrix.name
        ));
        let mut heading = format!("{:width$}", "");
        for node in &matrix.nodes {
            heading += &format!("{:>width$}", format!("L#{node}"));
        }
        self.write_line(&heading);
        for (row, node) in matrix.values.chunks(count).zip(&matrix.nodes) {
            let mut line = format!("{:>width$}", format!("L#{node}"));
            for value in row {
                line += &format!("{value:>width$}");
            }
            self.write_line(&line);
        }
    }

    /// Writes the kinds of CPUs.
    fn write_kinds(&mut self) {
        // A single kind is of no interest.
        if self.topology.cpu_kinds().len() < 2 {
            return;
        }
        self.text.push('\n');
        for kind in self.topology.cpu_kinds() {
            let rank = kind
                .efficiency
                .map_or("unknown".to_owned(), |rank| rank.to_string());
            self.write_line(&format!("CPUs of efficiency {rank}: {}", kind.cpus));
        }
    }

    fn write_line(&mut self, line: &str) {
        // Writing to a string cannot fail.
        let _ = writeln!(self.text, "{line}");
    }
}
