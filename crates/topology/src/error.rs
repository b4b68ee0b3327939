//! The errors of loading a topology, binding a thread, and placing workers or parties.

use std::io;
use std::path::PathBuf;

use thiserror::Error;

use crate::cpu_set::{CpuId, CpuSet};

/// The error of a topology that could not be loaded.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum TopologyError {
    /// hwloc could not discover this machine.
    #[error("hwloc could not load the topology of this machine: {reason}")]
    ThisMachine {
        /// hwloc's reason.
        reason: String,
    },
    /// A synthetic description is invalid.
    #[error(
        "synthetic topology {description:?}: found {}, expected {}",
        one_line(.found),
        one_line(.expected)
    )]
    Synthetic {
        /// The description as given.
        description: String,
        /// The invalid part of the description.
        found: String,
        /// A description of valid text in its place.
        expected: String,
    },
    /// hwloc refused a synthetic description that passed this crate's checks.
    #[error(
        "synthetic topology {description:?}: hwloc refuses it ({reason}), \
         expected levels such as \"numa:2 core:4 pu:2\""
    )]
    SyntheticRefused {
        /// The description as given.
        description: String,
        /// hwloc's reason.
        reason: String,
    },
    /// An XML file could not be read.
    #[error(
        "{}: {cause}; expected the topology of one machine, \
         in a file that hwloc exported as XML",
        .path.display()
    )]
    ReadXml {
        /// The path of the file.
        path: PathBuf,
        /// The operating system's reason.
        cause: io::Error,
    },
    /// An XML file does not describe a topology.
    #[error(
        "{}:{line}:{column}: found {}, expected {}",
        .path.display(),
        one_line(.found),
        one_line(.expected)
    )]
    Xml {
        /// The path of the file.
        path: PathBuf,
        /// The line, from 1.
        line: u32,
        /// The column in characters, from 1.
        column: u32,
        /// The invalid content at this position.
        found: String,
        /// A description of valid content in its place.
        expected: String,
    },
    /// hwloc refused an XML file that passed this crate's checks.
    #[error(
        "{}: found a topology that hwloc refuses ({reason}), expected one that hwloc exported",
        .path.display()
    )]
    XmlRefused {
        /// The path of the file.
        path: PathBuf,
        /// hwloc's reason.
        reason: String,
    },
}

/// The error of binding a thread or of reading its binding.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum BindError {
    /// The topology describes another machine, to which threads cannot be bound.
    #[error("cannot bind to the CPUs of another machine ({topology})")]
    NotThisMachine {
        /// The source of the topology.
        topology: String,
    },
    /// The machine has no such CPU.
    #[error("there is no CPU {cpu}; this machine has {existing}")]
    UnknownCpu {
        /// The requested CPU.
        cpu: CpuId,
        /// The CPUs that exist.
        existing: CpuSet,
    },
    /// The process may not use this CPU.
    #[error("this process may not use CPU {cpu}; it may use {allowed}")]
    NotAllowed {
        /// The requested CPU.
        cpu: CpuId,
        /// The CPUs that the process may use.
        allowed: CpuSet,
    },
    /// The operating system refused.
    #[error("the operating system refused: {reason}")]
    Refused {
        /// The reason that the operating system gives.
        reason: String,
    },
}

/// The error of a plan that could not be computed.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum PlanError {
    /// There are no workers.
    #[error("there are no workers to place: the number of workers must be at least 1")]
    NoWorkers,
    /// The process may use no CPU of this topology.
    #[error("there is no CPU to place workers on: this process may use none of this topology")]
    NoCpus,
    /// An explicit list contains no CPU.
    #[error("the explicit list of CPUs is empty")]
    EmptyList,
    /// A CPU of an explicit list does not exist.
    #[error("there is no CPU {cpu}; this process may use {allowed}")]
    UnknownCpu {
        /// The requested CPU.
        cpu: CpuId,
        /// The CPUs that the process may use.
        allowed: CpuSet,
    },
    /// A CPU of an explicit list exists, but the process may not use it.
    #[error("this process may not use CPU {cpu}; it may use {allowed}")]
    NotAllowed {
        /// The requested CPU.
        cpu: CpuId,
        /// The CPUs that the process may use.
        allowed: CpuSet,
    },
}

