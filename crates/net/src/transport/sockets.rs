//! Nodes that share nothing: each two have a socket of their own, and each message is a packet in it.
//!
//! The socket is one of the unix domain without a name, and keeps packets apart. Both ends are held under a lock: of those who send to a node one after the
//! other, and of those who pump the first to come.

use std::collections::HashMap;
use std::collections::hash_map::Entry;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::sync::Arc;

use raddle_sync::hand_over::Reader;
use raddle_sync::prim::{Acquire, AtomicBool, Mutex, Relaxed, Release};
use rustix::io::{Errno, IoSlice, retry_on_intr};
use rustix::net::{RecvFlags, SendAncillaryBuffer, SendFlags, recv, sendmsg};

use super::memory::LaneLink;
use super::{Link, Outgoing, Transport};
use crate::address::{NodeId, PortId, Shape};
use crate::connection::{ConnectionView, Refusal, Rights};
use crate::descriptor::Descriptor;
use crate::error::SendError;
use crate::mapped::Region;
use crate::packet::{Header, Kind, PACKET_BYTES_MAX, Packet};

/// Packets that are pumped from one socket before the next has its turn.
const TURN: usize = 16;
/// Pieces of a short part, at most.
const PIECES_MAX: usize = 4;

/// Sockets to all other nodes.
#[derive(Debug)]
pub(crate) struct BySockets {
    shape: Shape,
    own: Arc<Region>,
    rights: Arc<Rights>,
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

/// What comes from one node.
#[derive(Debug)]
struct Inbound {
    buffer: Vec<u8>,
    /// The packet in the buffer that its lane had no room for.
    stuck: Option<usize>,
    /// Packets received, modulo 2³².
    received: u32,
    view: ConnectionView,
    lanes: HashMap<(u16, u16), LaneLink>,
}

impl BySockets {
    pub(crate) fn new(
        shape: Shape,
        own: Arc<Region>,
        rights: Arc<Rights>,
        sockets: Vec<Option<OwnedFd>>,
    ) -> Self {
        let way = |socket| {
            Arc::new(Way {
                socket,
                is_drained: AtomicBool::new(false),
                is_stuck: AtomicBool::new(false),
                sent: Mutex::new(0),
                inbound: Mutex::new(Inbound {
                    buffer: vec![0; PACKET_BYTES_MAX],
                    stuck: None,
                    received: 0,
                    view: ConnectionView::default(),
                    lanes: HashMap::new(),
                }),
            })
        };
        Self {
            shape,
            own,
            rights,
            ways: sockets.into_iter().map(|socket| socket.map(way)).collect(),
        }
    }

    /// Pumps what has come from one node; true when there was something.
    fn pump_way(&self, node: NodeId, way: &Way) -> bool {
        let Ok(mut inbound) = way.inbound.try_lock() else {
            // Somebody does it already.
            return false;
        };
        for count in 0..TURN {
            let len = match inbound.stuck.take() {
                Some(len) => len,
                None => match receive(&way.socket, &mut inbound.buffer) {
                    Some(0) => {
                        // ORDERING(N4): Release, its messages are in the lanes.
                        way.is_drained.store(true, Release);
                        return count > 0;
                    }
                    Some(len) => len,
                    None => return count > 0,
                },
            };
            let is_stuck = inbound.deliver(self, node, len).is_err();
            // Relaxed: a hint for the listening thread, which has pumped itself before it looks or has found another pumping.
            way.is_stuck.store(is_stuck, Relaxed);
            if is_stuck {
                inbound.stuck = Some(len);
                return count > 0;
            }
        }
        true
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

    fn pump(&self) -> bool {
        let ways = self.shape.node_ids().zip(&self.ways);
        let open = ways.filter_map(|(node, way)| Some((node, way.as_ref()?)));
        // Relaxed: as in `sockets`.
        let open = open.filter(|(_, way)| !way.is_drained.load(Relaxed));
        open.fold(false, |any, (node, way)| self.pump_way(node, way) | any)
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
        // Relaxed: as in `pump_way`.
        ways.any(|way| way.is_stuck.load(Relaxed))
    }

    fn is_drained(&self, node: NodeId) -> bool {
        let way = self.ways[usize::from(node.0)].as_ref();
        // ORDERING(N4): Acquire, the lanes are looked at after it.
        way.is_none_or(|way| way.is_drained.load(Acquire))
    }

    fn is_pumped(&self) -> bool {
        true
    }
}

impl Inbound {
    /// Writes the packet in the buffer into the lane of whom it is for; an error where that has no room.
    fn deliver(&mut self, all: &BySockets, node: NodeId, len: usize) -> Result<(), SendError> {
        let Some(packet) = Packet::read(&self.buffer[..len]) else {
            all.rights.count_refused(Refusal::Malformed);
            return Ok(());
        };
        let header = packet.header;
        let is_next = header.number == self.received;
        if !is_next || header.from >= all.shape.ports || header.to >= all.shape.ports {
            // One that is missing is counted when the next comes, and so is one that comes again.
            self.received = header.number.wrapping_add(1);
            all.rights.count_refused(Refusal::Malformed);
            return Ok(());
        }
        if header.kind != Kind::Message
            && let Err(refusal) = put(&mut self.view, &all.rights, node, &packet)
        {
            self.received = header.number.wrapping_add(1);
            all.rights.count_refused(refusal);
            return Ok(());
        }
        if header.kind == Kind::Part {
            self.received = header.number.wrapping_add(1);
            return Ok(());
        }
        let lane = match self.lanes.entry((header.from, header.to)) {
            Entry::Occupied(lane) => lane.into_mut(),
            Entry::Vacant(place) => {
                let index = header.from;
                let from = PortId { node, index };
                place.insert(LaneLink::new(
                    Arc::clone(&all.own),
                    all.shape,
                    from,
                    header.to,
                ))
            }
        };
        lane.send(Outgoing {
            short: &[packet.short],
            long: packet.long,
            kind: header.kind,
            doorbell: header.doorbell,
            // Most often whoever pumps.
            reader: Reader::Here,
        })?;
        self.received = header.number.wrapping_add(1);
        Ok(())
    }
}

/// Puts the long part of a packet where its descriptor says, if that is allowed.
fn put(
    view: &mut ConnectionView,
    rights: &Rights,
    node: NodeId,
    packet: &Packet<'_>,
) -> Result<(), Refusal> {
    let (descriptor, ..) = Descriptor::read(packet.short)?;
    let window = view.check(rights, node, &descriptor)?;
    let window = window.ok_or(Refusal::Malformed)?;
    if window.bytes.end - window.bytes.start != packet.long.len() as u64 {
        return Err(Refusal::Malformed);
    }
    // Within the segment, which is memory of this process.
    window
        .memory
        .write(window.bytes.start as usize, packet.long, Reader::Here);
    Ok(())
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
            // Whether it has left or died will be heard in a moment.
            Err(_) => Err(SendError::Died(self.to.node)),
        }
    }
}
