//! The kinds of transport: their names, and which of them this process can use.
//!
//! `transport/choose.rs` creates the transport of a given kind.

pub(crate) mod ranks;

use std::fmt;

/// How messages travel from one node to another.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum TransportKind {
    /// The nodes are in one process and have pointers to each other's memory.
    Threads,
    /// The sender writes to memory that it shares with the receiver.
    #[default]
    Memory,
    /// The sender passes messages to the kernel, and the receiver fetches them from there. This is
    /// how runtimes without shared memory communicate on one machine.
    Sockets,
    /// The nodes are processes that `mpirun` or `srun` has started, on one machine or on several.
    /// Nodes on one machine share memory, as with [`Memory`](Self::Memory). Between machines,
    /// MPI transports the messages. Needs the feature `mpi`.
    Mpi,
    /// Like [`Mpi`](Self::Mpi), except that MPI transports all messages, also within one machine.
    /// This serves to measure the cost of MPI, and programs that must not share memory.
    MpiMessages,
}

impl TransportKind {
    /// All kinds of transport.
    pub const ALL: [Self; 5] = [
        Self::Threads,
        Self::Memory,
        Self::Sockets,
        Self::Mpi,
        Self::MpiMessages,
    ];
    /// The kinds with which each node can be a process.
    pub const OF_PROCESSES: [Self; 4] = [Self::Memory, Self::Sockets, Self::Mpi, Self::MpiMessages];
    /// The kinds with which all nodes can be [in one process](crate::Node::in_process).
    pub const WITHIN: [Self; 3] = [Self::Threads, Self::Memory, Self::Sockets];

    /// Returns the name of this kind: `threads`, `shm`, `socket`, `mpi` or `mpi-messages`.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Threads => "threads",
            Self::Memory => "shm",
            Self::Sockets => "socket",
            Self::Mpi => "mpi",
            Self::MpiMessages => "mpi-messages",
        }
    }

    /// Returns true if this process can have nodes with this transport.
    ///
    /// The MPI transports need a program that was built with MPI, in a process that MPI has
    /// started. The others need a process that MPI has not started next to others, because each of
    /// those processes would have nodes of its own.
    pub fn is_here(self) -> bool {
        match self {
            Self::Threads | Self::Memory | Self::Sockets => !Self::here().is_by_mpi(),
            Self::Mpi | Self::MpiMessages => cfg!(feature = "mpi") && ranks::count().is_some(),
        }
    }

    /// Returns true if the nodes are processes that MPI has started.
    pub const fn is_by_mpi(self) -> bool {
        matches!(self, Self::Mpi | Self::MpiMessages)
    }

    /// Returns the default kind of this process: `mpi` if MPI has started it next to others,
    /// otherwise shared memory.
    ///
    /// A process in a shell that `srun` has started counts as started by MPI, but is alone.
    pub fn here() -> Self {
        match ranks::count() {
            None | Some(..2) => Self::Memory,
            Some(_) => Self::Mpi,
        }
    }

    /// Returns true if all nodes write into each other's memory.
    pub(crate) const fn shares_memory(self) -> bool {
        matches!(self, Self::Threads | Self::Memory)
    }
}

impl fmt::Display for TransportKind {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(self.name())
    }
}
