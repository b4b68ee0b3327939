//! Where parties should run, from what they exchange and how the machine is built.
//!
//! One function, [`place()`], for whoever has a [`Matrix`]: locations that declare it before the start, chares and
//! nodes that observe it while they run. What it makes small is the sum, over all pairs of parties, of the bytes
//! that they exchange times the distance of their CPUs ([`cost`], [`Distances`]).
//!
//! # How
//! 1. What may be used becomes a tree of places (`target`): a CPU of each core while there are enough cores, all
//!    CPUs evenly when there are not, each of them several times when there are more parties than CPUs.
//! 2. Candidates are made: bottom-up by groups of parties that talk (`group`, Algorithm 1 of the study), top-down by
//!    halving the parties and the machine together (`halve`), and the baselines (`baseline`).
//! 3. The best ones are refined by moves and exchanges that are rated by the true cost: with a table of what each
//!    party would cost everywhere while it fits (`refine`), else among the places near to whom a party talks (`sweep`).
//! 4. The best of all is taken, the baselines included, so nothing is ever worse than they are; with loads, of those that share them out as evenly.
//!
//! The result depends on the input alone: no clock, no thread and no hash decides.
//!
//! # Source
//! Gustedt, Jeannot, Mansouri: Fully-abstracted affinity optimization for task-based models. 2016, section 4.1,
//! Algorithm 1. Jeannot, Mercier, Tessier: Process Placement in Multicore Clusters. IEEE TPDS 25(4), 2014.

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
mod random;
mod refine;
mod run;
mod seating;
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
pub use self::options::{Control, PlaceOptions, Strategy};
use crate::cpu_set::CpuId;
use crate::error::PlaceError;
use crate::matrix::Matrix;
use crate::topology::Topology;

/// The most parties that [`Strategy::Exact`] takes.
pub const EXACT_PARTIES_MAX: usize = 10;

/// Where every party runs.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[non_exhaustive]
pub struct Placement {
    /// The CPU of each party.
    pub cpus: Vec<CpuId>,
    /// The CPU of each party's control thread; `None` where it is left to the operating system.
    pub control: Vec<Option<CpuId>>,
    /// What was asked for; `None` where it was decided elsewhere.
    pub strategy: Option<Strategy>,
    /// Hop-bytes: see [`cost`].
    pub cost: f64,
    /// The most parties on one CPU.
    pub parties_per_cpu: usize,
    /// How it was made and why it is as it is, for a person.
    pub reason: String,
}

/// Decides where each party of a matrix runs.
///
/// Every party gets a CPU that the process may use. While there are cores without a party, no core gets a second one;
/// while there are CPUs without a party, no CPU does; beyond that no CPU has two parties more than another. The
/// cost is never above that of the baselines. Where parties have [loads](PlaceOptions::loads), work is shared out instead of parties, and
/// that comes first: a baseline that does not share it out may cost less.
///
/// # Errors
/// [`PlaceError`]: nobody to place, no CPU, too few CPUs where they may not be shared, loads that are no loads, more
/// parties than the exact strategy can take.
///
/// # Examples
/// ```
/// use raddle_topology::{Matrix, PlaceOptions, Topology, place};
/// let topology = Topology::synthetic("package:2 core:2 pu:1")?;
/// // 0 talks to 3 and 1 to 2, so each pair should have a package to itself.
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
/// As the module; the distances stand in [`Distances`].
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

/// Rates a placement in hop-bytes: for every entry of the matrix its bytes times the distance of the two CPUs.
///
/// `cpus` has the CPU of each party, as in [`Placement::cpus`]. Cost: linear in the matrix and the topology.
///
/// # Errors
/// [`PlaceError::Placement`] when there is not one CPU for each party, or one of them does not exist.
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
    /// A placement that was decided elsewhere, rated: the CPU of each party, and why.
    ///
    /// # Errors
    /// As [`cost`].
    ///
    /// # Examples
    /// ```
    /// use raddle_topology::{CpuId, Matrix, Placement, Topology};
    /// let topology = Topology::synthetic("package:2 core:2 pu:1")?;
    /// let matrix = Matrix::from_dense(2, &[0.0, 100.0, 0.0, 0.0])?;
    /// let cpus = vec![CpuId(0), CpuId(2)];
    /// let placement = Placement::seated(&matrix, &topology, cpus, "one for each package")?;
    /// assert_eq!((placement.cost, placement.parties_per_cpu), (2000.0, 1));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn seated(
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
    /// Writes the sentence that says how it was made.
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(&self.reason)
    }
}
