//! The errors of setting up a runtime and of moving workers.

use raddle_topology::{BindError, PlanError, TopologyError};
use raddle_trace::monitor::MonitorError;
use raddle_trace::trace_file::TraceFileError;

/// The error for workers that could not be moved to other CPUs.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum MoveError {
    /// The number of CPUs is not the number of workers.
    #[error("found {found} CPUs; expected {expected}, one for each worker")]
    WorkerCount {
        /// The number of CPUs that were given.
        found: usize,
        /// The number of workers.
        expected: usize,
    },
    /// No worker can be bound to one of the CPUs.
    #[error(transparent)]
    Cpu(#[from] BindError),
}

/// The error for a runtime that could not be set up.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum BuildError {
    /// An environment variable has an invalid value.
    #[error("environment variable {name}: {reason}")]
    Environment {
        /// The name of the variable.
        name: &'static str,
        /// The value that was found, and the expected values.
        reason: String,
    },
    /// The requested number of workers is out of range.
    #[error("{found} workers: expected a number from 1 to {max}")]
    WorkerCount {
        /// The requested number.
        found: usize,
        /// The largest number.
        max: usize,
    },
    /// The requested name is not valid for a thread.
    #[error("thread name {name:?}: found a NUL; expected none")]
    ThreadName {
        /// The requested name.
        name: String,
    },
    /// The topology of the machine could not be read.
    #[error("cannot read this machine's topology: {0}")]
    Topology(#[from] TopologyError),
    /// The workers could not be placed.
    #[error("cannot place the workers: {0}")]
    Plan(#[from] PlanError),
    /// A worker could not be bound to its CPU.
    #[error("cannot bind worker {worker_index}: {source}")]
    Bind {
        /// The index of the worker.
        worker_index: usize,
        /// The reason that the system gave.
        source: BindError,
    },
    /// The system did not start a thread.
    #[error("cannot start worker {worker_index}: {source}")]
    Thread {
        /// The index of the worker.
        worker_index: usize,
        /// The reason that the system gave.
        source: std::io::Error,
    },
    /// The events of this process could not be recorded, as `RADDLE_TRACE` asks for.
    #[error("RADDLE_TRACE: {0}")]
    Trace(#[from] TraceFileError),
    /// The socket for `raddle top` could not be opened, as `RADDLE_MONITOR` asks for.
    #[error(transparent)]
    Monitor(#[from] MonitorError),
    /// The current thread cannot become a worker, because it is one already.
    #[error("this thread cannot become a worker: it is a worker already")]
    IsWorker,
    /// The default runtime has been started already.
    #[error("the default runtime has already started; configure it before its first use")]
    DefaultIsUp,
}
