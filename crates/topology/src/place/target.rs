//! The places that parties can take: a tree of usable CPUs with limits on the number of parties.
//!
//! The tree omits CPUs that may not be used, and objects that do not branch among the remaining
//! CPUs. If latencies between NUMA nodes are known, they determine which nodes belong together,
//! instead of the tree (`cluster`). Places are numbered in the order of the tree, so the places
//! below an object are a range.
//!
//! # Invariants
//! 1. No core gets a second party while another core has none, and the numbers of parties on any
//!    two CPUs differ by at most one. Therefore each core and each place has a minimum and a
//!    maximum number of parties, which differ by at most one per place.
//! 2. The places of a core are neighbours.

use super::cluster::cluster;
use super::distance::Distances;
use super::part::MachinePart;
use crate::cpu_set::{CpuId, CpuSet};
use crate::object::Object;
use crate::topology::Topology;

/// The largest number of bundles for which distances are kept in a table: 16 MiB.
const TABLE_BUNDLES_MAX: usize = 2048;

/// The places for parties.
#[derive(Debug)]
pub(super) struct Target<'topology> {
    distances: &'topology Distances,
    /// The CPU of each place.
    pub(super) cpus: Vec<CpuId>,
    /// The leaf of each place in the whole topology.
    leaves: Vec<u32>,
    /// The core of each place. Cores are numbered from 0 in the order of the places.
    pub(super) cores: Vec<u32>,
    /// The rank of each place within its core.
    pub(super) ranks: Vec<u32>,
    /// The fewest and the most parties of each place.
    pub(super) place_limits: Vec<(u32, u32)>,
    /// The fewest and the most parties of each core.
    pub(super) core_limits: Vec<(u32, u32)>,
    /// The nodes of the tree. The root is the first, and parents come before their children.
    pub(super) nodes: Vec<Node>,
    /// The bundle of each place. Places of a bundle are equally far from each other and from every
    /// other place.
    bundles: Vec<u32>,
    bundle_count: usize,
    /// The distances between bundles as a row-major matrix; empty if there are too many bundles.
    table: Vec<f32>,
}

/// A node of the tree, with its places.
#[derive(Clone, Debug, Default)]
pub(super) struct Node {
    /// The places of the node are `first..end`.
    pub(super) first: usize,
    pub(super) end: usize,
    /// The nodes directly below this one; empty for a single place.
    pub(super) children: Vec<usize>,
    /// The fewest and the most parties on all its places together.
    pub(super) limits: (usize, usize),
}

/// The usable CPUs of one core, in the order of the tree.
pub(super) type Core = Vec<CpuId>;

/// Returns the usable CPUs by core. They are also limited to `chosen`, if given.
pub(super) fn usable_cores(topology: &Topology, chosen: Option<&CpuSet>) -> Vec<Core> {
    let mut cores: Vec<Core> = Vec::new();
    let mut core_before = None;
    for cpu in topology.allowed_cpus() {
        if chosen.is_some_and(|chosen| !chosen.contains(cpu.id)) {
            continue;
        }
        match cores.last_mut() {
            Some(core) if cpu.core.is_some() && cpu.core == core_before => core.push(cpu.id),
            _ => cores.push(vec![cpu.id]),
        }
        core_before = cpu.core;
    }
    cores
}

