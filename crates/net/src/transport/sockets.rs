//! Nodes that share nothing: each two have a socket of their own, and each message is a packet in it.
//!
//! The socket is one of the unix domain without a name, and keeps packets apart. Both ends are held under a lock: of those who send to a node one after the
//! other, and of those who pump the first to come.

use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::sync::Arc;

use raddle_sync::prim::{Acquire, AtomicBool, Mutex, Relaxed, Release};
use rustix::io::{Errno, IoSlice, retry_on_intr};
use rustix::net::sockopt::{set_socket_send_buffer_size, socket_send_buffer_size};
use rustix::net::{
    RecvFlags, SendAncillaryBuffer, SendFlags, Shutdown, recv, send, sendmsg, shutdown,
};

use super::inbound::Inbound;
use super::memory::LaneLink;
use super::{Link, Outgoing, Transport};
use crate::address::{NodeId, PortId, Shape};
use crate::connection::Rights;
use crate::error::SendError;
use crate::mapped::Region;
use crate::packet::{Header, PACKET_BYTES_MAX};

/// Pieces of a short part, at most.
const PIECES_MAX: usize = 4;
/// What a socket has to hold: a packet, and what the system writes beside it.
const HELD_BYTES: usize = PACKET_BYTES_MAX + 4096;

/// Sockets to all other nodes.
#[derive(Debug)]
pub(crate) struct BySockets {
    shape: Shape,
    own: Arc<Region>,
    ways: Vec<Option<Arc<Way>>>,
}

/// The socket to one node.
#[derive(Debug)]
struct Way {
    socket: OwnedFd,
    /// The other end is closed, and all that it had sent is in the lanes.
    is_drained: AtomicBool,
    /// The packet that came last has found no room yet.
    is_stuck: AtomicBool,
    /// Packets sent, modulo 2³².
    sent: Mutex<u32>,
    inbound: Mutex<Inbound>,
}

impl BySockets {
    pub(crate) fn new(
        shape: Shape,
        own: Arc<Region>,
        rights: &Arc<Rights>,
        sockets: Vec<Option<OwnedFd>>,
    ) -> Self {
        let way = |(node, socket): (NodeId, Option<OwnedFd>)| {
            Some(Arc::new(Way {
                socket: socket?,
                is_drained: AtomicBool::new(false),
                is_stuck: AtomicBool::new(false),
                sent: Mutex::new(0),
                inbound: Mutex::new(Inbound::new(shape, node, &own, rights)),
            }))
        };
        let ways = shape.node_ids().zip(sockets).map(way).collect();
        Self { shape, own, ways }
    }
}

impl Way {
    /// Pumps what has come from its node; true when there was something.
    fn pump(&self) -> bool {
        let Ok(mut inbound) = self.inbound.try_lock() else {
            // Somebody does it already.
            return false;
        };
        let has_pumped = inbound.pump(|buffer| {
            let received = receive(&self.socket, buffer);
            if received == Some(0) {
                // ORDERING(N4): Release, its messages are in the lanes.
                self.is_drained.store(true, Release);
            }
            received.filter(|&len| len > 0)
        });
        // Relaxed: a hint for the listening thread, which has pumped itself before it looks or has found another pumping.
        self.is_stuck.store(inbound.is_stuck(), Relaxed);
        has_pumped
    }
}

