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
//!    without space gets [`SendError::Full`].

mod inbound;
mod memory;
#[cfg(feature = "mpi")]
mod mpi;
mod progress;
mod share;
mod sockets;

use std::fmt;
use std::os::fd::OwnedFd;
use std::sync::Arc;
use std::time::Duration;

use raddle_sync::hand_over::Reader;

use crate::address::{NodeId, PortId, Shape};
use crate::connection::Rights;
use crate::control::Controls;
use crate::error::{NetError, SendError};
use crate::kind::TransportKind;
use crate::mapped::Region;
use crate::packet::Kind;
use crate::watch::Silence;

pub(crate) use progress::Progress;
pub(crate) use share::Share;

/// A node's access to the other nodes.
///
/// A transport by which all nodes share memory has only [`link`](Self::link): it needs no pumping,
/// and nothing to end.
pub(crate) trait Transport: fmt::Debug + Send + Sync {
    /// Returns the link by which a port of this node sends to any port. It is called once for each
    /// pair of ports.
    fn link(&self, from: PortId, to: PortId) -> Box<dyn Link>;

    /// Writes packets that have arrived into the lanes of this node, unless another thread is
    /// doing so. Returns true if there were any.
    ///
    /// Updates the [`Progress`] of the [`Capabilities`].
    fn pump(&self) -> bool {
        false
    }

    /// Sends nothing more to a node, because this node leaves. Returns the number of packets sent
    /// to it, or [`Progress::UNKNOWN`] if the receiver sees the end of the packets by itself.
    fn close(&self, _node: NodeId) -> u64 {
        Progress::UNKNOWN
    }

    /// Ends the transport because this node has died, although its process may live on. Ends the
    /// other nodes if they cannot notice that by themselves.
    fn abort(&self) {}

    /// Ends the transport of a node that has left, once all nodes can end.
    ///
    /// # Errors
    /// [`NetError::Stays`] if another node has not left within the limit, [`NetError::Died`] if it
    /// never will, and, if there is a limit of silence, [`NetError::Silent`] if it does not answer.
    fn finish(
        &self,
        _controls: &Controls,
        _limit: Option<Duration>,
        _silence: Option<Silence>,
    ) -> Result<(), NetError> {
        Ok(())
    }

    /// Sends bytes to a node in place of a packet, for the fuzz target of the receiver. Returns
    /// false if the transport has no packets or no capacity.
    fn send_packet_raw(&self, _node: NodeId, _bytes: &[u8]) -> bool {
        false
    }
}

/// The path from one port to another.
pub(crate) trait Link: fmt::Debug + Send {
    /// Sends a message, and rings the receiver's doorbell if the message has one.
    fn send(&mut self, outgoing: Outgoing<'_>) -> Result<(), SendError>;
}

/// A message on its way out.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Outgoing<'a> {
    pub(crate) short: &'a [&'a [u8]],
    pub(crate) long: &'a [u8],
    /// The use of the long part at the receiver. If memory is shared, it has been put already.
    pub(crate) kind: Kind,
    pub(crate) doorbell: bool,
    /// The time at which the long part is read, for a sender that writes it to its final location.
    pub(crate) reader: Reader,
}

/// The properties of a transport that decide what the rest of the crate does for it.
#[derive(Debug)]
pub(crate) struct Capabilities {
    /// For each node, whether this node and that node write into each other's memory. Every node
    /// shares memory with itself.
    pub(crate) shares_memory: Vec<bool>,
    /// The way in which packets arrive. `None` if there are no packets, so that no thread has to
    /// pump.
    pub(crate) arrival: Option<Notice>,
    /// The counts of packets that have arrived.
    pub(crate) progress: Arc<Progress>,
}

/// The way in which a thread notices that there are packets to pump.
#[derive(Debug)]
pub(crate) enum Notice {
    /// These sockets, one for each node, become readable.
    Sockets(Vec<(NodeId, Arc<OwnedFd>)>),
    /// Nothing gives notice: a thread has to ask, for packets and for control frames.
    #[cfg_attr(
        not(feature = "mpi"),
        expect(dead_code, reason = "only transports between machines need it")
    )]
    Poll,
}

impl Capabilities {
    /// Returns the capabilities of a transport by which all nodes share memory.
    pub(crate) fn shared_memory(shape: Shape) -> Self {
        Self {
            shares_memory: vec![true; shape.nodes.into()],
            arrival: None,
            progress: Arc::new(Progress::new(shape, 0)),
        }
    }

    /// Returns true if this node and `node` write into each other's memory.
    #[inline]
    pub(crate) fn shares_memory_with(&self, node: NodeId) -> bool {
        self.shares_memory[usize::from(node.0)]
    }

    /// Returns true if a thread of this node has to pump.
    #[inline]
    pub(crate) const fn needs_pump(&self) -> bool {
        self.arrival.is_some()
    }

    /// Returns true if nothing gives notice of arriving packets and control frames.
    pub(crate) const fn needs_polling(&self) -> bool {
        matches!(self.arrival, Some(Notice::Poll))
    }

    /// Returns the sockets that become readable when there are packets to pump, except those that
    /// deliver nothing more.
    pub(crate) fn sockets(&self) -> impl Iterator<Item = &OwnedFd> {
        let all = match &self.arrival {
            Some(Notice::Sockets(sockets)) => &sockets[..],
            _ => &[],
        };
        let open = all
            .iter()
            .filter(|(node, _)| !self.progress.may_be_drained(*node));
        open.map(|(_, socket)| &**socket)
    }

    /// Returns true if all that `node` has sent is in the lanes. `node` has ended.
    pub(crate) fn is_drained(&self, node: NodeId) -> bool {
        self.shares_memory_with(node) || self.progress.is_drained(node)
    }
}

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
}

/// Connects this process, which MPI has started, to the others. All of them have to call this.
///
/// # Errors
/// [`NetError::NotByMpi`] if MPI has not started this process, and others of
/// [`Launch::start`](crate::Launch::start).
#[cfg(feature = "mpi")]
pub(crate) fn join_ranks(kind: TransportKind, shape: Shape) -> Result<Parts, NetError> {
    if crate::kind::ranks::count().is_none() {
        return Err(NetError::NotByMpi(shape.nodes));
    }
    mpi::join(shape, kind == TransportKind::MpiMessages)
}

/// Returns [`NetError::WithoutMpi`], because this program was built without MPI.
#[cfg(not(feature = "mpi"))]
pub(crate) fn join_ranks(_kind: TransportKind, _shape: Shape) -> Result<Parts, NetError> {
    Err(NetError::WithoutMpi)
}
