//! The distance between any two CPUs, as one number.
//!
//! The unit is that of firmware tables: 10 is the distance of two CPUs that share a memory and
//! nothing nearer.
//!
//! - A CPU is at distance 0 from itself, because parties that share a CPU transfer nothing between
//!   caches.
//! - A *domain* is the set of CPUs of a NUMA node, or of a package if the machine has at most one
//!   NUMA node or the nodes are unknown.
//! - Within a domain, the distance depends on the levels that branch: cores with several hardware
//!   threads, caches that several cores share, dies, groups. If there are k such levels up to the
//!   domain, two CPUs with their smallest common object at the j-th level have distance 10·j/k. A
//!   cache of a single core does not branch and does not count.
//! - Between domains, the distance is the latency between their NUMA nodes (the larger of both
//!   directions), scaled so that the fastest access to local memory is 10, and never less than 10.
//!   If latencies are unknown, it is 20 for CPUs with a smallest common object one branching level
//!   above the domains, 30 for two levels, and so on.
//!
//! The distance is symmetric. It does not depend on which CPUs the process may use.
//!
//! # Source
//! Hop-bytes: Agarwal, Sharma, Kalé: Topology-aware task mapping for reducing communication
//! contention on large parallel machines. IPDPS 2006. The unit: ACPI specification, System Locality
//! Information Table.

use crate::cpu_set::CpuId;
use crate::error::PlaceError;
use crate::matrix::Matrix;
use crate::object::Object;
use crate::topology::Topology;

/// The distance of two CPUs that share a memory, but no cache or core.
const LOCAL: f64 = 10.0;

/// An unused entry in a table of indexes.
const NONE: u32 = u32::MAX;

/// The distances between the CPUs of a topology; see [`cost`](super::cost).
///
/// # Examples
/// ```
/// use raddle_topology::{CpuId, Distances, Topology};
/// let topology = Topology::synthetic("package:2 l3:2 core:4 pu:2")?;
/// let distances = Distances::new(&topology);
/// let from_cpu_0 = |cpu| distances.between(CpuId(0), CpuId(cpu)).unwrap_or(f64::NAN);
/// // Itself, the sibling thread, a core of the same cache, of the same package, of the other one.
/// let found = [0, 1, 2, 8, 16].map(|cpu| from_cpu_0(cpu).round());
/// assert_eq!(found, [0.0, 3.0, 7.0, 10.0, 20.0]);
/// # Ok::<(), raddle_topology::TopologyError>(())
/// ```
#[derive(Clone, Debug)]
pub struct Distances {
    /// The leaf of each CPU, by its number.
    leaves: Vec<u32>,
    /// The CPU of each leaf. Leaves are numbered in the order of the tree.
    cpus: Vec<CpuId>,
    /// The innermost branching object of each leaf.
    parents: Vec<u32>,
    /// The branching objects. Parents come before their children.
    branches: Vec<Branch>,
    /// The domain of each leaf.
    domains: Vec<u32>,
    domain_count: usize,
    /// The distances between domains as a row-major matrix, if latencies are known.
    latencies: Option<Vec<f64>>,
}

/// An object with at least two children that have CPUs.
#[derive(Clone, Debug)]
struct Branch {
    parent: u32,
    /// The leaves of the object are `first..end`.
    first: u32,
    end: u32,
    /// The distance of two CPUs if this is their smallest common object.
    distance: f64,
}

impl Distances {
    /// Computes the distances of a topology.
    ///
    /// The run time is linear in the objects of the topology, plus the square of the number of NUMA
    /// nodes if latencies are known.
    #[must_use]
    pub fn new(topology: &Topology) -> Self {
        let mut distances = Self {
            leaves: Vec::new(),
            cpus: Vec::new(),
            parents: Vec::new(),
            branches: Vec::new(),
            domains: Vec::new(),
            domain_count: 0,
            latencies: None,
        };
        for cpu in topology.cpus() {
            let index = cpu.id.index();
            if index >= distances.leaves.len() {
                distances.leaves.resize(index + 1, NONE);
            }
            distances.leaves[index] = distances.cpus.len() as u32;
            distances.cpus.push(cpu.id);
        }
        distances.parents = vec![NONE; distances.cpus.len()];
        distances.find_domains(topology);
        distances.descend(topology.root(), NONE);
        distances.rate_branches();
        distances
    }

