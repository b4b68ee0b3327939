//! The interface of a transport to the rest of the crate: what it does, and what has to be done for
//! it.

use std::fmt;
use std::os::fd::OwnedFd;
use std::sync::Arc;
use std::time::Duration;

use raddle_sync::hand_over::Reader;

use super::progress::Progress;
use crate::address::{NodeId, PortId, Shape};
use crate::control::Controls;
use crate::error::{NetError, SendError};
use crate::failure_detector::Silence;
use crate::packet::Kind;

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

/// The packets from one node to another travel in two streams, each of which is in order.
///
/// A packet of the first stream waits while its lane has no space. If requests travelled behind it,
/// a thread that waits for an answer, and receives no messages meanwhile, could wait for ever. The
/// second stream never waits for a thread of the program: the number of requests is bounded, and an
/// answer goes to memory that waits for it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Stream {
    /// Messages and puts.
    Messages,
    /// Requests to read memory, and their answers.
    Reads,
}

impl Stream {
    /// Both streams.
    #[cfg(feature = "mpi")]
    pub(crate) const ALL: [Self; 2] = [Self::Messages, Self::Reads];

    /// Returns the stream for a packet that is no answer.
    pub(crate) const fn of(kind: Kind) -> Self {
        match kind {
            Kind::Message | Kind::Put | Kind::Part => Self::Messages,
            Kind::Get | Kind::Got => Self::Reads,
        }
    }
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
    /// Packets have arrived when one of these sockets becomes readable. Each has the index of the
    /// lock under which its packets are pumped.
    Sockets(Vec<(usize, Arc<OwnedFd>)>),
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
            .filter(|(lock, _)| !self.progress.has_ended(*lock));
        open.map(|(_, socket)| &**socket)
    }

    /// Returns true if all that `node` has sent is in the lanes. `node` has ended.
    pub(crate) fn is_drained(&self, node: NodeId) -> bool {
        self.shares_memory_with(node) || self.progress.is_drained(node)
    }
}
