//! Decides where parties run, from the traffic between them and the structure of the machine.
//!
//! The one function, [`place()`], serves every caller that has a [`Matrix`]: locations that declare
//! their traffic before they start, and chares and nodes with traffic that is observed as they run.
//! It minimises the sum, over all pairs of parties, of the bytes that they exchange times the
//! distance between their CPUs ([`cost`], [`Distances`]).
//!
//! # Method
//! 1. The usable part of the machine becomes a tree of places (`target`). It has one CPU of each
//!    core if there are enough cores, and otherwise all CPUs evenly. If there are more parties than
//!    CPUs, each place takes several parties.
//! 2. Candidates are made bottom-up, from groups of parties that exchange much (`group`,
//!    Algorithm 1 of the study); top-down, by halving the parties and the machine together
//!    (`halve`); and from the baselines, which ignore the matrix (`baseline`).
//! 3. The best candidates are refined by moves and swaps that are rated by the true cost. If a
//!    table of the cost of each party on each place is small enough, it is used (`refine`).
//!    Otherwise only the places near a party's main partners are tried (`sweep`).
//! 4. The cheapest result is returned. The baselines take part in this choice, so the result is
//!    never worse than any of them. If parties have loads, only baselines that balance the loads as
//!    evenly take part.
//!
//! The result depends only on the input: not on a clock, a thread or a hash.
//!
//! # Invariants
//! 1. A placement costs no more than the baselines that it competes with, whatever the matrix.
//! 2. No core has two parties while another has none, and no CPU has two parties more than another.
//!    With loads, no CPU has more work than the baseline by the longest-first rule gives it, or
//!    than the mean plus a twentieth.
//! 3. The work is bounded by counts, not by a clock, so the same input gives the same placement.
//! 4. No table of parties × parties is made for a large matrix: the memory is linear in the number
//!    of pairs that communicate.
//!
//! # Source
//! Gustedt, Jeannot, Mansouri: Fully-abstracted affinity optimization for task-based models. 2016,
//! section 4.1, Algorithm 1. Jeannot, Mercier, Tessier: Process Placement in Multicore Clusters.
//! IEEE TPDS 25(4), 2014.

mod assignment;
mod baseline;
mod bisect;
mod cluster;
mod coarsen;
mod control;
mod distance;
mod exact;
mod exchange;
mod group;
mod halve;
mod options;
mod part;
mod random;
mod refine;
mod run;
mod solve;
mod sweep;
mod target;
#[cfg(test)]
mod tests;
mod together;
mod traffic;

use std::fmt;

use serde::Serialize;

pub use self::distance::Distances;
pub use self::options::{Control, EXACT_PARTIES_MAX, PlaceOptions, Strategy};
use crate::cpu_set::CpuId;
use crate::error::PlaceError;
use crate::matrix::Matrix;
use crate::topology::Topology;

/// An assignment of a CPU to every party.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[non_exhaustive]
pub struct Placement {
    /// The CPU of each party.
    pub cpus: Vec<CpuId>,
    /// The CPU of each party's control thread. `None` leaves the thread to the operating system.
    pub control: Vec<Option<CpuId>>,
    /// The requested strategy. `None` if the placement was decided elsewhere.
    pub strategy: Option<Strategy>,
    /// The cost in hop-bytes; see [`cost`].
    pub cost: f64,
    /// The largest number of parties on one CPU.
    pub parties_per_cpu: usize,
    /// A sentence for the user that describes how the placement was made.
    pub reason: String,
}

