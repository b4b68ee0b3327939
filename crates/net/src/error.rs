//! The errors of nodes, of sending, and the reasons to refuse a message.

use std::fmt;
use std::io;
use std::time::Duration;

use rustix::io::Errno;

use crate::access::Access;
use crate::address::{NodeId, PORTS_MAX, PortId, Shape};
use crate::kind::TransportKind;

/// The reason why nodes could not be started, or what happened to a node.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum NetError {
    /// There are no nodes, no ports, or too many of them.
    #[error(
        "{} nodes of {} ports each; expected at least one of each, \
         and at most {PORTS_MAX} ports in all",
        .0.nodes, .0.ports
    )]
    Shape(Shape),
    /// The system refused memory, a socket or a thread.
    #[error("the system refused {what}: {error}")]
    System {
        /// The thing that the system refused.
        what: &'static str,
        /// The error that the system returned.
        error: io::Error,
    },
    /// A process could not be started.
    #[error("{node}: cannot start {program}: {error}")]
    Start {
        /// The node that the process was to be.
        node: NodeId,
        /// The program that could not be started.
        program: String,
        /// The error that the system returned.
        error: io::Error,
    },
    /// This process did not receive a valid start from the first node of the program.
    #[error(
        "RADDLE_NODE is set, but standard input is no socket of the program's first node \
         ({found}); expected to be started by it, or RADDLE_NODE not to be set"
    )]
    NotStarted {
        /// A description of what was found.
        found: String,
    },
    /// The program was built without the requested transport.
    #[error("this program was built without MPI; build it with `--features mpi`")]
    WithoutMpi,
    /// The MPI transports connect processes that MPI has started, but MPI has not started this one.
    #[error(
        "the nodes by mpi are processes that MPI starts, and it has not started this one; \
         start the program by `mpirun -n {0} PROGRAM …`"
    )]
    NotByMpi(u16),
    /// MPI has started more or fewer processes than the program has nodes.
    #[error("{found} processes were started by MPI, for {expected} nodes; expected one for each")]
    RankCount {
        /// The number of processes that were started.
        found: usize,
        /// The number of nodes.
        expected: u16,
    },
    /// A process that MPI has started belongs to another program, or has other options.
    #[error(
        "{node} is one of {} nodes with {} ports each; \
         expected {} with {}, as here: all have to be started alike",
        .found.nodes, .found.ports, .expected.nodes, .expected.ports
    )]
    Unlike {
        /// The node that the process is.
        node: NodeId,
        /// The shape of that process.
        found: Shape,
        /// The shape of this process.
        expected: Shape,
    },
    /// MPI has started several processes, and each of them would start all nodes.
    #[error(
        "this process is one of several that MPI has started, \
         each of which would have its own nodes by {0}; expected mpi"
    )]
    OneOfMany(TransportKind),
    /// MPI cannot be used.
    #[error("MPI cannot be used: {0}")]
    Mpi(&'static str),
    /// Nodes with this transport are always separate processes.
    #[error("nodes by {0} cannot be within one process")]
    OneProcess(TransportKind),
    /// Nodes that are threads are in one process, which creates them all
    /// ([`Node::in_process`](crate::Node::in_process)).
    #[error(
        "nodes by {0} cannot be processes; expected one of: {names}",
        names = TransportKind::names_of_processes()
    )]
    NoProcess(TransportKind),
    /// A node does not leave, although the first node has left.
    #[error("{0} does not end, though the program has ended")]
    Stays(NodeId),
    /// A node has ended without leaving.
    #[error("{0} has died")]
    Died(NodeId),
    /// A node does not answer: it was stopped, or something else keeps it from running.
    #[error(
        "{node} has not answered for {} s: it is stopped, or does not get to run",
        limit.as_secs_f64()
    )]
    Silent {
        /// The node.
        node: NodeId,
        /// The time that this node waited for an answer.
        limit: Duration,
    },
    /// A node has left the program.
    #[error("{0} has left")]
    Left(NodeId),
    /// The process of a node ended with an error.
    #[error("{node} failed: {}", why.clone().unwrap_or_else(|| status.to_string()))]
    Failed {
        /// The node.
        node: NodeId,
        /// The way in which its process ended.
        status: std::process::ExitStatus,
        /// The reason, if the node [reported](crate::Launch::tell_first) one.
        why: Option<String>,
    },
    /// A lane contains bytes that are no message. No later message can be found in the lane.
    #[error("the lane from {from}: {found}")]
    Broken {
        /// The port that sends by this lane.
        from: PortId,
        /// A description of the bytes.
        found: raddle_sync::lane::BrokenLane,
    },
    /// The largest possible number of connections is open.
    #[error("{0} connections are open, and there can be no more")]
    TooManyConnections(usize),
}

