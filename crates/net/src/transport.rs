//! Transports: how messages come from one node to another.
//!
//! Whatever the transport, a message arrives in a lane of the receiving node, from where its port takes it, and its doorbell is that port's wait cell. Where
//! memory is shared the sender writes into the lane itself; else somebody in the receiving node has to *pump*: to take what has come from the
//! system, and write it into the lanes.

mod inbound;
mod memory;
mod sockets;

use std::fmt;
use std::os::fd::BorrowedFd;

use crate::address::{NodeId, PortId};
use crate::error::SendError;
use crate::packet::Kind;

pub(crate) use memory::ByMemory;
pub(crate) use sockets::BySockets;

/// How messages come from one node to another.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum TransportKind {
    /// The sender writes to memory that the receiver shares.
    #[default]
    Memory,
    /// The sender hands them to the kernel, the receiver gets them from there: what runtimes without shared memory do on one machine.
    Sockets,
}

impl TransportKind {
    /// All of them.
    pub const ALL: [Self; 2] = [Self::Memory, Self::Sockets];

    /// Its name: `shm` or `socket`.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Memory => "shm",
            Self::Sockets => "socket",
        }
    }
}

impl fmt::Display for TransportKind {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(self.name())
    }
}

/// What a node has of its transport.
pub(crate) trait Transport: fmt::Debug + Send + Sync {
    /// The way from a port of this node to any port. There is one of each pair.
    fn link(&self, from: PortId, to: PortId) -> Box<dyn Link>;

    /// Writes what has come into the lanes of this node, unless another thread does so already; true when there was something.
    fn pump(&self) -> bool {
        false
    }

    /// What tells that there is something to pump; nothing where nobody need pump.
    fn sockets(&self) -> Vec<BorrowedFd<'_>> {
        Vec::new()
    }

    /// True while something that has come found no room in its lane: nothing tells when there is.
    fn is_stuck(&self) -> bool {
        false
    }

    /// True when all that a node has sent, which has ended, is in the lanes.
    fn is_drained(&self, _node: NodeId) -> bool {
        true
    }

    /// True where somebody in the receiving node has to pump.
    fn is_pumped(&self) -> bool {
        false
    }
}

/// The way from one port to another.
pub(crate) trait Link: fmt::Debug + Send {
    /// Sends a message, and rings its doorbell if it has one.
    fn send(&mut self, outgoing: Outgoing<'_>) -> Result<(), SendError>;
}

/// A message on its way out.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Outgoing<'a> {
    pub(crate) short: &'a [&'a [u8]],
    pub(crate) long: &'a [u8],
    /// What is to be done with the long part; where memory is shared it has been put.
    pub(crate) kind: Kind,
    pub(crate) doorbell: bool,
}
