//! Transports: how messages travel from one node to another.
//!
//! With every transport, a message ends up in a lane of the receiving node, from which its port
//! takes it, and its doorbell rings that port's wait cell. A sender that shares memory with the
//! receiver writes into the lane itself. Otherwise the message travels as a packet, and a thread
//! of the receiving node has to *pump*: it fetches packets from the system and writes them into
//! the lanes.
//!
//! A transport is a [`Transport`] (send, pump, close) and a [`Capabilities`], which says what the
//! rest of the crate has to do for it. To add one, write a module here, or a link in the module of
//! a similar one, and a line in [`TransportKind`]. The compiler then asks for two arms in `share`,
//! which create and receive the memory and sockets of a node.
//!
//! | module | contents |
//! |---|---|
//! | `progress` | how far packets have come, as the pumping threads report it |
//! | `inbound` | checks packets and writes them into lanes |
//! | `share` | creates the memory and sockets of all nodes, and from them their transports |
//! | `memory`, `sockets`, `mpi` | the transports |
//!
//! # Memory ordering
//! | label | release side | acquire side | what it publishes |
//! |---|---|---|---|
//! | N4 | `Progress::record_delivered` | `Progress::is_drained` | the packets in the lanes |
//!
//! # Invariants
//! 1. With every transport, the bytes that a node has been sent and has not received are bounded:
//!    by the capacity of lanes, of the system's socket buffers, or of the outboxes of MPI. A sender
//!    without space gets [`SendError::Full`](crate::SendError::Full).

mod inbound;
mod interface;
mod memory;
#[cfg(feature = "mpi")]
mod mpi;
mod progress;
mod share;
mod sockets;

use std::sync::Arc;

use crate::address::{NodeId, Shape};
use crate::clock_difference::ClockDifference;
use crate::connection::Rights;
use crate::control::Controls;
use crate::error::NetError;
use crate::gets::Gets;
use crate::kind::TransportKind;
use crate::mapped::Region;

pub(crate) use inbound::Reply;
pub(crate) use interface::{Capabilities, Link, Notice, Outgoing, Stream, Transport};
pub(crate) use progress::Progress;
pub(crate) use share::Share;

/// The parts from which a node is assembled.
#[derive(Debug)]
pub(crate) struct Parts {
    pub(crate) me: NodeId,
    pub(crate) shape: Shape,
    pub(crate) own: Arc<Region>,
    pub(crate) rights: Arc<Rights>,
    /// The rights of all nodes if they are in this process, so that their memory need not be
    /// mapped; otherwise empty.
    pub(crate) all_rights: Vec<Arc<Rights>>,
    pub(crate) transport: Box<dyn Transport>,
    pub(crate) capabilities: Capabilities,
    pub(crate) controls: Controls,
    /// The reads by the ports of this node that are on their way in packets.
    pub(crate) gets: Arc<Gets>,
}

/// Connects this process, which MPI has started, to the others. All of them have to call this. Also
/// returns the difference between the clocks of the first process and this one.
///
/// # Errors
/// [`NetError::NotByMpi`] if MPI has not started this process, and others of
/// [`Launch::start`](crate::Launch::start).
#[cfg(feature = "mpi")]
pub(crate) fn join_ranks(
    kind: TransportKind,
    shape: Shape,
) -> Result<(Parts, ClockDifference), NetError> {
    if crate::kind::ranks::count().is_none() {
        return Err(NetError::NotByMpi(shape.nodes));
    }
    mpi::join(shape, kind == TransportKind::MpiMessages)
}

/// Returns [`NetError::WithoutMpi`], because this program was built without MPI.
#[cfg(not(feature = "mpi"))]
pub(crate) fn join_ranks(
    _kind: TransportKind,
    _shape: Shape,
) -> Result<(Parts, ClockDifference), NetError> {
    Err(NetError::WithoutMpi)
}