impl<'topology> Target<'topology> {
    /// Creates places for `party_count` parties on `cores`, which must not be empty.
    pub(super) fn new(
        topology: &Topology,
        distances: &'topology Distances,
        cores: &[Core],
        party_count: usize,
    ) -> Self {
        // Take the first CPUs of each core, as many as are needed.
        let height = fill_level(cores, party_count);
        let cpu_count: usize = cores.iter().map(Vec::len).sum();
        let mut chosen = CpuSet::new();
        let mut placed_core = std::collections::HashMap::new();
        for (index, core) in cores.iter().enumerate() {
            for (rank, &cpu) in core.iter().take(height).enumerate() {
                chosen.insert(cpu);
                placed_core.insert(cpu, (index, rank));
            }
        }
        let mut target = Self {
            distances,
            cpus: Vec::new(),
            leaves: Vec::new(),
            cores: Vec::new(),
            ranks: Vec::new(),
            place_limits: Vec::new(),
            core_limits: Vec::new(),
            nodes: Vec::new(),
            bundles: Vec::new(),
            bundle_count: 0,
            table: Vec::new(),
        };
        if let Some(part) = target.arrange(topology, &chosen) {
            target.add_node(topology, &part);
        }
        // Number the cores in the order of their places, and compute the limits of both.
        let mut core_numbers = vec![u32::MAX; cores.len()];
        for &cpu in &target.cpus {
            let (core, rank) = placed_core[&cpu];
            if core_numbers[core] == u32::MAX {
                core_numbers[core] = target.core_limits.len() as u32;
                let size = cores[core].len().min(height);
                let share = party_count.div_ceil(cpu_count).max(1);
                let limits = if party_count > cpu_count {
                    ((party_count / cpu_count) * size, share * size)
                } else {
                    (size.min(height - 1), size)
                };
                target.core_limits.push((limits.0 as u32, limits.1 as u32));
            }
            target.cores.push(core_numbers[core]);
            target.ranks.push(rank as u32);
            target.place_limits.push(if party_count > cpu_count {
                (
                    (party_count / cpu_count) as u32,
                    party_count.div_ceil(cpu_count) as u32,
                )
            } else {
                (0, 1)
            });
        }
        target.limit_nodes();
        target.fill_table();
        target
    }

    pub(super) fn place_count(&self) -> usize {
        self.cpus.len()
    }

    /// Returns the position of a place in the order of the whole tree.
    pub(super) fn tree_order(&self, place: usize) -> u32 {
        self.leaves[place]
    }

    /// Returns the distance of two places.
    #[inline]
    pub(super) fn distance(&self, left: usize, right: usize) -> f32 {
        if left == right {
            return 0.0;
        }
        if self.table.is_empty() {
            let (left, right) = (self.leaves[left], self.leaves[right]);
            return self.distances.between_leaves(left as usize, right as usize) as f32;
        }
        let (from, to) = (self.bundles[left] as usize, self.bundles[right] as usize);
        self.table[from * self.bundle_count + to]
    }

    /// Writes the distances of a place to all places.
    pub(super) fn fill_row(&self, place: usize, row: &mut Vec<f32>, leaf_row: &mut Vec<f64>) {
        self.distances
            .fill_row(self.leaves[place] as usize, leaf_row);
        row.clear();
        row.extend(
            self.leaves
                .iter()
                .map(|&leaf| leaf_row[leaf as usize] as f32),
        );
    }

    /// Returns the bundle of a place.
    pub(super) fn bundle(&self, place: usize) -> u32 {
        self.bundles[place]
    }

    /// Returns the usable part of the tree, with the domains rearranged by latencies if known.
    fn arrange(&self, topology: &Topology, chosen: &CpuSet) -> Option<MachinePart> {
        let whole = restricted(topology.root(), chosen, self.distances)?;
        if !self.distances.has_latencies() {
            return Some(whole);
        }
        let mut domains = Vec::new();
        collect_domains(whole, self.distances, &mut domains);
        Some(cluster(domains, self.distances))
    }

    /// Adds a node for a part and nodes for all parts inside. Returns the node of the part.
    fn add_node(&mut self, topology: &Topology, part: &MachinePart) -> usize {
        let node = self.nodes.len();
        let first = self.cpus.len();
        self.nodes.push(Node {
            first,
            ..Node::default()
        });
        match part {
            MachinePart::Leaf(leaf) => {
                self.cpus.push(topology.cpus()[*leaf].id);
                self.leaves.push(*leaf as u32);
                self.bundles.push(self.bundle_count as u32);
                self.bundle_count += 1;
            }
            MachinePart::Inner(parts) => {
                let domain = self.distances.domain(part.first_leaf());
                let inside = part.is_inside_one_domain(self.distances, domain);
                let mut bundle = None;
                for child in parts {
                    let child_node = self.add_node(topology, child);
                    self.nodes[node].children.push(child_node);
                    if inside && matches!(child, MachinePart::Leaf(_)) {
                        self.share_bundle(&mut bundle);
                    }
                }
            }
        }
        self.nodes[node].end = self.cpus.len();
        node
    }

