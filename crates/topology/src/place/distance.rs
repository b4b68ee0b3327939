//! How far any two CPUs are apart, as one number.
//!
//! The unit is that of firmware tables: 10 is the distance of two CPUs that share a memory and nothing nearer.
//!
//! - A CPU is at distance 0 from itself: parties that share it exchange nothing between caches.
//! - A *domain* is the CPUs of a NUMA node; a package where there is one node at most, or none is known.
//! - Within a domain the levels that branch are counted: cores with several hardware threads, caches that several
//!   cores share, dies, groups. Of k such levels up to the domain, two CPUs whose smallest common object is at
//!   the j-th have distance 10·j/k. A cache of one core alone does not branch, and counts for nothing.
//! - Between domains it is the latency between their NUMA nodes, the larger direction, scaled so that the fastest
//!   access to local memory is 10. Where no latencies are known, it is 20 for CPUs whose smallest common object is one branching level above the
//!   domains, 30 for two levels, and so on; never less than 10.
//!
//! It is symmetric. Which CPUs may be used changes no distance.
//!
//! # Source
//! Hop-bytes: Agarwal, Sharma, Kalé: Topology-aware task mapping for reducing communication contention on large
//! parallel machines. IPDPS 2006. The unit: ACPI specification, System Locality Information Table.

use crate::cpu_set::CpuId;
use crate::error::PlaceError;
use crate::matrix::Matrix;
use crate::object::Object;
use crate::topology::Topology;

/// The distance of two CPUs that share a memory, and no cache or core.
const LOCAL: f64 = 10.0;

/// An unused place in a table of indexes.
const NOBODY: u32 = u32::MAX;

/// How far the CPUs of a topology are apart; see [`cost`](super::cost).
///
/// # Examples
/// ```
/// use raddle_topology::{CpuId, Distances, Topology};
/// let topology = Topology::synthetic("package:2 l3:2 core:4 pu:2")?;
/// let distances = Distances::new(&topology);
/// let from_cpu_0 = |cpu| distances.between(CpuId(0), CpuId(cpu)).unwrap_or(f64::NAN);
/// // Itself, the other hardware thread, a core of the same cache, one of the same package, the other package.
/// let found = [0, 1, 2, 8, 16].map(|cpu| from_cpu_0(cpu).round());
/// assert_eq!(found, [0.0, 3.0, 7.0, 10.0, 20.0]);
/// # Ok::<(), raddle_topology::TopologyError>(())
/// ```
#[derive(Clone, Debug)]
pub struct Distances {
    /// The leaf of each CPU number.
    leaves: Vec<u32>,
    /// The CPU of each leaf; leaves are numbered in the order of the tree.
    cpus: Vec<CpuId>,
    /// The innermost branching object of each leaf.
    parents: Vec<u32>,
    /// Objects that branch, each before those inside it.
    branches: Vec<Branch>,
    domains: Vec<u32>,
    domain_count: usize,
    /// Distances between domains, where latencies are known; row-major.
    latencies: Option<Vec<f64>>,
}

/// An object with at least two objects with CPUs in it.
#[derive(Clone, Debug)]
struct Branch {
    parent: u32,
    /// Its leaves, `first..end`.
    first: u32,
    end: u32,
    distance: f64,
}

impl Distances {
    /// Measures a topology. Cost: linear in its objects, and the square of its NUMA nodes where latencies are known.
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
                distances.leaves.resize(index + 1, NOBODY);
            }
            distances.leaves[index] = distances.cpus.len() as u32;
            distances.cpus.push(cpu.id);
        }
        distances.parents = vec![NOBODY; distances.cpus.len()];
        distances.find_domains(topology);
        distances.descend(topology.root(), NOBODY);
        distances.rate_branches();
        distances
    }

    /// Returns the distance of two CPUs, or `None` when one of them does not exist.
    ///
    /// Cost: a look into the latencies, or a step for each level that branches.
    #[must_use]
    pub fn between(&self, left: CpuId, right: CpuId) -> Option<f64> {
        Some(self.between_leaves(self.leaf(left)?, self.leaf(right)?))
    }

    /// As [`cost`](super::cost), for several placements on one topology.
    ///
    /// # Errors
    /// [`PlaceError::Placement`] when there is not one CPU for each party, or one of them does not exist.
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

    pub(super) fn leaf(&self, cpu: CpuId) -> Option<usize> {
        let leaf = *self.leaves.get(cpu.index())?;
        (leaf != NOBODY).then_some(leaf as usize)
    }

    pub(super) fn domain(&self, leaf: usize) -> usize {
        self.domains[leaf] as usize
    }

    /// Whether distances between domains come from a table, and not from the tree.
    pub(super) const fn has_latencies(&self) -> bool {
        self.latencies.is_some()
    }

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
        while branch != NOBODY {
            let object = &self.branches[branch as usize];
            if (object.first as usize..object.end as usize).contains(&right) {
                return object.distance;
            }
            branch = object.parent;
        }
        // Both hang below the root, so this is reached in a machine of one leaf only.
        0.0
    }

    /// Writes the distances of a leaf to all leaves. Cost: linear in the leaves and the levels.
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

    /// Writes the distances to what an object and those that hold it have in common with a leaf, the outermost first.
    fn fill_branch(&self, leaf: usize, branch: u32, row: &mut [f64]) {
        if branch == NOBODY {
            return;
        }
        let object = &self.branches[branch as usize];
        self.fill_branch(leaf, object.parent, row);
        let range = object.first as usize..object.end as usize;
        if self.latencies.is_none() {
            row[range].fill(object.distance);
            return;
        }
        // Latencies win between domains.
        for (distance, domain) in row[range.clone()].iter_mut().zip(&self.domains[range]) {
            if *domain == self.domains[leaf] {
                *distance = object.distance;
            }
        }
    }

    /// Numbers the domains in the order of the tree and looks up what lies between them.
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
        // The row of each domain's node in the firmware's table; all must be there.
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

    /// Notes the objects below `object` that branch; returns its leaves.
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

    /// Gives every branching object the distance of the CPUs that have only it in common.
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
        // Levels within the domain up to and with this one; above the domains, levels down to them.
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
