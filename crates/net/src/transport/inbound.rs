//! What comes from one node in packets: from there they go into the lanes of this node, in order, as the node has allowed them.

use std::collections::HashMap;
use std::collections::hash_map::Entry;
use std::sync::Arc;

use raddle_sync::hand_over::Reader;

use super::memory::LaneLink;
use super::{Link, Outgoing};
use crate::address::{NodeId, PortId, Shape};
use crate::connection::{ConnectionView, Refusal, Rights};
use crate::descriptor::Descriptor;
use crate::error::SendError;
use crate::mapped::Region;
use crate::packet::{Kind, PACKET_BYTES_MAX, Packet};

/// Packets that are taken from one node before the next has its turn.
const TURN: usize = 16;

/// What comes from one node.
#[derive(Debug)]
pub(crate) struct Inbound {
    node: NodeId,
    shape: Shape,
    own: Arc<Region>,
    rights: Arc<Rights>,
    buffer: Vec<u8>,
    /// The packet in the buffer that its lane had no room for.
    stuck: Option<usize>,
    /// Packets received, modulo 2³².
    received: u32,
    view: ConnectionView,
    lanes: HashMap<(u16, u16), LaneLink>,
}

impl Inbound {
    /// Nothing has come from `node` yet; what does goes to `own`, as far as `rights` allow it.
    pub(crate) fn new(shape: Shape, node: NodeId, own: &Arc<Region>, rights: &Arc<Rights>) -> Self {
        Self {
            node,
            shape,
            own: Arc::clone(own),
            rights: Arc::clone(rights),
            buffer: vec![0; PACKET_BYTES_MAX],
            stuck: None,
            received: 0,
            view: ConnectionView::default(),
            lanes: HashMap::new(),
        }
    }

    /// Writes into the lanes what `receive` has: it writes a packet into the buffer, and returns its bytes, none where none has come.
    ///
    /// Returns true when there was something. Ends when a lane has no room, or the next node has its turn.
    pub(crate) fn pump(&mut self, mut receive: impl FnMut(&mut [u8]) -> Option<usize>) -> bool {
        for count in 0..TURN {
            let found = match self.stuck.take() {
                Some(len) => Some(len),
                None => receive(&mut self.buffer),
            };
            let Some(len) = found else {
                return count > 0;
            };
            if self.deliver(len).is_err() {
                self.stuck = Some(len);
                return count > 0;
            }
        }
        true
    }

    /// True while the packet that came last has found no room.
    pub(crate) const fn is_stuck(&self) -> bool {
        self.stuck.is_some()
    }

    /// Writes the packet in the buffer into the lane of whom it is for; an error where that has no room.
    fn deliver(&mut self, len: usize) -> Result<(), SendError> {
        let Some(packet) = Packet::read(&self.buffer[..len]) else {
            self.rights.count_refused(Refusal::Malformed);
            return Ok(());
        };
        let header = packet.header;
        let is_next = header.number == self.received;
        if !is_next || header.from >= self.shape.ports || header.to >= self.shape.ports {
            // One that is missing is counted when the next comes, and so is one that comes again.
            self.received = header.number.wrapping_add(1);
            self.rights.count_refused(Refusal::Malformed);
            return Ok(());
        }
        if header.kind != Kind::Message
            && let Err(refusal) = put(&mut self.view, &self.rights, self.node, &packet)
        {
            self.received = header.number.wrapping_add(1);
            self.rights.count_refused(refusal);
            return Ok(());
        }
        if header.kind == Kind::Part {
            self.received = header.number.wrapping_add(1);
            return Ok(());
        }
        let lane = match self.lanes.entry((header.from, header.to)) {
            Entry::Occupied(lane) => lane.into_mut(),
            Entry::Vacant(place) => {
                let from = PortId {
                    node: self.node,
                    index: header.from,
                };
                let own = Arc::clone(&self.own);
                place.insert(LaneLink::new(own, self.shape, from, header.to))
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
        .write(window.bytes.start as usize, packet.long);
    Ok(())
}
