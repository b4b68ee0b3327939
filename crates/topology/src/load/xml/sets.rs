//! Checks the objects of an XML file together: which hold which, and that their sets add up.
//!
//! # Invariants
//! What hwloc relies on, of every object that is no device:
//! 1. A CPU is in a set of its own number alone; so is a NUMA node in its set of nodes.
//! 2. Every set is within its complete set, which also has what is off line.
//! 3. The CPUs of the children of an object do not overlap and are together its own.
//! 4. The nodes of an object are those above it, those beside it and those below it, and no two of these overlap.
//! 5. Children stand in the order of their first CPU, those without CPUs last; memories in the order of their first node.
//! 6. Where a group is the only object in another one of the same CPUs, or has only one such object in it, the memories of
//!    the outer one are before those of the inner one: hwloc may make one object of both, and does not sort them.
//! 7. CPUs hold nothing, memories hold only memories, and no two types hold each other.
//!
//! # Source
//! The rules that hwloc documents for `hwloc_topology_check`, and the descriptions of the sets of `hwloc_obj`.

use std::collections::HashSet;

use super::tree::XmlObject;
use super::{Context, XmlProblem};
use crate::cpu_set::{CpuId, CpuSet};

/// Checks the machine with everything in it.
pub(super) fn check(context: Context<'_>, machine: &XmlObject<'_>) -> Result<(), XmlProblem> {
    let mut checker = Checker {
        context,
        held: HashSet::new(),
    };
    checker.check_object(machine, &mut Vec::new())?;
    checker.check_nodes(machine, &CpuSet::new()).map(|_| ())
}

struct Checker<'document> {
    context: Context<'document>,
    /// Which type was met inside which other one; groups hold and are held freely.
    held: HashSet<(String, String)>,
}