/// The error of a communication matrix that could not be read or constructed.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum MatrixError {
    /// A file could not be read.
    #[error(
        "{}: {cause}; expected a matrix as CSV, Matrix Market file or Scotch graph",
        .path.display()
    )]
    Read {
        /// The path of the file.
        path: PathBuf,
        /// The operating system's reason.
        cause: io::Error,
    },
    /// The content of a file is not a matrix.
    #[error(
        "{}:{line}:{column}: found {}, expected {}",
        .path.display(),
        one_line(.found),
        one_line(.expected)
    )]
    Text {
        /// The path of the file.
        path: PathBuf,
        /// The line, from 1.
        line: usize,
        /// The column in bytes, from 1.
        column: usize,
        /// The invalid content at this position.
        found: String,
        /// A description of valid content in its place.
        expected: String,
    },
    /// An entry is not a valid number of bytes.
    #[error("from party {from} to party {to}: found {found}, expected a number from 0 to 1e30")]
    Value {
        /// The row of the entry, which is the sending party.
        from: usize,
        /// The column of the entry, which is the receiving party.
        to: usize,
        /// The entry that was found.
        found: f64,
    },
    /// The entries of a dense matrix do not form a square.
    #[error("found {found} numbers, expected the square of {order} for as many parties")]
    Shape {
        /// The expected number of parties.
        order: usize,
        /// The number of entries found.
        found: usize,
    },
    /// The number of names differs from the number of parties.
    #[error("found {found} names, expected {order}, one for each party")]
    Names {
        /// The number of parties.
        order: usize,
        /// The number of names.
        found: usize,
    },
}

/// The error of parties that could not be placed.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum PlaceError {
    /// There are no parties.
    #[error("there are no parties to place: the matrix is empty; expected at least 1 party")]
    NoParties,
    /// The topology has no CPU.
    #[error("there is no CPU to place parties on: the topology has none")]
    EmptyTopology,
    /// No CPU may be used.
    #[error(
        "there is no CPU to place parties on: the machine has CPUs {existing}, \
         of which {} may be used{}",
        set_text(.allowed),
        chosen_text(.chosen.as_ref())
    )]
    NoCpus {
        /// The CPUs of the topology.
        existing: CpuSet,
        /// The CPUs that the process may use.
        allowed: CpuSet,
        /// The CPUs that the caller chose. `None` means all.
        chosen: Option<CpuSet>,
    },
    /// There are more parties than CPUs, and parties may not share CPUs.
    #[error(
        "{parties} parties need a CPU each, and {cpus} may be used; \
         expected fewer parties, more CPUs, or CPUs that are shared"
    )]
    TooFewCpus {
        /// The number of parties.
        parties: usize,
        /// The number of usable CPUs. It is one per core if the other CPUs of each core are
        /// reserved for control threads.
        cpus: usize,
    },
    /// There are more parties than the exact strategy can handle.
    #[error(
        "the exact strategy tries placements one by one: \
         found {parties} parties, expected at most {parties_max}"
    )]
    ExactParties {
        /// The number of parties.
        parties: usize,
        /// The maximum number of parties.
        parties_max: usize,
    },
    /// The exact strategy reached its step limit before it proved a placement to be the best.
    #[error("the exact strategy gave up after {steps} steps; expected fewer parties or fewer CPUs")]
    ExactSteps {
        /// The number of steps taken.
        steps: u64,
    },
    /// The relative loads of the parties are not one positive number per party.
    #[error("loads: found {found}, expected {expected}")]
    Loads {
        /// A description of the given loads.
        found: String,
        /// A description of valid loads.
        expected: String,
    },
    /// The labels of parties that stay together are not one label per party.
    #[error(
        "parties that stay together: found {found} labels, expected {parties}, one for each party"
    )]
    Together {
        /// The number of labels.
        found: usize,
        /// The number of parties.
        parties: usize,
    },
    /// A placement does not fit the matrix or the topology.
    #[error("placement: found {found}, expected {expected}")]
    Placement {
        /// A description of the given placement.
        found: String,
        /// A description of a valid placement.
        expected: String,
    },
}

/// The error of a text that is not an affinity.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[error(
    "found {found}, expected \"auto\", \"none\", \"compact\", \"scatter\" \
     or a list of CPUs such as \"0,2,4-7\""
)]
pub struct ParseAffinityError {
    pub(crate) found: String,
}

/// Formats a set, with "none" for the empty set.
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

/// Escapes control characters of the input, so that a message is one line without effect on a
/// terminal.
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
