//! What can go wrong: loading a topology, binding a thread, planning where workers run.

use std::io;
use std::path::PathBuf;

use thiserror::Error;

use crate::cpu_set::{CpuId, CpuSet};

/// A topology could not be loaded.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum TopologyError {
    /// hwloc could not tell what this machine looks like.
    #[error("hwloc could not load the topology of this machine: {reason}")]
    ThisMachine {
        /// hwloc's reason.
        reason: String,
    },
    /// A synthetic description was not understood.
    #[error("synthetic topology {description:?}: found {}, expected {}", one_line(.found), one_line(.expected))]
    Synthetic {
        /// The description as it was given.
        description: String,
        /// What stands there.
        found: String,
        /// What could have stood there.
        expected: String,
    },
    /// hwloc refused a synthetic description in which nothing was found to be wrong before.
    #[error(
        "synthetic topology {description:?}: hwloc refuses it ({reason}), expected levels such as \"numa:2 core:4 pu:2\""
    )]
    SyntheticRefused {
        /// The description as it was given.
        description: String,
        /// hwloc's reason.
        reason: String,
    },
    /// An XML file could not be read at all.
    #[error("{}: {cause}; expected the topology of one machine, in a file that hwloc exported as XML", .path.display())]
    ReadXml {
        /// The file.
        path: PathBuf,
        /// The operating system's reason.
        cause: io::Error,
    },
    /// An XML file does not describe a topology.
    #[error("{}:{line}:{column}: found {}, expected {}", .path.display(), one_line(.found), one_line(.expected))]
    Xml {
        /// The file.
        path: PathBuf,
        /// The line, from 1.
        line: u32,
        /// The column in characters, from 1.
        column: u32,
        /// What stands there.
        found: String,
        /// What could have stood there.
        expected: String,
    },
    /// hwloc refused an XML file in which nothing was found to be wrong before.
    #[error("{}: found a topology that hwloc refuses ({reason}), expected one that hwloc exported", .path.display())]
    XmlRefused {
        /// The file.
        path: PathBuf,
        /// hwloc's reason.
        reason: String,
    },
}

/// A thread could not be bound, or its binding not be read.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum BindError {
    /// The topology is that of another machine, so there is nothing to bind to.
    #[error("cannot bind to the CPUs of another machine ({topology})")]
    NotThisMachine {
        /// Where the topology came from.
        topology: String,
    },
    /// There is no such CPU.
    #[error("there is no CPU {cpu}; this machine has {existing}")]
    UnknownCpu {
        /// The CPU that was asked for.
        cpu: CpuId,
        /// The CPUs that exist.
        existing: CpuSet,
    },
    /// The process may not use this CPU.
    #[error("this process may not use CPU {cpu}; it may use {allowed}")]
    NotAllowed {
        /// The CPU that was asked for.
        cpu: CpuId,
        /// The CPUs that the process may use.
        allowed: CpuSet,
    },
    /// The operating system refused.
    #[error("the operating system refused: {reason}")]
    Refused {
        /// Its reason.
        reason: String,
    },
}

/// No plan could be made.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum PlanError {
    /// There is nobody to plan for.
    #[error("there are no workers to place: the number of workers must be at least 1")]
    NoWorkers,
    /// The process may use no CPU of this topology.
    #[error("there is no CPU to place workers on: none of this topology may be used")]
    NoCpus,
    /// An explicit list without a CPU in it.
    #[error("the explicit list of CPUs is empty")]
    EmptyList,
    /// A CPU of an explicit list does not exist.
    #[error("there is no CPU {cpu}; those that may be used are {allowed}")]
    UnknownCpu {
        /// The CPU that was asked for.
        cpu: CpuId,
        /// The CPUs that the process may use.
        allowed: CpuSet,
    },
    /// A CPU of an explicit list exists, and the process may not use it.
    #[error("CPU {cpu} may not be used by this process; those that may are {allowed}")]
    NotAllowed {
        /// The CPU that was asked for.
        cpu: CpuId,
        /// The CPUs that the process may use.
        allowed: CpuSet,
    },
}