    /// Returns the distance of two CPUs, or `None` if one of them does not exist.
    ///
    /// This takes a look-up of the latency, or a step per branching level.
    #[must_use]
    pub fn between(&self, left: CpuId, right: CpuId) -> Option<f64> {
        Some(self.between_leaves(self.leaf(left)?, self.leaf(right)?))
    }

    /// Returns the same as [`cost`](super::cost), but can be used for several placements on one
    /// topology.
    ///
    /// # Errors
    /// Returns [`PlaceError::Placement`] unless there is exactly one existing CPU for each party.
    pub fn cost(&self, matrix: &Matrix, cpus: &[CpuId]) -> Result<f64, PlaceError> {
        if cpus.len() != matrix.order() {
            return Err(PlaceError::Placement {
                found: format!("{} CPUs", cpus.len()),
                expected: format!("{}, one for each party", matrix.order()),
            });
        }
        let mut leaves = Vec::with_capacity(cpus.len());
        for &cpu in cpus {
            leaves.push(self.leaf(cpu).ok_or_else(|| PlaceError::Placement {
                found: format!("CPU {cpu}"),
                expected: "a CPU of the topology".to_owned(),
            })?);
        }
        let mut cost = 0.0;
        let mut row = Vec::new();
        for (from, &here) in leaves.iter().enumerate() {
            let (to, bytes) = matrix.row_parts(from);
            if to.len() >= self.cpus.len() / 2 {
                self.fill_row(here, &mut row);
                // Two partial sums, so that an addition need not wait for the one before.
                let (mut even, mut odd) = (0.0, 0.0);
                let (to_pairs, to_rest) = to.as_chunks::<2>();
                let (bytes_pairs, bytes_rest) = bytes.as_chunks::<2>();
                for (to, bytes) in to_pairs.iter().zip(bytes_pairs) {
                    even += bytes[0] * row[leaves[to[0] as usize]];
                    odd += bytes[1] * row[leaves[to[1] as usize]];
                }
                for (&to, &bytes) in to_rest.iter().zip(bytes_rest) {
                    even += bytes * row[leaves[to as usize]];
                }
                cost += even + odd;
                continue;
            }
            for (&to, &bytes) in to.iter().zip(bytes) {
                cost += bytes * self.between_leaves(here, leaves[to as usize]);
            }
        }
        Ok(cost)
    }

    /// Returns the leaf of a CPU.
    pub(super) fn leaf(&self, cpu: CpuId) -> Option<usize> {
        let leaf = *self.leaves.get(cpu.index())?;
        (leaf != NONE).then_some(leaf as usize)
    }

    /// Returns the domain of a leaf.
    pub(super) fn domain(&self, leaf: usize) -> usize {
        self.domains[leaf] as usize
    }

    /// Returns true if the distances between domains are latencies.
    pub(super) const fn has_latencies(&self) -> bool {
        self.latencies.is_some()
    }

    /// Returns the distance of two leaves.
    #[inline]
    pub(super) fn between_leaves(&self, left: usize, right: usize) -> f64 {
        if left == right {
            return 0.0;
        }
        if let Some(latencies) = &self.latencies {
            let (from, to) = (self.domain(left), self.domain(right));
            if from != to {
                return latencies[from * self.domain_count + to];
            }
        }
        let mut branch = self.parents[left];
        while branch != NONE {
            let object = &self.branches[branch as usize];
            if (object.first as usize..object.end as usize).contains(&right) {
                return object.distance;
            }
            branch = object.parent;
        }
        // Both leaves are below the root, so this is reached only in a machine with a single leaf.
        0.0
    }

    /// Writes the distances of a leaf to all leaves. The run time is linear in leaves and levels.
    pub(super) fn fill_row(&self, leaf: usize, row: &mut Vec<f64>) {
        row.clear();
        match &self.latencies {
            Some(latencies) => {
                let own = &latencies[self.domain(leaf) * self.domain_count..];
                row.extend(self.domains.iter().map(|&domain| own[domain as usize]));
            }
            None => row.resize(self.cpus.len(), 0.0),
        }
        self.fill_branch(leaf, self.parents[leaf], row);
        row[leaf] = 0.0;
    }

    /// Writes the distances from a leaf to all leaves of a branching object that contains it.
    ///
    /// Outer objects are written first, and inner ones overwrite their part.
    fn fill_branch(&self, leaf: usize, branch: u32, row: &mut [f64]) {
        if branch == NONE {
            return;
        }
        let object = &self.branches[branch as usize];
        self.fill_branch(leaf, object.parent, row);
        let range = object.first as usize..object.end as usize;
        if self.latencies.is_none() {
            row[range].fill(object.distance);
            return;
        }
        // Between domains the latencies stay.
        for (distance, domain) in row[range.clone()].iter_mut().zip(&self.domains[range]) {
            if *domain == self.domains[leaf] {
                *distance = object.distance;
            }
        }
    }

