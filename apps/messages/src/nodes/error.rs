//! The error of measurements between nodes.

use raddle::net::{NetError, SendError};
use raddle_topology::{BindError, TopologyError};

use crate::threads::ThreadRefused;
use crate::waits::WaitsError;

/// A failed measurement between nodes.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum NodesError {
    /// Nodes failed to start, or a node ended too early.
    #[error(transparent)]
    Net(#[from] NetError),
    /// A message could not be sent.
    #[error(transparent)]
    Send(#[from] SendError),
    /// A thread could not be bound to its CPU.
    #[error(transparent)]
    Bind(#[from] BindError),
    /// A thread could not be started.
    #[error(transparent)]
    Thread(#[from] ThreadRefused),
    /// The topology of the machine could not be read.
    #[error(transparent)]
    Topology(#[from] TopologyError),
    /// The measurement between two threads failed.
    #[error(transparent)]
    Waits(WaitsError),
    /// A message arrived with other contents than were sent.
    #[error("{what} {found}; expected {expected}")]
    Wrong {
        /// The property that was checked.
        what: &'static str,
        /// The value that was found.
        found: u64,
        /// The value that was expected.
        expected: u64,
    },
}

/// Checks that a property of a received message has the expected value.
pub(super) fn expect(what: &'static str, found: u64, expected: u64) -> Result<(), NodesError> {
    if found == expected {
        return Ok(());
    }
    Err(NodesError::Wrong {
        what,
        found,
        expected,
    })
}