    /// Moves the last leaf into the bundle that the leaves below the same object share.
    fn share_bundle(&mut self, bundle: &mut Option<u32>) {
        let Some(last) = self.bundles.last_mut() else {
            return;
        };
        match *bundle {
            None => *bundle = Some(*last),
            Some(shared) => {
                // The number that the leaf got was the last one, so it can be reused.
                *last = shared;
                self.bundle_count -= 1;
            }
        }
    }

    /// Computes the limits of all nodes from those of their places and of the cores inside them.
    fn limit_nodes(&mut self) {
        for node in &mut self.nodes {
            let (mut least, mut most) = (0, 0);
            let mut place = node.first;
            while place < node.end {
                let core = self.cores[place];
                let mut next = place;
                let mut sums = (0, 0);
                while next < self.cores.len() && self.cores[next] == core && next < node.end {
                    sums.0 += self.place_limits[next].0 as usize;
                    sums.1 += self.place_limits[next].1 as usize;
                    next += 1;
                }
                // The limits of a core apply only if all of its places are inside the node.
                let is_whole = (place == 0 || self.cores[place - 1] != core)
                    && (next == self.cores.len() || self.cores[next] != core);
                if is_whole {
                    let (core_least, core_most) = self.core_limits[core as usize];
                    sums.0 = sums.0.max(core_least as usize);
                    sums.1 = sums.1.min(core_most as usize);
                }
                least += sums.0;
                most += sums.1;
                place = next;
            }
            node.limits = (least, most);
        }
    }

    /// Fills the table of distances between bundles, unless there are too many.
    fn fill_table(&mut self) {
        let count = self.bundle_count;
        if count > TABLE_BUNDLES_MAX {
            return;
        }
        // One or two places of each bundle. The distance of the two is that of the bundle to
        // itself.
        let mut members: Vec<Vec<usize>> = vec![Vec::new(); count];
        for (place, &bundle) in self.bundles.iter().enumerate() {
            let members = &mut members[bundle as usize];
            if members.len() < 2 {
                members.push(self.leaves[place] as usize);
            }
        }
        self.table = vec![0.0; count * count];
        for from in 0..count {
            for to in 0..count {
                let left = members[from][0];
                let right = if from == to {
                    *members[to].last().unwrap_or(&left)
                } else {
                    members[to][0]
                };
                self.table[from * count + to] = self.distances.between_leaves(left, right) as f32;
            }
        }
    }
}

/// Returns the number of CPUs per core that are needed if cores are filled evenly.
fn fill_level(cores: &[Core], party_count: usize) -> usize {
    let largest = cores.iter().map(Vec::len).max().unwrap_or(1);
    (1..largest)
        .find(|&level| {
            cores
                .iter()
                .map(|core| core.len().min(level))
                .sum::<usize>()
                >= party_count
        })
        .unwrap_or(largest)
}

/// Returns the part of an object's tree that has chosen CPUs, without objects that do not branch.
fn restricted(object: &Object, chosen: &CpuSet, distances: &Distances) -> Option<MachinePart> {
    if object.children.is_empty() {
        let cpu = object.os_index.map(CpuId)?;
        let leaf = distances.leaf(cpu)?;
        return chosen.contains(cpu).then_some(MachinePart::Leaf(leaf));
    }
    let mut parts: Vec<MachinePart> = object
        .children
        .iter()
        .filter_map(|child| restricted(child, chosen, distances))
        .collect();
    match parts.len() {
        0 | 1 => parts.pop(),
        _ => Some(MachinePart::Inner(parts)),
    }
}

/// Splits a part into pieces, each of which is inside one domain.
fn collect_domains(part: MachinePart, distances: &Distances, pieces: &mut Vec<MachinePart>) {
    let domain = distances.domain(part.first_leaf());
    match part {
        MachinePart::Inner(parts)
            if !parts
                .iter()
                .all(|part| part.is_inside_one_domain(distances, domain)) =>
        {
            for part in parts {
                collect_domains(part, distances, pieces);
            }
        }
        whole => pieces.push(whole),
    }
}
