//! Programs that measure what a message between processes costs, on each transport.
//!
//! A [`Crew`] is a group of nodes. Each node has a thread that computes and, in some programs, a
//! second thread that receives for it. The first node leads: it sends the same order to every node,
//! all nodes do their part, and the first node collects the results. The processes are therefore
//! started once for many measurements, and the programs do not depend on the transport.
//!
//! | program | entry point |
//! |---|---|
//! | ping-pong between the first and the last node | [`Crew::rally`] |
//! | the symmetric kernel, in which every node sends requests and replies | [`Crew::serve`] |
//! | the cost of each step of a message | [`Crew::overheads`] |
//!
//! Every node has two ports. The first receives orders and results, and the computing thread sends
//! through it. The second receives the messages of the programs; it belongs to the receiving thread
//! if there is one.
//!
//! # Source
//! Parker: Efficient user-level event notification. 2013, sect. 4.2, 4.3 and 4.5.

mod answer;
mod crew;
mod order;
mod overheads;
mod payload;
mod rally;
mod seats;
mod symmetric;
mod watch;

use std::fmt;

use raddle::net::{NetError, SendError};
use raddle_topology::{BindError, TopologyError};

use crate::threads::ThreadRefused;
use crate::waits::WaitsError;

pub use self::crew::Crew;
pub use self::overheads::Overheads;
pub use self::seats::Seats;
pub use self::symmetric::{Kernel, Served, work};

/// The number of ports of a node: one for the thread that computes, one for the thread that
/// receives.
const PORTS: u16 = 2;
/// The port at which orders and reports arrive.
const COMPUTE: u16 = 0;
/// The port at which all other messages arrive.
const RECEIVE: u16 = 1;

/// The way in which a node receives messages.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Receive {
    /// The waiting thread polls its port, and senders ring no doorbell.
    Poll,
    /// The waiting thread waits in its wait cell, and the doorbell of a message wakes it.
    Notify,
    /// A separate thread receives all messages. It wakes the computing thread, which waits in a
    /// wait cell of its own.
    Thread,
}

impl Receive {
    /// All variants.
    pub const ALL: [Self; 3] = [Self::Poll, Self::Notify, Self::Thread];

    /// Returns the name, as on the command line.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Poll => "poll",
            Self::Notify => "notify",
            Self::Thread => "thread",
        }
    }
}

impl fmt::Display for Receive {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(self.name())
    }
}

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
fn expect(what: &'static str, found: u64, expected: u64) -> Result<(), NodesError> {
    if found == expected {
        return Ok(());
    }
    Err(NodesError::Wrong {
        what,
        found,
        expected,
    })
}

#[cfg(test)]
mod tests;
