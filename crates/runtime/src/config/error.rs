//! What can go wrong when a runtime is set up.

use raddle_topology::{BindError, PlanError, TopologyError};

/// Workers could not be sent to other CPUs.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum MoveError {
    /// There is not one CPU for each worker.
    #[error("{found} places for {expected} workers")]
    WorkerCount {
        /// Places that were given.
        found: usize,
        /// Workers that there are.
        expected: usize,
    },
    /// A CPU is none that a worker can be bound to.
    #[error(transparent)]
    Cpu(#[from] BindError),
}

/// A runtime could not be set up.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum BuildError {
    /// An environment variable has a value that means nothing.
    #[error("environment variable {name}: {reason}")]
    Environment {
        /// The variable.
        name: &'static str,
        /// What was found and what was expected.
        reason: String,
    },
    /// The number of workers is not one that a runtime can have.
    #[error("{found} workers: expected a number from 1 to {max}")]
    WorkerCount {
        /// What was asked for.
        found: usize,
        /// The largest number.
        max: usize,
    },
    /// No thread can have that name.
    #[error("thread name {name:?}: found a NUL; expected none")]
    ThreadName {
        /// What was asked for.
        name: String,
    },
    /// The machine could not be read.
    #[error("cannot read this machine's topology: {0}")]
    Topology(#[from] TopologyError),
    /// The workers could not be placed.
    #[error("cannot place the workers: {0}")]
    Plan(#[from] PlanError),
    /// A worker could not be bound.
    #[error("cannot bind worker {worker_index}: {source}")]
    Bind {
        /// The worker.
        worker_index: usize,
        /// Why not.
        source: BindError,
    },
    /// The system gave no thread.
    #[error("cannot start worker {worker_index}: {source}")]
    Thread {
        /// The worker.
        worker_index: usize,
        /// Why not.
        source: std::io::Error,
    },
    /// The default runtime is up already.
    #[error("the default runtime is up already; set it up before its first use")]
    DefaultIsUp,
}

impl BuildError {
    /// True when the error lies in what was asked for, by a call or by an environment variable, and not in the machine or in the order of calls.
    ///
    /// Programs with a command line report such an error as they report a bad option: `RADDLE_WORKERS=0` is no
    /// other mistake than an option that asks for no worker.
    pub fn is_of_the_settings(&self) -> bool {
        match self {
            Self::Environment { .. } | Self::WorkerCount { .. } | Self::ThreadName { .. } => true,
            // A list of CPUs is the only rule that names any.
            Self::Plan(error) => !matches!(error, PlanError::NoCpus),
            Self::Bind { .. } | Self::Topology(_) | Self::Thread { .. } | Self::DefaultIsUp => {
                false
            }
        }
    }
}