impl NetError {
    /// Returns a function that turns an error of the system into one that says that it refused
    /// `what`.
    pub(crate) fn system(what: &'static str) -> impl Fn(Errno) -> Self {
        move |error| Self::System {
            what,
            error: error.into(),
        }
    }

    /// Checks that a program can have this shape.
    ///
    /// # Errors
    /// [`NetError::Shape`].
    pub(crate) const fn check_shape(shape: Shape) -> Result<(), Self> {
        if shape.is_valid() {
            Ok(())
        } else {
            Err(Self::Shape(shape))
        }
    }
}

/// The reason why a message was not sent.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum SendError {
    /// The receiver is behind. Try again after it has received messages.
    #[error("the lane is full")]
    Full,
    /// The node has died.
    #[error("{0} has died")]
    Died(NodeId),
    /// The node does not answer, and this node no longer waits for it.
    #[error("{0} does not answer: it is stopped, or does not get to run")]
    Silent(NodeId),
    /// The node has left.
    #[error("{0} has left")]
    Left(NodeId),
    /// The node has closed the connection, or has dropped the segment of the connection.
    #[error("{0} has closed the connection")]
    Closed(NodeId),
    /// The port belongs to another node than the one that accepted the connection.
    #[error("the connection to {0} was accepted by another node than the one that sends")]
    NotAccepted(NodeId),
    /// The message is too long.
    #[error("{found} bytes of {part}; expected at most {expected}")]
    TooLong {
        /// The part that is too long: metadata or data.
        part: &'static str,
        /// The length of that part in bytes.
        found: usize,
        /// The largest allowed length in bytes.
        expected: usize,
    },
    /// The connection does not allow this access.
    #[error("the connection to {node} allows only {allowed}")]
    NotAllowed {
        /// The node that has the memory.
        node: NodeId,
        /// The access that the connection allows.
        allowed: Access,
    },
    /// Too many reads by this port are on their way. Finish one first.
    #[error("{0} reads are on their way, and there can be no more")]
    TooManyGets(usize),
    /// The system refused the memory into which another node is to put the answer to a read.
    #[error("the system refused memory for {0} bytes of another node")]
    NoMemory(usize),
    /// The target of a put, or the source of a read, lies outside the bounds of the connection.
    #[error("{len} bytes at offset {at}; expected them to lie within {bounds} bytes")]
    OutOfBounds {
        /// The offset of the bytes.
        at: u64,
        /// The number of bytes.
        len: u64,
        /// The number of bytes that the connection allows.
        bounds: u64,
    },
}

/// The reason why a received message was not delivered.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Refusal {
    /// The bytes are not a valid message.
    Malformed,
    /// There is no such connection, or it was opened for another node.
    NoConnection,
    /// The key is not the key of the connection.
    WrongKey,
    /// Data were put or requested outside the bounds of the connection, or the connection does not
    /// allow that.
    OutOfBounds,
}

impl Refusal {
    /// All reasons.
    pub const ALL: [Self; 4] = [
        Self::Malformed,
        Self::NoConnection,
        Self::WrongKey,
        Self::OutOfBounds,
    ];
}

impl fmt::Display for Refusal {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(match self {
            Self::Malformed => "malformed message",
            Self::NoConnection => "no such connection",
            Self::WrongKey => "wrong key",
            Self::OutOfBounds => "out of bounds",
        })
    }
}
