//! Nodes: processes of one program that send each other messages without the kernel.
//!
//! A node is an address space. Each of its threads that sends or receives has a [`Port`]. A message
//! goes from port to port through memory, which the receiver reads at the place where the sender
//! wrote it. The doorbell at the end of a message wakes the receiver if it sleeps. Data travel
//! either with the message, or directly to their final location in a [`Segment`], which the
//! receiver has registered and opened for the sender.
//!
//! Each module imports only modules above it:
//!
//! | module | contents |
//! |---|---|
//! | `access` | the kinds of access to memory of another node |
//! | `address` | the ids of nodes, ports and segments, and the shape of a program |
//! | `kind` | the kinds of transport |
//! | `error` | errors and refusals |
//! | `descriptor`, `packet` | the wire formats of messages and packets |
//! | `mapped` | memory that nodes share |
//! | `random` | random keys |
//! | `gets` | reads of other nodes' memory that are on their way in packets |
//! | `connection` | the rights that a node grants to others |
//! | `grant` | how long a right to put or to read lasts |
//! | `control` | control frames: what nodes report to each other besides messages |
//! | `failure_detector` | how the first node notices that another does not run |
//! | `transport` | how messages travel: by shared memory, by sockets, or by MPI |
//! | `segment` | memory into which other nodes may put data, or which they may read |
//! | `shared` | the state that the ports and threads of a node share |
//! | `port` | sending, receiving, waiting |
//! | `node` | the handle to a node, and its listening thread |
//! | [`bricks`] | read-only data that all nodes share, with a cache in each |
//! | `launch` | starting the processes of a program |
//!
//! **Invariant:** unsafe code occurs only in `mapped`, and in the module that lends bytes to MPI.
//!
//! **Invariant:** MPI is used only in `transport/mpi`, and named elsewhere only where a transport
//! is chosen (`kind`, `transport/choose`), in errors, and in the public API of `launch`.
//!
//! # Nodes by MPI
//! The feature `mpi` needs an MPI library, and libclang to build. With it, a program that `mpirun
//! -n 4 PROGRAM` or `srun` has started has a node in each process ([`TransportKind::Mpi`]). Nodes
//! on one machine find each other and share memory ([`Node::shares_memory_with`]). MPI transports
//! the messages between machines. A node that [finishes](Nodes::finish) waits until all nodes do.
//! MPI does not report the death of a process. A process that ends without finishing makes `mpirun`
//! end the whole program, as does a panic that drops its [`Nodes`]. Messages to a node that has
//! left are dropped.
//!
//! # Source
//! Parker, Efficient user-level event notification, chapter 3: sender-based one-sided messages,
//! notification without the kernel.

mod access;
mod address;
pub mod bricks;
mod clock_difference;
mod connection;
mod control;
mod descriptor;
mod error;
mod failure_detector;
mod gets;
mod grant;
mod kind;
mod launch;
mod mapped;
mod node;
mod packet;
mod port;
mod random;
mod segment;
mod shared;
mod transport;

pub use access::Access;
pub use address::{NodeId, PORTS_MAX, PortId, SegmentId, Shape};
pub use descriptor::Flags;
pub use error::{NetError, Refusal, SendError};
pub use kind::TransportKind;
pub use launch::{Launch, NODE_VARIABLE, Nodes};
pub use node::{ConnectionId, Node, Pump};
#[doc(hidden)]
pub use packet::packet_of;
#[doc(hidden)]
pub use port::descriptor_of_put;
pub use port::{Arrival, DATA_MAX, Data, Fetch, METADATA_MAX, Message, Port, Put};
pub use segment::{ReadOnlySegment, Readable, Remote, Segment};
