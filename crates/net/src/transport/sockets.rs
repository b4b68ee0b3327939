//! The transport by sockets, for nodes that share no memory. Each pair of nodes has a socket for
//! each [`Stream`], and each message is a packet in it.
//!
//! The sockets are unnamed ones of the Unix domain, and keep packets apart. Each end is used under
//! a lock: threads that send to a node take turns, and a thread that finds another one pumping
//! does not pump.

use std::os::fd::OwnedFd;
use std::sync::Arc;

use raddle_sync::prim::Mutex;
use rustix::io::{Errno, IoSlice, retry_on_intr};
use rustix::net::sockopt::{set_socket_send_buffer_size, socket_send_buffer_size};
use rustix::net::{
    RecvFlags, SendAncillaryBuffer, SendFlags, Shutdown, recv, send, sendmsg, shutdown,
};

use super::inbound::Inbound;
use super::memory::LaneLink;
use super::{Capabilities, Link, Notice, Outgoing, Progress, Stream, Transport};
use crate::address::{NodeId, PortId, Shape};
use crate::connection::Rights;
use crate::error::SendError;
use crate::gets::Gets;
use crate::mapped::Region;
use crate::packet::{Header, PACKET_BYTES_MAX};

/// The largest number of pieces of a short part.
const PIECES_MAX: usize = 4;
/// The capacity that a socket needs: a packet, and what the system stores along with it.
const HELD_BYTES: usize = PACKET_BYTES_MAX + 4096;

/// The sockets to all other nodes.
#[derive(Debug)]
pub(super) struct BySockets {
    shape: Shape,
    own: Arc<Region>,
    /// By node, and by stream.
    peers: Vec<Option<[Arc<Peer>; 2]>>,
    progress: Arc<Progress>,
}

/// The sockets to one other node, by stream.
pub(super) type Pair = [OwnedFd; 2];

/// One stream to and from one node.
#[derive(Debug)]
struct Peer {
    node: NodeId,
    stream: Stream,
    /// The index of the lock under which its packets are pumped.
    lock: usize,
    socket: Arc<OwnedFd>,
    /// The number of packets sent, modulo 2³².
    sent: Mutex<u32>,
    inbound: Mutex<Inbound>,
}

impl BySockets {
    pub(super) fn connect(
        shape: Shape,
        own: Arc<Region>,
        rights: &Arc<Rights>,
        gets: &Arc<Gets>,
        sockets: Vec<Option<Pair>>,
    ) -> (Box<dyn Transport>, Capabilities) {
        let peer = |node: NodeId, stream: Stream, socket| {
            let inbound = Inbound::new(stream, shape, node, &own, rights, gets);
            Arc::new(Peer {
                node,
                stream,
                lock: 2 * usize::from(node.0) + usize::from(stream == Stream::Reads),
                socket: Arc::new(socket),
                sent: Mutex::new(0),
                inbound: Mutex::new(inbound),
            })
        };
        let both = |(node, sockets): (NodeId, Option<Pair>)| {
            let [messages, reads] = sockets?;
            let messages = peer(node, Stream::Messages, messages);
            Some([messages, peer(node, Stream::Reads, reads)])
        };
        let peers: Vec<_> = shape.node_ids().zip(sockets).map(both).collect();
        let progress = Arc::new(Progress::new(shape, 2 * peers.len()));
        let notice = |peer: &Arc<Peer>| (peer.lock, Arc::clone(&peer.socket));
        let capabilities = Capabilities {
            // A node shares memory with itself alone.
            shares_memory: peers.iter().map(Option::is_none).collect(),
            arrival: Some(Notice::Sockets(
                peers.iter().flatten().flatten().map(notice).collect(),
            )),
            progress: Arc::clone(&progress),
        };
        let transport = Self {
            shape,
            own,
            peers,
            progress,
        };
        (Box::new(transport), capabilities)
    }
}

impl Peer {
    /// Pumps the packets that have arrived from this node. Returns true if there were any.
    fn pump(&self, progress: &Progress) -> bool {
        let Ok(mut inbound) = self.inbound.try_lock() else {
            // Another thread is pumping.
            return false;
        };
        let mut has_ended = false;
        let has_pumped = inbound.pump(|buffer| {
            let received = receive(&self.socket, buffer);
            if received == Some(0) {
                // The other end is closed, and all that it had sent is in the lanes.
                if self.stream == Stream::Messages {
                    progress.record_delivered(self.node, Progress::UNKNOWN);
                }
                progress.record_end(self.lock);
                has_ended = true;
            }
            received.filter(|&len| len > 0)
        });
        if has_ended {
            inbound.drop_answers();
        } else if inbound.has_answers() {
            inbound.send_answers(|to, outgoing| self.send(0, to, outgoing));
        }
        let is_stuck = inbound.is_stuck() || inbound.has_answers();
        progress.record_stuck(self.lock, is_stuck);
        has_pumped
    }