    /// Assigns a number to each domain, in the order of the tree, and reads the latencies between
    /// the domains.
    fn find_domains(&mut self, topology: &Topology) {
        let nodes = |index: usize| topology.cpus()[index].numa_node;
        let several = (1..self.cpus.len()).any(|leaf| nodes(leaf) != nodes(0));
        let key = |index: usize| {
            if several {
                nodes(index)
            } else {
                topology.cpus()[index].package
            }
        };
        let mut keys: Vec<Option<usize>> = Vec::new();
        let mut known = std::collections::HashMap::new();
        for leaf in 0..self.cpus.len() {
            let domain = *known.entry(key(leaf)).or_insert_with(|| {
                keys.push(key(leaf));
                keys.len() - 1
            });
            self.domains.push(domain as u32);
        }
        self.domain_count = keys.len();
        let Some(matrix) = topology.numa_latencies().filter(|_| several) else {
            return;
        };
        // The row of each domain's node in the firmware's table. All nodes must have one.
        let rows: Option<Vec<usize>> = keys
            .iter()
            .map(|key| matrix.nodes.iter().position(|&node| Some(node) == *key))
            .collect();
        let Some(rows) = rows else { return };
        let order = matrix.nodes.len();
        let value = |from: usize, to: usize| matrix.values[from * order + to] as f64;
        let fastest = rows
            .iter()
            .map(|&row| value(row, row))
            .fold(f64::INFINITY, f64::min);
        let scale = LOCAL / fastest.max(1.0);
        let mut latencies = Vec::with_capacity(rows.len() * rows.len());
        for &from in &rows {
            for &to in &rows {
                latencies.push((value(from, to).max(value(to, from)) * scale).max(LOCAL));
            }
        }
        self.latencies = Some(latencies);
    }

    /// Records the branching objects from `object` down, and returns the range of its leaves.
    fn descend(&mut self, object: &Object, parent: u32) -> (usize, usize) {
        if object.children.is_empty() {
            let leaf = object
                .os_index
                .and_then(|index| self.leaf(CpuId(index)))
                .filter(|_| object.cpus.len() == 1);
            return leaf.map_or((0, 0), |leaf| {
                self.parents[leaf] = parent;
                (leaf, leaf + 1)
            });
        }
        let with_cpus: Vec<&Object> = object
            .children
            .iter()
            .filter(|child| !child.cpus.is_empty())
            .collect();
        if let [only] = with_cpus[..] {
            return self.descend(only, parent);
        }
        let own = self.branches.len() as u32;
        self.branches.push(Branch {
            parent,
            first: 0,
            end: 0,
            distance: 0.0,
        });
        let mut leaves = (usize::MAX, 0);
        for child in with_cpus {
            let (first, end) = self.descend(child, own);
            leaves = (leaves.0.min(first), leaves.1.max(end));
        }
        let branch = &mut self.branches[own as usize];
        (branch.first, branch.end) = (leaves.0 as u32, leaves.1 as u32);
        leaves
    }

    /// Computes the distance of every branching object.
    fn rate_branches(&mut self) {
        let count = self.branches.len();
        let inside: Vec<bool> = self
            .branches
            .iter()
            .map(|branch| {
                let domains = &self.domains[branch.first as usize..branch.end as usize];
                domains.iter().all(|domain| *domain == domains[0])
            })
            .collect();
        // Within a domain, the number of branching levels up to and including this one. Above the
        // domains, the number of levels down to them.
        let mut heights = vec![0_u32; count];
        for own in (0..count).rev() {
            heights[own] += 1;
            let parent = self.branches[own].parent as usize;
            if parent < count && inside[parent] == inside[own] {
                heights[parent] = heights[parent].max(heights[own]);
            }
        }
        for own in 0..count {
            self.branches[own].distance = if inside[own] {
                let mut top = own;
                let parent = |branch: usize| self.branches[branch].parent as usize;
                while parent(top) < count && inside[parent(top)] {
                    top = parent(top);
                }
                LOCAL * f64::from(heights[own]) / f64::from(heights[top])
            } else {
                LOCAL * f64::from(1 + heights[own])
            };
        }
    }
}