/// A communication matrix could not be read or made.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum MatrixError {
    /// A file could not be read at all.
    #[error("{}: {cause}; expected a matrix as CSV, Matrix Market file or Scotch graph", .path.display())]
    Read {
        /// The file.
        path: PathBuf,
        /// The operating system's reason.
        cause: io::Error,
    },
    /// A file's content is no matrix.
    #[error("{}:{line}:{column}: found {}, expected {}", .path.display(), one_line(.found), one_line(.expected))]
    Text {
        /// The file.
        path: PathBuf,
        /// The line, from 1.
        line: usize,
        /// The column in bytes, from 1.
        column: usize,
        /// What stands there.
        found: String,
        /// What could have stood there.
        expected: String,
    },
    /// A number that no two parties can exchange.
    #[error("from party {from} to party {to}: found {found}, expected a number from 0 to 1e30")]
    Value {
        /// The row.
        from: usize,
        /// The column.
        to: usize,
        /// The number.
        found: f64,
    },
    /// A dense matrix that is not square.
    #[error("found {found} numbers, expected the square of {order} for as many parties")]
    Shape {
        /// How many parties there should be.
        order: usize,
        /// How many numbers there are.
        found: usize,
    },
    /// Names that are not one for each party.
    #[error("found {found} names, expected {order}, one for each party")]
    Names {
        /// How many parties there are.
        order: usize,
        /// How many names there are.
        found: usize,
    },
}

/// Parties could not be placed.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum PlaceError {
    /// There is nobody to place.
    #[error("there is nobody to place: the matrix has no parties; expected at least 1")]
    NoParties,
    /// The topology has no CPU.
    #[error("there is no CPU to place anybody on: the topology has none")]
    EmptyTopology,
    /// None of the CPUs may be used.
    #[error("there is no CPU to place anybody on: the machine has CPUs {existing}, of which {} may be used{}", set_text(.allowed), chosen_text(.chosen.as_ref()))]
    NoCpus {
        /// The CPUs of the topology.
        existing: CpuSet,
        /// Those that the process may use.
        allowed: CpuSet,
        /// Those that the caller chose; `None` for all.
        chosen: Option<CpuSet>,
    },
    /// More parties than CPUs, and sharing is switched off.
    #[error(
        "{parties} parties need a CPU each, and {cpus} may be used; expected fewer parties, more CPUs, or CPUs that are shared"
    )]
    TooFewCpus {
        /// How many parties there are.
        parties: usize,
        /// How many CPUs may be used, one for each core where the others of a core are kept for control threads.
        cpus: usize,
    },
    /// The exact strategy for more parties than it can ever finish with.
    #[error(
        "the exact strategy tries placements one by one: found {parties} parties, expected at most {parties_max}"
    )]
    ExactParties {
        /// How many parties there are.
        parties: usize,
        /// How many there may be.
        parties_max: usize,
    },
    /// The exact strategy has tried as many placements as it may, and has not proved any to be the best.
    #[error("the exact strategy gave up after {steps} steps; expected fewer parties or fewer CPUs")]
    ExactSteps {
        /// How many steps it took.
        steps: u64,
    },
    /// Relative work of the parties that is not one positive number for each.
    #[error("loads: found {found}, expected {expected}")]
    Loads {
        /// What was given.
        found: String,
        /// What could have been given.
        expected: String,
    },
    /// Not one label for each party, of those that stay together.
    #[error(
        "parties that stay together: found {found} labels, expected {parties}, one for each party"
    )]
    Together {
        /// How many there are.
        found: usize,
        /// How many parties there are.
        parties: usize,
    },
    /// A placement that does not fit the matrix or the topology.
    #[error("placement: found {found}, expected {expected}")]
    Placement {
        /// What was given.
        found: String,
        /// What could have been given.
        expected: String,
    },
}

/// A text is no affinity.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[error(
    "found {found}, expected \"auto\", \"none\", \"compact\", \"scatter\" or a list of CPUs such as \"0,2,4-7\""
)]
pub struct ParseAffinityError {
    pub(crate) found: String,
}

fn set_text(set: &CpuSet) -> String {
    if set.is_empty() {
        "none".to_owned()
    } else {
        set.to_string()
    }
}

fn chosen_text(chosen: Option<&CpuSet>) -> String {
    chosen.map_or(String::new(), |set| {
        format!(", and {} chosen", set_text(set))
    })
}

/// Escapes control characters, which come from the input: a terminal would obey them, and a line would break.
fn one_line(text: &str) -> String {
    let mut line = String::with_capacity(text.len());
    for char in text.chars() {
        if char.is_control() {
            line.extend(char.escape_default());
        } else {
            line.push(char);
        }
    }
    line
}