/// Decides where each party of a matrix runs.
///
/// Every party gets a CPU that the process may use. No core gets a second party while another core
/// has none. No CPU gets a second party while another CPU has none. Beyond that, the numbers of
/// parties on any two CPUs differ by at most one.
///
/// The cost is never above that of the baselines. If parties have [loads](PlaceOptions::loads), the
/// work is balanced instead of the number of parties, and balance comes first: a baseline that does
/// not balance the work may cost less.
///
/// # Errors
/// Returns [`PlaceError`] if there are no parties or no CPUs, if there are too few CPUs and they
/// may not be shared, if the loads are invalid, or if there are more parties than the exact
/// strategy can take.
///
/// # Examples
/// ```
/// use raddle_topology::{Matrix, PlaceOptions, Topology, place};
/// let topology = Topology::synthetic("package:2 core:2 pu:1")?;
/// // Parties 0 and 3 exchange data, and so do 1 and 2: each pair should get a package.
/// let mut matrix = Matrix::new(4);
/// matrix.add(0, 3, 1e6);
/// matrix.add(1, 2, 1e6);
/// let placement = place(&matrix, &topology, &PlaceOptions::new())?;
/// let package = |party: usize| topology.cpu(placement.cpus[party]).and_then(|cpu| cpu.package);
/// assert_eq!(package(0), package(3));
/// assert_eq!(package(1), package(2));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
/// # Source
/// See the module. [`Distances`] documents the distances.
pub fn place(
    matrix: &Matrix,
    topology: &Topology,
    options: &PlaceOptions,
) -> Result<Placement, PlaceError> {
    match &options.together {
        None => run::run(matrix, topology, options),
        Some(labels) => together::place(matrix, topology, options, labels),
    }
}

/// Returns the cost of a placement in hop-bytes.
///
/// The cost is the sum, over all entries of the matrix, of the bytes times the distance between the
/// two CPUs. `cpus` has the CPU of each party, as in [`Placement::cpus`]. The run time is linear in
/// the matrix and the topology.
///
/// # Errors
/// Returns [`PlaceError::Placement`] unless there is exactly one existing CPU for each party.
///
/// # Examples
/// ```
/// use raddle_topology::{CpuId, Matrix, Topology, cost};
/// let topology = Topology::synthetic("package:2 core:2 pu:1")?;
/// let mut matrix = Matrix::new(2);
/// matrix.add(0, 1, 100.0);
/// assert_eq!(cost(&matrix, &topology, &[CpuId(0), CpuId(1)])?, 1000.0);
/// assert_eq!(cost(&matrix, &topology, &[CpuId(0), CpuId(2)])?, 2000.0);
/// assert_eq!(cost(&matrix, &topology, &[CpuId(3), CpuId(3)])?, 0.0);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn cost(matrix: &Matrix, topology: &Topology, cpus: &[CpuId]) -> Result<f64, PlaceError> {
    Distances::new(topology).cost(matrix, cpus)
}

impl Placement {
    /// Creates a placement that was decided elsewhere, and computes its cost.
    ///
    /// `cpus` has the CPU of each party, and `reason` says why.
    ///
    /// # Errors
    /// Same as [`cost`].
    ///
    /// # Examples
    /// ```
    /// use raddle_topology::{CpuId, Matrix, Placement, Topology};
    /// let topology = Topology::synthetic("package:2 core:2 pu:1")?;
    /// let matrix = Matrix::from_dense(2, &[0.0, 100.0, 0.0, 0.0])?;
    /// let cpus = vec![CpuId(0), CpuId(2)];
    /// let placement = Placement::at(&matrix, &topology, cpus, "one for each package")?;
    /// assert_eq!((placement.cost, placement.parties_per_cpu), (2000.0, 1));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn at(
        matrix: &Matrix,
        topology: &Topology,
        cpus: Vec<CpuId>,
        reason: impl Into<String>,
    ) -> Result<Self, PlaceError> {
        Ok(Self {
            control: vec![None; cpus.len()],
            strategy: None,
            cost: cost(matrix, topology, &cpus)?,
            parties_per_cpu: run::fullness(&cpus).1,
            cpus,
            reason: reason.into(),
        })
    }

    /// Returns the CPU of a party.
    #[must_use]
    pub fn cpu(&self, party: usize) -> Option<CpuId> {
        self.cpus.get(party).copied()
    }
}

impl fmt::Display for Placement {
    /// Writes the reason.
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(&self.reason)
    }
}
