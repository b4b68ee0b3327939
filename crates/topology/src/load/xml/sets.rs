//! Checks the objects of an XML file together: the nesting of types, and the consistency of sets.
//!
//! # Invariants
//! hwloc relies on these rules for every object that is not a device:
//! 1. The set of a CPU contains only its own number, and so does the node set of a NUMA node.
//! 2. Every set is a subset of its complete set, which also contains offline members.
//! 3. The CPUs of the children of an object do not overlap, and their union is the object's set.
//! 4. The nodes of an object are the disjoint union of the nodes above, beside and below it.
//! 5. Children are in the order of their first CPU, and children without CPUs come last. Memories
//!    are in the order of their first node.
//! 6. If an object has a single child with the same CPUs, and one of the two is a group, then the
//!    memories of the outer object precede those of the inner one. hwloc may merge the two objects,
//!    and does not sort their memories.
//! 7. A CPU contains nothing, a memory contains only memories, and no two types contain each other.
//!
//! # Source
//! The rules that hwloc documents for `hwloc_topology_check`, and the documentation of the sets of
//! `hwloc_obj`.

use std::collections::HashSet;

use super::tree::XmlObject;
use super::{Context, XmlProblem};
use crate::cpu_set::{CpuId, CpuSet};

/// Checks the machine with everything inside it.
pub(super) fn check(context: Context<'_>, machine: &XmlObject<'_>) -> Result<(), XmlProblem> {
    let mut checker = Checker {
        context,
        nestings: HashSet::new(),
    };
    checker.check_object(machine, &mut Vec::new())?;
    checker.check_nodes(machine, &CpuSet::new()).map(|_| ())
}

/// The state of checking the objects of one file.
struct Checker<'document> {
    context: Context<'document>,
    /// The pairs of an outer and an inner type found so far. Groups may be nested freely.
    nestings: HashSet<(String, String)>,
}

impl<'document> Checker<'document> {
    /// Checks all rules but the fourth for an object and everything inside it. `above` are the
    /// types of the objects around it.
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

    /// Checks rule 7.
    fn check_nesting(&mut self, object: &XmlObject<'_>, above: &[&str]) -> Result<(), XmlProblem> {
        let kind = object.kind;
        let is_memory = matches!(kind, "NUMANode" | "MemCache");
        let has_children = !object.children.is_empty();
        let has_memory = !object.memory_children.is_empty();
        if (has_children && (kind == "PU" || is_memory))
            || (has_memory && matches!(kind, "PU" | "NUMANode"))
        {
            return self.problem(object, format!("objects inside a {kind}"), "none");
        }
        if kind == "MemCache" && !has_memory {
            return self.problem(object, "a MemCache without a NUMANode", "one inside it");
        }
        for &outer in above
            .iter()
            .filter(|&&outer| outer != "Group" && kind != "Group")
        {
            let reverse = (kind.to_owned(), outer.to_owned());
            if outer == kind || self.nestings.contains(&reverse) {
                return self.problem(
                    object,
                    format!("a {kind} inside a {outer}"),
                    "types that do not contain each other",
                );
            }
            self.nestings.insert((outer.to_owned(), kind.to_owned()));
        }
        Ok(())
    }

    /// Checks rules 1 and 2.
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
                "only its own number",
            );
        }
        if object.kind == "NUMANode"
            && (own.as_ref() != Some(&object.nodes) || object.complete_nodes != object.nodes)
        {
            return self.problem(
                object,
                format!("the nodes {} of a NUMANode", object.nodes),
                "only its own number",
            );
        }
        if !object.cpus.is_subset_of(&object.complete_cpus) {
            return self.problem(
                object,
                "a cpuset with members outside its complete_cpuset",
                "a subset of it",
            );
        }
        if !object.nodes.is_subset_of(&object.complete_nodes) {
            return self.problem(
                object,
                "a nodeset with members outside its complete_nodeset",
                "a subset of it",
            );
        }
        Ok(())
    }

    /// Returns a number as a member of a set, if it is below the limit.
    fn in_range(&self, number: u32) -> Option<CpuId> {
        (number < crate::cpu_set::CPU_NUMBER_LIMIT).then_some(CpuId(number))
    }

    /// Checks rules 3, 5 and 6.
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
                    format!("the CPUs \"{}\" out of order", child.complete_cpus),
                    "objects in the order of their first CPU, those without CPUs last",
                );
            }
            place_before = Some(place);
        }
        let is_normal = !matches!(object.kind, "PU" | "NUMANode" | "MemCache");
        if is_normal && together != object.cpus {
            return self.problem(
                object,
                format!(
                    "children with the CPUs {together} in an object with {}",
                    object.cpus
                ),
                "the same CPUs in both",
            );
        }
        if !complete.is_subset_of(&object.complete_cpus) {
            return self.problem(
                object,
                "children with CPUs outside its complete_cpuset",
                "subsets of it",
            );
        }
        self.check_memories(object)
    }

    /// Checks rules 5 and 6 for the memories of an object, and that they belong to the object.
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
                "CPUs of the object that it belongs to",
            );
        }
        self.check_merged(object)
    }

    /// Checks rule 6.
    fn check_merged(&self, object: &XmlObject<'_>) -> Result<(), XmlProblem> {
        // Go down while there is a single child with the same CPUs. `before` is the last memory so
        // far.
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

    /// Checks rule 4 for an object and everything below it.
    ///
    /// `above` are the nodes of all objects above. Returns the nodes beside and below the object.
    fn check_nodes(&self, object: &XmlObject<'_>, above: &CpuSet) -> Result<CpuSet, XmlProblem> {
        if object.kind == "NUMANode" {
            return Ok(object.nodes.clone());
        }
        // The nodes beside the object: its own memories.
        let mut within = CpuSet::new();
        for memory in &object.memory_children {
            let nodes = self.check_nodes(memory, &CpuSet::new())?;
            self.add_disjoint(memory, &mut within, &nodes, above)?;
        }
        // The nodes below the object.
        let mut reach = above.clone();
        reach.extend_from(&within);
        for child in &object.children {
            let nodes = self.check_nodes(child, &reach)?;
            self.add_disjoint(child, &mut within, &nodes, above)?;
        }
        let mut all = above.clone();
        all.extend_from(&within);
        if all != object.nodes {
            return self.problem(
                object,
                format!("the nodes {} on an object near {all}", object.nodes),
                "the nodes above, beside and below it",
            );
        }
        Ok(within)
    }

    /// Adds the nodes of a part of an object to `sum`, after checking that they are in neither
    /// `sum` nor `above`.
    fn add_disjoint(
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

    /// Reports a problem at the start of an object.
    fn problem<T>(
        &self,
        object: &XmlObject<'_>,
        found: impl Into<String>,
        expected: impl Into<String>,
    ) -> Result<T, XmlProblem> {
        self.context.problem_at(object.offset, found, expected)
    }
}

/// Returns the sort key of an object among its siblings: its first CPU.
///
/// Objects without CPUs come last, in any order. hwloc writes them in the order in which it
/// discovered their memories.
fn order(object: &XmlObject<'_>) -> (bool, Option<CpuId>) {
    let first = object.complete_cpus.first();
    (first.is_none(), first)
}