impl Transport for BySockets {
    fn link(&self, from: PortId, to: PortId) -> Box<dyn Link> {
        match &self.ways[usize::from(to.node.0)] {
            Some(way) => Box::new(SocketLink {
                way: Arc::clone(way),
                from: from.index,
                to,
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

    fn shares_memory_with(&self, node: NodeId) -> bool {
        // With itself.
        self.ways[usize::from(node.0)].is_none()
    }

    fn pump(&self) -> bool {
        let ways = self.ways.iter().flatten();
        // Relaxed: as in `sockets`.
        let open = ways.filter(|way| !way.is_drained.load(Relaxed));
        open.fold(false, |any, way| way.pump() | any)
    }

    fn sockets(&self) -> Vec<BorrowedFd<'_>> {
        // Relaxed: an end of a socket that is not known yet is found by a pump.
        let open = self
            .ways
            .iter()
            .flatten()
            .filter(|way| !way.is_drained.load(Relaxed));
        open.map(|way| way.socket.as_fd()).collect()
    }

    fn is_stuck(&self) -> bool {
        let mut ways = self.ways.iter().flatten();
        // Relaxed: as in `pump`.
        ways.any(|way| way.is_stuck.load(Relaxed))
    }

    fn is_drained(&self, node: NodeId) -> bool {
        let way = self.ways[usize::from(node.0)].as_ref();
        // ORDERING(N4): Acquire, the lanes are looked at after it.
        way.is_none_or(|way| way.is_drained.load(Acquire))
    }

    fn close(&self, node: NodeId) -> u64 {
        if let Some(way) = &self.ways[usize::from(node.0)] {
            // What has been sent can still be received, and its end be seen, be this process there for long. Of one that is gone nobody need know.
            let _ = shutdown(&way.socket, Shutdown::Write);
        }
        0
    }

    fn is_pumped(&self) -> bool {
        true
    }

    fn abort(&self) {
        let nodes = self.shape.node_ids();
        nodes.for_each(|node| {
            self.close(node);
        });
    }

    fn send_bytes(&self, node: NodeId, bytes: &[u8]) -> bool {
        let way = self.ways[usize::from(node.0)].as_ref();
        let flags = SendFlags::DONTWAIT | SendFlags::NOSIGNAL;
        let send = |way: &Arc<Way>| send(&way.socket, bytes, flags);
        way.is_some_and(|way| send(way).is_ok())
    }
}

/// Receives a packet, and returns its bytes; 0 where none will come any more, none where none has.
fn receive(socket: &OwnedFd, buffer: &mut [u8]) -> Option<usize> {
    let received = retry_on_intr(|| recv(socket, &mut *buffer, RecvFlags::DONTWAIT));
    match received {
        Ok((len, _)) => Some(len),
        Err(Errno::AGAIN | Errno::NOBUFS | Errno::NOMEM) => None,
        Err(_) => Some(0),
    }
}

/// Lets a socket hold the longest packet: the system refuses one that is longer than what it holds for the receiver.
pub(crate) fn allow_packets(socket: &OwnedFd) -> Result<(), Errno> {
    if socket_send_buffer_size(socket)? >= HELD_BYTES {
        return Ok(());
    }
    // The system takes twice as much, and what it allows at most.
    set_socket_send_buffer_size(socket, HELD_BYTES)?;
    if socket_send_buffer_size(socket)? >= HELD_BYTES {
        Ok(())
    } else {
        Err(Errno::NOBUFS)
    }
}

/// The way from one port to another, beside those of others in the same socket.
#[derive(Debug)]
struct SocketLink {
    way: Arc<Way>,
    from: u16,
    to: PortId,
}

impl Link for SocketLink {
    fn send(&mut self, outgoing: Outgoing<'_>) -> Result<(), SendError> {
        let mut sent = self
            .way
            .sent
            .lock()
            .expect("nothing panics under this lock");
        let header = Header {
            number: *sent,
            kind: outgoing.kind,
            doorbell: outgoing.doorbell,
            from: self.from,
            to: self.to.index,
        };
        let header = header.write(outgoing.short, outgoing.long);
        let mut pieces = [IoSlice::new(&[]); PIECES_MAX + 2];
        pieces[0] = IoSlice::new(&header);
        for (piece, short) in pieces[1..=PIECES_MAX].iter_mut().zip(outgoing.short) {
            *piece = IoSlice::new(short);
        }
        pieces[PIECES_MAX + 1] = IoSlice::new(outgoing.long);
        let flags = SendFlags::DONTWAIT | SendFlags::NOSIGNAL;
        let told = retry_on_intr(|| {
            let nothing = &mut SendAncillaryBuffer::default();
            sendmsg(&self.way.socket, &pieces, nothing, flags)
        });
        match told {
            Ok(_) => {
                *sent = sent.wrapping_add(1);
                Ok(())
            }
            Err(Errno::AGAIN | Errno::NOBUFS | Errno::NOMEM) => Err(SendError::Full),
            // The other end is closed. Whether its node has left or died is heard in a moment; until then there is no room.
            Err(Errno::PIPE | Errno::CONNRESET) => Err(SendError::Full),
            Err(_) => Err(SendError::Died(self.to.node)),
        }
    }
}
