//! Options of a placement, and their validation.

use std::fmt;
use std::str::FromStr;

use serde::{Serialize, Serializer};

use crate::cpu_set::CpuSet;
use crate::error::PlaceError;
use crate::matrix::Matrix;
use crate::topology::Topology;

/// The maximum number of parties for [`Strategy::Exact`].
pub const EXACT_PARTIES_MAX: usize = 10;

/// A strategy for placing parties.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum Strategy {
    /// By the traffic between parties: groups, halves, and refinement.
    #[default]
    TreeMatch,
    /// Consecutive parties are neighbours in the machine.
    Compact,
    /// Consecutive parties are as far apart as possible.
    Scatter,
    /// Parties get CPUs in turn, in the order of the operating system's numbers.
    RoundRobin,
    /// Parties get CPUs at random.
    Random {
        /// The seed. The same seed gives the same placement.
        seed: u64,
    },
    /// The placement of least cost, found by branch and bound. For a few parties only.
    Exact,
}

impl Strategy {
    /// The baselines, which ignore the matrix.
    pub const BASELINES: [Self; 4] = [
        Self::Compact,
        Self::Scatter,
        Self::RoundRobin,
        Self::Random { seed: 1 },
    ];

    /// Returns the name of the strategy, as in options and tables.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::TreeMatch => "treematch",
            Self::Compact => "compact",
            Self::Scatter => "scatter",
            Self::RoundRobin => "round-robin",
            Self::Random { .. } => "random",
            Self::Exact => "exact",
        }
    }
}

impl fmt::Display for Strategy {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.pad(self.name())
    }
}

impl Serialize for Strategy {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self.name())
    }
}

impl FromStr for Strategy {
    type Err = String;

    /// Parses a name. `random` may have a seed: `random:7`.
    fn from_str(text: &str) -> Result<Self, String> {
        let wrong = || {
            format!(
                "found {text:?}, expected treematch, compact, scatter, round-robin, random, \
                 random:SEED or exact"
            )
        };
        let (name, seed) = match text.split_once(':') {
            Some((name, seed)) => (name, Some(seed.parse().map_err(|_| wrong())?)),
            None => (text, None),
        };
        match (name, seed) {
            ("treematch", None) => Ok(Self::TreeMatch),
            ("compact", None) => Ok(Self::Compact),
            ("scatter", None) => Ok(Self::Scatter),
            ("round-robin", None) => Ok(Self::RoundRobin),
            ("random", seed) => Ok(Self::Random {
                seed: seed.unwrap_or(1),
            }),
            ("exact", None) => Ok(Self::Exact),
            _ => Err(wrong()),
        }
    }
}

/// The placement of control threads, which serve a party's requests while the party computes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum Control {
    /// There are no control threads, or the operating system places them.
    #[default]
    System,
    /// There is one for each party.
    ///
    /// If the core of a party has several hardware threads, the first computes, and the others are
    /// reserved for control. Otherwise control threads get the cores that no party needs, near the
    /// parties that they serve. If there are few such cores, a control thread serves several
    /// parties. If there are none, the operating system places the control threads.
    Reserved,
}

/// The options of a placement.
///
/// # Examples
/// ```
/// use raddle_topology::{Control, CpuId, PlaceOptions, Strategy};
/// let options = PlaceOptions::new()
///     .strategy(Strategy::Compact)
///     .cpus((0..8).map(CpuId).collect())
///     .control(Control::Reserved);
/// assert_eq!(options.strategy, Strategy::Compact);
/// ```
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct PlaceOptions {
    /// The strategy.
    pub strategy: Strategy,
    /// The CPUs to choose from. `None` means all that the process may use. CPUs that the process
    /// may not use are ignored.
    pub cpus: Option<CpuSet>,
    /// The placement of control threads.
    pub control: Control,
    /// The relative work of each party. `None` means that all parties have the same work. Loads
    /// matter only where parties share CPUs.
    pub loads: Option<Vec<f64>>,
    /// A label for each party. Parties with the same label get the same CPU. `None` means that no
    /// parties have to stay together.
    pub together: Option<Vec<usize>>,
    /// True if parties may share CPUs when there are more parties than CPUs.
    pub share: bool,
}

impl Default for PlaceOptions {
    fn default() -> Self {
        Self {
            strategy: Strategy::default(),
            cpus: None,
            control: Control::default(),
            loads: None,
            together: None,
            share: true,
        }
    }
}

impl PlaceOptions {
    /// Returns the default options.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Sets the strategy.
    #[must_use]
    pub const fn strategy(mut self, strategy: Strategy) -> Self {
        self.strategy = strategy;
        self
    }

    /// Sets the CPUs to choose from.
    #[must_use]
    pub fn cpus(mut self, cpus: CpuSet) -> Self {
        self.cpus = Some(cpus);
        self
    }

    /// Sets the placement of control threads.
    #[must_use]
    pub const fn control(mut self, control: Control) -> Self {
        self.control = control;
        self
    }

    /// Sets the relative work of each party.
    #[must_use]
    pub fn loads(mut self, loads: Vec<f64>) -> Self {
        self.loads = Some(loads);
        self
    }

    /// Keeps parties with the same label together on one CPU.
    ///
    /// # Examples
    /// ```
    /// use raddle_topology::{Matrix, PlaceOptions, Topology, place};
    /// let topology = Topology::synthetic("core:4 pu:1")?;
    /// let options = PlaceOptions::new().together(vec![7, 8, 7]);
    /// let placement = place(&Matrix::new(3), &topology, &options)?;
    /// assert_eq!(placement.cpus[0], placement.cpus[2]);
    /// assert_ne!(placement.cpus[0], placement.cpus[1]);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[must_use]
    pub fn together(mut self, labels: Vec<usize>) -> Self {
        self.together = Some(labels);
        self
    }

    /// Sets whether parties may share CPUs when there are more parties than CPUs.
    #[must_use]
    pub const fn share(mut self, share: bool) -> Self {
        self.share = share;
        self
    }
}

/// Checks the arguments of a placement before any work is done.
pub(super) fn check(
    matrix: &Matrix,
    topology: &Topology,
    options: &PlaceOptions,
) -> Result<(), PlaceError> {
    let parties = matrix.order();
    if parties == 0 {
        return Err(PlaceError::NoParties);
    }
    if topology.cpu_count() == 0 {
        return Err(PlaceError::EmptyTopology);
    }
    if options.strategy == Strategy::Exact && parties > EXACT_PARTIES_MAX {
        return Err(PlaceError::ExactParties {
            parties,
            parties_max: EXACT_PARTIES_MAX,
        });
    }
    let Some(loads) = &options.loads else {
        return Ok(());
    };
    if loads.len() != parties {
        return Err(PlaceError::Loads {
            found: format!("{} numbers", loads.len()),
            expected: format!("{parties}, one for each party"),
        });
    }
    let is_load = |load: &f64| load.is_finite() && *load >= 0.0 && *load <= 1e30;
    match loads.iter().position(|load| !is_load(load)) {
        Some(party) => Err(PlaceError::Loads {
            found: format!("{} for party {party}", loads[party]),
            expected: "a number from 0 to 1e30".to_owned(),
        }),
        None => Ok(()),
    }
}