    /// Sends a packet from port `from` of this node to port `to` of the other.
    ///
    /// # Errors
    /// [`SendError::Full`], and [`SendError::Died`] if the system reports an error.
    fn send(&self, from: u16, to: u16, outgoing: Outgoing<'_>) -> Result<(), SendError> {
        let mut sent = self.sent.lock().expect("nothing panics under this lock");
        let header = Header {
            number: *sent,
            kind: outgoing.kind,
            doorbell: outgoing.doorbell,
            from,
            to,
        };
        let header = header.write(outgoing.short, outgoing.long);
        let mut pieces = [IoSlice::new(&[]); PIECES_MAX + 2];
        pieces[0] = IoSlice::new(&header);
        for (piece, short) in pieces[1..=PIECES_MAX].iter_mut().zip(outgoing.short) {
            *piece = IoSlice::new(short);
        }
        pieces[PIECES_MAX + 1] = IoSlice::new(outgoing.long);
        let flags = SendFlags::DONTWAIT | SendFlags::NOSIGNAL;
        let result = retry_on_intr(|| {
            let nothing = &mut SendAncillaryBuffer::default();
            sendmsg(&self.socket, &pieces, nothing, flags)
        });
        match result {
            Ok(_) => {
                *sent = sent.wrapping_add(1);
                Ok(())
            }
            Err(Errno::AGAIN | Errno::NOBUFS | Errno::NOMEM) => Err(SendError::Full),
            // The other end is closed. A moment later a control socket reports whether the node
            // has left or died. Until then there is no capacity.
            Err(Errno::PIPE | Errno::CONNRESET) => Err(SendError::Full),
            Err(_) => Err(SendError::Died(self.node)),
        }
    }
}

impl Transport for BySockets {
    fn link(&self, from: PortId, to: PortId) -> Box<dyn Link> {
        match &self.peers[usize::from(to.node.0)] {
            Some(peers) => Box::new(SocketLink {
                peers: peers.clone(),
                from: from.index,
                to: to.index,
            }),
            // A node sends to itself by memory.
            None => Box::new(LaneLink::new(
                Arc::clone(&self.own),
                self.shape,
                from,
                to.index,
            )),
        }
    }

    fn pump(&self) -> bool {
        let peers = self.peers.iter().flatten().flatten();
        let open = peers.filter(|peer| !self.progress.has_ended(peer.lock));
        open.fold(false, |any, peer| peer.pump(&self.progress) | any)
    }

    fn close(&self, node: NodeId) -> u64 {
        for peer in self.peers[usize::from(node.0)].iter().flatten() {
            // The other node can still receive what has been sent, and then sees the end, however
            // long this process lives on. An error means that it is gone, which does not matter.
            let _ = shutdown(&peer.socket, Shutdown::Write);
        }
        Progress::UNKNOWN
    }

    fn abort(&self) {
        let nodes = self.shape.node_ids();
        nodes.for_each(|node| {
            self.close(node);
        });
    }

    fn send_packet_raw(&self, node: NodeId, bytes: &[u8]) -> bool {
        let peers = self.peers[usize::from(node.0)].as_ref();
        let flags = SendFlags::DONTWAIT | SendFlags::NOSIGNAL;
        peers.is_some_and(|[messages, _]| send(&messages.socket, bytes, flags).is_ok())
    }
}

/// Receives a packet, and returns its length. Returns 0 if no further packet will arrive, and
/// `None` if no packet has arrived.
fn receive(socket: &OwnedFd, buffer: &mut [u8]) -> Option<usize> {
    let received = retry_on_intr(|| recv(socket, &mut *buffer, RecvFlags::DONTWAIT));
    match received {
        Ok((len, _)) => Some(len),
        Err(Errno::AGAIN | Errno::NOBUFS | Errno::NOMEM) => None,
        Err(_) => Some(0),
    }
}

/// Gives a socket the capacity for the longest packet: the system refuses a packet that is longer
/// than the capacity.
pub(super) fn allow_packets(socket: &OwnedFd) -> Result<(), Errno> {
    if socket_send_buffer_size(socket)? >= HELD_BYTES {
        return Ok(());
    }
    // The system doubles the size, and limits it.
    set_socket_send_buffer_size(socket, HELD_BYTES)?;
    if socket_send_buffer_size(socket)? >= HELD_BYTES {
        Ok(())
    } else {
        Err(Errno::NOBUFS)
    }
}

/// The path from one port to another, by sockets that other pairs of ports use, too.
#[derive(Debug)]
struct SocketLink {
    peers: [Arc<Peer>; 2],
    from: u16,
    to: u16,
}

impl Link for SocketLink {
    fn send(&mut self, outgoing: Outgoing<'_>) -> Result<(), SendError> {
        let [messages, reads] = &self.peers;
        let peer = match Stream::of(outgoing.kind) {
            Stream::Messages => messages,
            Stream::Reads => reads,
        };
        peer.send(self.from, self.to, outgoing)
    }
}
