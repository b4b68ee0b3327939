//! What can go wrong between nodes.

use std::io;
use std::time::Duration;

use rustix::io::Errno;

use crate::address::{NodeId, PORTS_MAX, PortId, Shape};
use crate::transport::TransportKind;

/// Why nodes could not be brought up, or what happened to one.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum NetError {
    /// No node, no port, or more than there can be.
    #[error("{} nodes of {} ports each; expected at least one of each, and at most {PORTS_MAX} ports in all", .0.nodes, .0.ports)]
    Shape(Shape),
    /// The system refused memory, a socket or a thread.
    #[error("the system refused {what}: {error}")]
    System {
        /// What it refused.
        what: &'static str,
        /// Why.
        error: io::Error,
    },
    /// A process could not be started.
    #[error("{node}: cannot start {program}: {error}")]
    Start {
        /// Which was to be.
        node: NodeId,
        /// The program.
        program: String,
        /// Why not.
        error: io::Error,
    },
    /// What the program's first node says to this one makes no sense.
    #[error(
        "RADDLE_NODE is set, but standard input is no socket of the program's first node ({found}); expected to be started by it, or RADDLE_NODE not to be set"
    )]
    NotStarted {
        /// What was found.
        found: String,
    },
    /// The transport was asked for of a program that was built without it.
    #[error("this program was built without MPI; build it with `--features mpi`")]
    WithoutMpi,
    /// MPI brings together processes that it has started, and it has not started this one.
    #[error(
        "the nodes by mpi are processes that MPI starts, and it has not started this one; start the program by `mpirun -n {0} PROGRAM …`"
    )]
    NotByMpi(u16),
    /// MPI has started more processes, or fewer, than there are to be nodes.
    #[error("{found} processes were started by MPI, for {expected} nodes; expected one for each")]
    RankCount {
        /// How many were started.
        found: usize,
        /// How many nodes there are to be.
        expected: u16,
    },
    /// A process that MPI has started is of another program, or has other options.
    #[error(
        "{node} is one of {} nodes with {} ports each; expected {} with {}, as here: all have to be started alike",
        .found.nodes, .found.ports, .expected.nodes, .expected.ports
    )]
    Unlike {
        /// Which.
        node: NodeId,
        /// What it is one of.
        found: Shape,
        /// What this process is one of.
        expected: Shape,
    },
    /// MPI has started several processes, and each would bring up all nodes.
    #[error(
        "this process is one of several that MPI has started, each of which would have its own nodes by {0}; expected mpi"
    )]
    OneOfMany(TransportKind),
    /// MPI cannot be used.
    #[error("MPI cannot be used: {0}")]
    Mpi(&'static str),
    /// Nodes by MPI are processes of their own.
    #[error("nodes by {0} cannot be within one process")]
    OneProcess(TransportKind),
    /// Nodes by threads are within one process, which brings them up ([`Node::in_process`](crate::Node::in_process)).
    #[error("nodes by {0} cannot be processes; by shm, socket, mpi and mpi-messages they can")]
    NoProcess(TransportKind),
    /// A node does not leave, though the first has left.
    #[error("{0} does not end, though it is over")]
    Stays(NodeId),
    /// A node has ended without leaving.
    #[error("{0} has died")]
    Died(NodeId),
    /// A node does not answer: it was stopped, or something else keeps it from running.
    #[error("{node} has not answered for {} s: it is stopped, or does not get to run", limit.as_secs_f64())]
    Silent {
        /// Which.
        node: NodeId,
        /// How long it was waited for.
        limit: Duration,
    },
    /// A node has left the program.
    #[error("{0} has left")]
    Left(NodeId),
    /// A node's process ended with an error.
    #[error("{node} failed: {}", why.clone().unwrap_or_else(|| status.to_string()))]
    Failed {
        /// Which.
        node: NodeId,
        /// How its process ended.
        status: std::process::ExitStatus,
        /// Why, if it has [told](crate::Launch::tell_first).
        why: Option<String>,
    },
    /// What came by a lane is no message, and nothing after it can be found.
    #[error("the lane from {from}: {found}")]
    Broken {
        /// Who sends there.
        from: PortId,
        /// What was found.
        found: raddle_sync::lane::BrokenLane,
    },
    /// No more connections.
    #[error("{0} connections are open, and there can be no more")]
    TooManyConnections(usize),
}

impl NetError {
    /// The system refused `what`.
    pub(crate) fn system(what: &'static str) -> impl Fn(Errno) -> Self {
        move |error| Self::System {
            what,
            error: error.into(),
        }
    }
}

/// Why a message was not sent.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum SendError {
    /// The receiver is behind: try again when it has received.
    #[error("the lane is full")]
    Full,
    /// The node has died.
    #[error("{0} has died")]
    Died(NodeId),
    /// The node does not answer, and is no longer waited for.
    #[error("{0} does not answer: it is stopped, or does not get to run")]
    Silent(NodeId),
    /// The node has left.
    #[error("{0} has left")]
    Left(NodeId),
    /// The node has closed the connection, or has dropped the segment to which it leads.
    #[error("{0} has closed the connection")]
    Closed(NodeId),
    /// The connection was accepted by another node than the one whose port sends.
    #[error("the connection to {0} was accepted by another node than the one that sends")]
    NotAccepted(NodeId),
    /// More than what one message can have.
    #[error("{found} bytes of {part}; expected at most {expected}")]
    TooLong {
        /// Metadata or data.
        part: &'static str,
        /// How many.
        found: usize,
        /// How many there may be.
        expected: usize,
    },
    /// Data were to be put outside of the connection's bounds.
    #[error("{len} bytes at offset {at}; expected them to lie within {bounds} bytes")]
    OutOfBounds {
        /// Where.
        at: u64,
        /// How many.
        len: u64,
        /// How many bytes the connection allows.
        bounds: u64,
    },
}
