//! Programs between nodes: what a message costs from process to process, by each transport.
//!
//! A [`Crew`] is some nodes, each with a thread that computes and, where asked for, one that receives for it. The first node leads: it gives every
//! node the same order, all do their parts of it, and the first hears what came of them. So one start of the processes serves many measurements,
//! and no program knows by which transport its messages go.
//!
//! | program | order |
//! |---|---|
//! | ping-pong between the first node and the last | [`Crew::rally`] |
//! | the symmetrical kernel: every node asks and answers | [`Crew::serve`] |
//! | what each step of a message costs | [`Crew::overheads`] |
//!
//! Every node has two ports. The first is for orders and what came of them, and the thread that computes sends by it; all that a program exchanges
//! arrives at the second, which the receiving thread has where there is one.
//!
//! # Source
//! Parker: Efficient user-level event notification. 2013, sect. 4.2, 4.3 and 4.5.

mod answer;
mod ball;
mod crew;
mod order;
mod overheads;
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

/// Threads of a node that have a port: the one that computes and the one that receives.
const PORTS: u16 = 2;
/// Where orders and their outcomes arrive.
const COMPUTE: u16 = 0;
/// Where all else arrives.
const RECEIVE: u16 = 1;

/// How a node receives.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Receive {
    /// Who waits looks again and again, and nobody rings.
    Poll,
    /// Who waits does so in its wait cell, and the message's doorbell wakes it.
    Notify,
    /// A thread receives all that comes, and wakes the thread that computes, which waits in a cell of its own.
    Thread,
}

impl Receive {
    /// All of them.
    pub const ALL: [Self; 3] = [Self::Poll, Self::Notify, Self::Thread];

    /// Its name.
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

/// What ends a measurement between nodes.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum NodesError {
    /// Nodes that do not come up, or that ended.
    #[error(transparent)]
    Net(#[from] NetError),
    /// A message that cannot be sent.
    #[error(transparent)]
    Send(#[from] SendError),
    /// A thread cannot be bound to its CPU.
    #[error(transparent)]
    Bind(#[from] BindError),
    /// A thread cannot be started.
    #[error(transparent)]
    Thread(#[from] ThreadRefused),
    /// The machine cannot be read.
    #[error(transparent)]
    Topology(#[from] TopologyError),
    /// Two threads that cannot wait for each other.
    #[error(transparent)]
    Waits(WaitsError),
    /// A message that came otherwise than it was sent.
    #[error("{what} {found}; expected {expected}")]
    Wrong {
        /// What was looked at.
        what: &'static str,
        /// What it was.
        found: u64,
        /// What it should have been.
        expected: u64,
    },
}

/// Compares what came with what was sent.
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
