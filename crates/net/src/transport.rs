//! Transports: how messages come from one node to another.
//!
//! Whatever the transport, a message arrives in a lane of the receiving node, from where its port takes it, and its doorbell is that port's wait cell. Where
//! memory is shared the sender writes into the lane itself; else somebody in the receiving node has to *pump*: to take what has come from the
//! system, and write it into the lanes.

mod inbound;
mod memory;
#[cfg(feature = "mpi")]
mod mpi;
mod sockets;

use std::fmt;
use std::os::fd::BorrowedFd;
use std::time::Duration;

use raddle_sync::hand_over::Reader;

use crate::address::{NodeId, PortId};
use crate::connection::Rights;
use crate::control::Controls;
use crate::error::{NetError, SendError};
use crate::launch::Launch;
use crate::node::Silence;
use crate::packet::Kind;

pub(crate) use memory::ByMemory;
#[cfg(feature = "mpi")]
pub(crate) use mpi::{ByMpi, Neighbour, Ranks, meet};
pub(crate) use sockets::{BySockets, allow_packets};

/// How messages come from one node to another.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum TransportKind {
    /// The nodes are in one process, and have pointers to each other's memory.
    Threads,
    /// The sender writes to memory that the receiver shares.
    #[default]
    Memory,
    /// The sender hands them to the kernel, the receiver gets them from there: what runtimes without shared memory do on one machine.
    Sockets,
    /// The nodes are processes that `mpirun` or `srun` has started, on one machine or on several. Those on one machine share memory, as by [`Memory`](Self::Memory);
    /// between machines MPI brings the messages. Needs the feature `mpi`.
    Mpi,
    /// The same, but that MPI brings all messages, those within one machine, too: to measure what it costs, or where no memory is to be shared.
    MpiMessages,
}

impl TransportKind {
    /// All of them.
    pub const ALL: [Self; 5] = [
        Self::Threads,
        Self::Memory,
        Self::Sockets,
        Self::Mpi,
        Self::MpiMessages,
    ];
    /// Those by which nodes can be processes.
    pub const OF_PROCESSES: [Self; 4] = [Self::Memory, Self::Sockets, Self::Mpi, Self::MpiMessages];
    /// Those by which nodes can be [within one process](crate::Node::in_process).
    pub const WITHIN: [Self; 3] = [Self::Threads, Self::Memory, Self::Sockets];

    /// Its name: `threads`, `shm`, `socket`, `mpi` or `mpi-messages`.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Threads => "threads",
            Self::Memory => "shm",
            Self::Sockets => "socket",
            Self::Mpi => "mpi",
            Self::MpiMessages => "mpi-messages",
        }
    }

    /// True where this process can have nodes by it: by `mpi` where MPI has started it, and its program was built with that, by the others where MPI has
    /// not started it beside others, each of which would have nodes of its own.
    pub fn is_here(self) -> bool {
        match self {
            Self::Threads | Self::Memory | Self::Sockets => !Self::here().is_by_mpi(),
            Self::Mpi | Self::MpiMessages => {
                cfg!(feature = "mpi") && Launch::rank_count().is_some()
            }
        }
    }

    /// True of those whose nodes are processes that MPI has started.
    pub const fn is_by_mpi(self) -> bool {
        matches!(self, Self::Mpi | Self::MpiMessages)
    }

    /// By which a process has its nodes if nothing else is said: by `mpi` where MPI has started it beside others, else by memory. (Whoever works in a shell
    /// that `srun` has started is one, and alone.)
    pub fn here() -> Self {
        match Launch::rank_count() {
            None | Some(..2) => Self::Memory,
            Some(_) => Self::Mpi,
        }
    }

    /// True where all nodes write into each other's memory.
    pub(crate) const fn shares_memory(self) -> bool {
        matches!(self, Self::Threads | Self::Memory)
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

    /// What `node` allows others, where it is in this process, so that its memory has no need to be mapped.
    fn rights_of(&self, _node: NodeId) -> Option<&Rights> {
        None
    }

    /// True where this node writes into the memory of `node`, and that one into this one's.
    fn shares_memory_with(&self, node: NodeId) -> bool;

    /// Writes what has come into the lanes of this node, unless another thread does so already; true when there was something.
    fn pump(&self) -> bool {
        false
    }

    /// True where something comes of which nothing tells, neither in this thread nor in another: somebody has to ask.
    fn is_silent(&self) -> bool {
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

    /// This node leaves, and sends nothing more to `node`; how many packets it has sent, where that has to be said.
    fn close(&self, _node: NodeId) -> u64 {
        0
    }

    /// `node` has left, and has sent so many packets in all.
    fn ends_after(&self, _node: NodeId, _packets: u64) {}

    /// Ends the transport of a node that has left, when those of all nodes can end.
    ///
    /// # Errors
    /// [`NetError::Stays`] when others have not left in time, [`NetError::Died`] of one that will not, and
    /// [`NetError::Silent`] of one that does not answer, for the node that watches.
    fn finish(
        &self,
        _controls: &Controls,
        _limit: Option<Duration>,
        _silence: Option<Silence>,
    ) -> Result<(), NetError> {
        Ok(())
    }

    /// Sends bytes to a node as they stand, be they a packet or not; false where no packets travel, or there is no room.
    fn send_bytes(&self, _node: NodeId, _bytes: &[u8]) -> bool {
        false
    }

    /// This node has died, however long its process is still there: nothing more comes of it. Ends the others where they do not notice by themselves.
    fn abort(&self) {}
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
    /// Who reads the long part, where the sender writes it to where it is read.
    pub(crate) reader: Reader,
}