impl<'document> Checker<'document> {
    fn check_object<'tree>(
        &mut self,
        object: &'tree XmlObject<'document>,
        above: &mut Vec<&'tree str>,
    ) -> Result<(), XmlProblem> {
        self.check_nesting(object, above)?;
        self.check_own_sets(object)?;
        self.check_children(object)?;
        above.push(object.kind);
        for child in object.memory_children.iter().chain(&object.children) {
            self.check_object(child, above)?;
        }
        above.pop();
        Ok(())
    }

    /// Rule 7.
    fn check_nesting(&mut self, object: &XmlObject<'_>, above: &[&str]) -> Result<(), XmlProblem> {
        let kind = object.kind;
        let is_memory = matches!(kind, "NUMANode" | "MemCache");
        let holds_normal = !object.children.is_empty();
        let holds_memory = !object.memory_children.is_empty();
        if (holds_normal && (kind == "PU" || is_memory))
            || (holds_memory && matches!(kind, "PU" | "NUMANode"))
        {
            return self.problem(object, format!("objects inside a {kind}"), "none");
        }
        if kind == "MemCache" && !holds_memory {
            return self.problem(object, "a MemCache without a NUMANode", "one inside it");
        }
        for &holder in above
            .iter()
            .filter(|&&holder| holder != "Group" && kind != "Group")
        {
            if holder == kind || self.held.contains(&(kind.to_owned(), holder.to_owned())) {
                return self.problem(
                    object,
                    format!("a {kind} inside a {holder}"),
                    "types that do not hold each other",
                );
            }
            self.held.insert((holder.to_owned(), kind.to_owned()));
        }
        Ok(())
    }

    /// Rules 1 and 2.
    fn check_own_sets(&self, object: &XmlObject<'_>) -> Result<(), XmlProblem> {
        let own = object
            .os_index
            .map(|number| CpuSet::from_iter(self.in_range(number)));
        if object.kind == "PU"
            && (own.as_ref() != Some(&object.cpus) || object.complete_cpus != object.cpus)
        {
            return self.problem(
                object,
                format!("the CPUs {} of a PU", object.cpus),
                "its own number alone",
            );
        }
        if object.kind == "NUMANode"
            && (own.as_ref() != Some(&object.nodes) || object.complete_nodes != object.nodes)
        {
            return self.problem(
                object,
                format!("the nodes {} of a NUMANode", object.nodes),
                "its own number alone",
            );
        }
        if !object.cpus.is_subset_of(&object.complete_cpus) {
            return self.problem(
                object,
                "a cpuset beyond its complete_cpuset",
                "one within it",
            );
        }
        if !object.nodes.is_subset_of(&object.complete_nodes) {
            return self.problem(
                object,
                "a nodeset beyond its complete_nodeset",
                "one within it",
            );
        }
        Ok(())
    }

    fn in_range(&self, number: u32) -> Option<CpuId> {
        (number < crate::cpu_set::CPU_NUMBER_LIMIT).then_some(CpuId(number))
    }

    /// Rules 3 and 5.
    fn check_children(&self, object: &XmlObject<'_>) -> Result<(), XmlProblem> {
        let mut together = CpuSet::new();
        let mut complete = CpuSet::new();
        let mut place_before = None;
        for child in &object.children {
            if !together.intersection(&child.cpus).is_empty()
                || !complete.intersection(&child.complete_cpus).is_empty()
            {
                return self.problem(
                    child,
                    format!("the CPUs {} again", child.cpus),
                    "each CPU in one place",
                );
            }
            together.extend_from(&child.cpus);
            complete.extend_from(&child.complete_cpus);
            let place = order(child);
            if place_before.is_some_and(|before| place < before) {
                return self.problem(
                    child,
                    format!("the CPUs \"{}\" here", child.complete_cpus),
                    "objects in the order of their first CPU, those without CPUs last",
                );
            }
            place_before = Some(place);
        }
        let is_normal = !matches!(object.kind, "PU" | "NUMANode" | "MemCache");
        if is_normal && together != object.cpus {
            return self.problem(
                object,
                format!("the CPUs {} in what is inside {}", together, object.cpus),
                "the same CPUs in both",
            );
        }
        if !complete.is_subset_of(&object.complete_cpus) {
            return self.problem(
                object,
                "children beyond its complete_cpuset",
                "all within it",
            );
        }
        self.check_memories(object)
    }

    /// Rule 5 for memories, and that they belong where they stand.
    fn check_memories(&self, object: &XmlObject<'_>) -> Result<(), XmlProblem> {
        let firsts = || {
            object
                .memory_children
                .iter()
                .map(|memory| memory.complete_nodes.first())
        };
        if !firsts().is_sorted_by(|left, right| left < right) {
            return self.problem(
                object,
                "memories out of order",
                "memories in the order of their number",
            );
        }
        let outside = |memory: &&XmlObject<'_>| !memory.cpus.is_subset_of(&object.cpus);
        if let Some(memory) = object.memory_children.iter().find(outside) {
            return self.problem(
                memory,
                format!("the CPUs {}", memory.cpus),
                "CPUs of what it belongs to",
            );
        }
        self.check_merged(object)
    }

    /// Rule 6.
    fn check_merged(&self, object: &XmlObject<'_>) -> Result<(), XmlProblem> {
        let (mut outer, mut has_group) = (object, object.kind == "Group");
        let mut before = object.memory_children.last();
        while let [inner] = outer.children.as_slice()
            && inner.cpus == outer.cpus
        {
            has_group |= inner.kind == "Group";
            let first = |memory: &XmlObject<'_>| memory.complete_nodes.first();
            if let (Some(before), Some(memory)) = (before, inner.memory_children.first())
                && has_group
                && first(before) >= first(memory)
            {
                return self.problem(
                    memory,
                    format!("the nodes {} inside of a group", memory.complete_nodes),
                    "memories in the order of their number",
                );
            }
            before = inner.memory_children.last().or(before);
            outer = inner;
        }
        Ok(())
    }

    /// Rule 4: `above` are the nodes of all objects above; returns those in the object and in all below.
    fn check_nodes(&self, object: &XmlObject<'_>, above: &CpuSet) -> Result<CpuSet, XmlProblem> {
        if object.kind == "NUMANode" {
            return Ok(object.nodes.clone());
        }
        let mut within = CpuSet::new();
        for memory in &object.memory_children {
            let nodes = self.check_nodes(memory, &CpuSet::new())?;
            self.add_apart(memory, &mut within, &nodes, above)?;
        }
        let mut reach = above.clone();
        reach.extend_from(&within);
        for child in &object.children {
            let nodes = self.check_nodes(child, &reach)?;
            self.add_apart(child, &mut within, &nodes, above)?;
        }
        let mut all = above.clone();
        all.extend_from(&within);
        if all != object.nodes {
            return self.problem(
                object,
                format!("the nodes {} where {all} are near", object.nodes),
                "the nodes above, beside and below it",
            );
        }
        Ok(within)
    }

    fn add_apart(
        &self,
        object: &XmlObject<'_>,
        sum: &mut CpuSet,
        nodes: &CpuSet,
        above: &CpuSet,
    ) -> Result<(), XmlProblem> {
        if !sum.intersection(nodes).is_empty() || !above.intersection(nodes).is_empty() {
            return self.problem(
                object,
                format!("the nodes {nodes} again"),
                "each node in one place",
            );
        }
        sum.extend_from(nodes);
        Ok(())
    }

    fn problem<T>(
        &self,
        object: &XmlObject<'_>,
        found: impl Into<String>,
        expected: impl Into<String>,
    ) -> Result<T, XmlProblem> {
        self.context.problem_at(object.offset, found, expected)
    }
}

/// Where an object stands among its siblings: by its first CPU. Those without CPUs are last, in any
/// order: hwloc writes them in the order in which it was told of their memories.
fn order(object: &XmlObject<'_>) -> (bool, Option<CpuId>) {
    let first = object.complete_cpus.first();
    (first.is_none(), first)
}
