//! Nodes: processes of one program that send each other messages without the kernel, and wake each other at the end.
//!
//! A node is an address space. Each of its threads that sends or receives has a [`Port`]. A message goes from port to port through memory that the
//! receiver reads where the sender wrote it; a doorbell at its end wakes the receiver if it sleeps, through the word that it waits on. Data
//! go either along with the message or straight to where they belong: into a [`Segment`] that the receiver has registered and opened for
//! the sender.
//!
//! | module | what it is |
//! |---|---|
//! | `address` | nodes, ports, and how many there are |
//! | `descriptor` | what a message says of itself |
//! | `connection` | who may write where; the receiver decides |
//! | `segment` | memory that others may put data into |
//! | `grant` | how long they may |
//! | `port` | sending, receiving, waiting |
//! | `transport` | how messages come from node to node: by memory that they share, by sockets, or by MPI |
//! | `packet` | how they travel where no memory is shared |
//! | `node` | what the ports of a node share; who has died or left |
//! | `control` | what nodes tell each other besides messages |
//! | `share` | what a node is made of |
//! | `launch` | starting the processes of a program |
//! | `mapped` | the memory that nodes share; besides what lends bytes to MPI the only place with unsafe code |
//!
//! # Nodes by MPI
//! With the feature `mpi`, which needs an MPI library and libclang to build, a program that `mpirun -n 4 PROGRAM` or `srun` has started has a node in each process
//! ([`TransportKind::Mpi`]). Those on one machine find each other, and share memory ([`Node::shares_memory_with`]); MPI brings messages from one machine to another. Whoever
//! [finishes](Nodes::finish) waits there until all do. MPI tells nobody of a death, so a process that ends without finishing ends the whole
//! program, by `mpirun`'s doing, and so does a panic that drops its [`Nodes`]. Messages to a node that has left are dropped.
//!
//! # Source
//! Parker, Efficient user-level event notification, chapter 3: sender-based one-sided messages, notification without the kernel.

mod address;
mod connection;
mod control;
mod descriptor;
mod error;
mod grant;
mod launch;
mod mapped;
mod node;
mod packet;
mod port;
mod segment;
mod share;
mod transport;

pub use address::{NodeId, PORTS_MAX, PortId, Shape};
pub use connection::Refusal;
pub use descriptor::Flags;
pub use error::{NetError, SendError};
pub use launch::{Launch, NODE_VARIABLE, Nodes};
pub use node::{ConnectionId, Node, Pump};
#[doc(hidden)]
pub use packet::packet_of;
#[doc(hidden)]
pub use port::descriptor_of_put;
pub use port::{Arrival, DATA_MAX, Data, METADATA_MAX, Message, Port, Put};
pub use segment::{Remote, Segment, SegmentId};
pub use transport::TransportKind;
