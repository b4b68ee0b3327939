//! The packets of one [`Stream`] that arrive from one node. They are checked against the rights of
//! this node and written into its lanes, in order. Requests for bytes of this node's segments are
//! answered (`answers`), and answers to the requests of this node are written to their places
//! (`gets`).

mod answers;

use std::collections::HashMap;
use std::collections::hash_map::Entry;
use std::sync::Arc;

use raddle_sync::hand_over::Reader;

use self::answers::{Answer, Answers};
use super::memory::LaneLink;
use super::{Link, Outgoing, Stream};
use crate::access::Access;
use crate::address::{NodeId, PortId, Shape};
use crate::connection::{ConnectionView, Place, Rights};
use crate::descriptor::Descriptor;
use crate::error::{Refusal, SendError};
use crate::gets::{Gets, Token};
use crate::mapped::Region;
use crate::packet::{Kind, PACKET_BYTES_MAX, Packet};

pub(crate) use self::answers::Reply;

/// The number of packets that are received from one node before the next node has its turn.
const TURN: usize = 16;

/// The largest distance of a packet's number from the expected one. A number that is further ahead
/// belongs to an old packet.
const AHEAD_MAX: u32 = u32::MAX / 2;

/// The packets from one node.
#[derive(Debug)]
pub(super) struct Inbound {
    stream: Stream,
    node: NodeId,
    shape: Shape,
    own: Arc<Region>,
    rights: Arc<Rights>,
    gets: Arc<Gets>,
    buffer: Vec<u8>,
    /// The length of the packet in the buffer, if its lane had no space for it.
    stuck: Option<usize>,
    /// The number of packets received, modulo 2³².
    received: u32,
    view: ConnectionView,
    lanes: HashMap<(u16, u16), LaneLink>,
    answers: Answers,
}

impl Inbound {
    /// Creates the receiver of the packets of a stream of `node`, which go to `own` if `rights`
    /// allow them.
    /// Answers to requests of this node go to the places that `gets` names.
    pub(super) fn new(
        stream: Stream,
        shape: Shape,
        node: NodeId,
        own: &Arc<Region>,
        rights: &Arc<Rights>,
        gets: &Arc<Gets>,
    ) -> Self {
        Self {
            stream,
            node,
            shape,
            own: Arc::clone(own),
            rights: Arc::clone(rights),
            gets: Arc::clone(gets),
            buffer: vec![0; PACKET_BYTES_MAX],
            stuck: None,
            received: 0,
            view: ConnectionView::default(),
            lanes: HashMap::new(),
            answers: Answers::new(shape),
        }
    }

    /// Writes the packets that `receive` fetches into the lanes. `receive` writes a packet into the
    /// buffer and returns its length, or returns `None` if no packet has arrived.
    ///
    /// Returns true if there were packets. Stops when a lane has no space, or when the next node
    /// has its turn.
    pub(super) fn pump(&mut self, mut receive: impl FnMut(&mut [u8]) -> Option<usize>) -> bool {
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

    /// Returns true while the last packet waits for space in its lane.
    pub(super) const fn is_stuck(&self) -> bool {
        self.stuck.is_some()
    }

    /// Returns true while an answer waits for space on its way.
    pub(super) fn has_answers(&self) -> bool {
        !self.answers.is_empty()
    }

    /// Sends the answers for which there is space. `send` sends a packet to a port of the other
    /// node.
    pub(super) fn send_answers(
        &mut self,
        send: impl FnMut(u16, Outgoing<'_>) -> Result<(), SendError>,
    ) {
        self.answers.send(send);
    }

    /// Drops the answers that wait, because the other node receives nothing more.
    pub(super) fn drop_answers(&mut self) {
        self.answers.clear();
    }

    /// Writes the packet in the buffer into the lane of its receiver.
    ///
    /// # Errors
    /// [`SendError::Full`] if the lane has no space.
    fn deliver(&mut self, len: usize) -> Result<(), SendError> {
        let Some(packet) = Packet::read(&self.buffer[..len]) else {
            self.rights.count_refused(Refusal::Malformed);
            return Ok(());
        };
        let header = packet.header;
        // Check the number, and count lost and repeated packets.
        match header.number.wrapping_sub(self.received) {
            0 => {}
            1..=AHEAD_MAX => {
                // The missing packets are counted once, and this packet is delivered regardless.
                self.received = header.number;
                self.rights.count_refused(Refusal::Malformed);
            }
            _ => {
                // A packet that has arrived before.
                self.rights.count_refused(Refusal::Malformed);
                return Ok(());
            }
        }
        // Check the ports.
        if header.from >= self.shape.ports || header.to >= self.shape.ports {
            self.received = header.number.wrapping_add(1);
            self.rights.count_refused(Refusal::Malformed);
            return Ok(());
        }
        // Put the long part into its segment, if it belongs there, and handle requests and answers,
        // which no port receives.
        let checked = (&mut self.view, &*self.rights, self.node);
        let handled = match header.kind {
            Kind::Message | Kind::Put if self.stream == Stream::Reads => Err(Refusal::Malformed),
            Kind::Message => Ok(()),
            Kind::Put | Kind::Part => put(checked, &packet).map(|_| ()),
            Kind::Get => answer_to(checked, &packet).and_then(|answer| self.answers.push(answer)),
            Kind::Got => put(checked, &packet).and_then(|token| {
                if !self.gets.complete(header.to, token) {
                    return Err(Refusal::Malformed);
                }
                self.own.ring(header.to.into());
                Ok(())
            }),
        };
        if let Err(refusal) = handled {
            self.received = header.number.wrapping_add(1);
            self.rights.count_refused(refusal);
            return Ok(());
        }
        if !matches!(header.kind, Kind::Message | Kind::Put) {
            self.received = header.number.wrapping_add(1);
            return Ok(());
        }
        // Write the message into its lane. If the lane is full, the whole packet is tried again
        // later. A put is then repeated, which writes the same bytes.
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
            // Usually the pumping thread itself.
            reader: Reader::Here,
        })?;
        self.received = header.number.wrapping_add(1);
        Ok(())
    }
}

/// The rights by which the packets of a node are checked, a copy of them, and the node.
type Checked<'a> = (&'a mut ConnectionView, &'a Rights, NodeId);

/// Puts the long part of a packet where its descriptor says. Returns the name of the read that it
/// may be the answer to.
///
/// # Errors
/// The [`Refusal`] if that is not allowed.
fn put((view, rights, node): Checked<'_>, packet: &Packet<'_>) -> Result<Token, Refusal> {
    let (descriptor, ..) = Descriptor::read(packet.short)?;
    let put = view.check(rights, node, &descriptor, Access::Put)?;
    let Place { window, bytes } = put.ok_or(Refusal::Malformed)?;
    if bytes.end - bytes.start != packet.long.len() as u64 {
        return Err(Refusal::Malformed);
    }
    // The offset lies within the segment, which is memory of this process, so it fits `usize`.
    window.memory.write(bytes.start as usize, packet.long);
    Ok(Token(descriptor.user))
}

/// Returns the answer to a request.
///
/// # Errors
/// The [`Refusal`] if it is not allowed.
fn answer_to((view, rights, node): Checked<'_>, packet: &Packet<'_>) -> Result<Answer, Refusal> {
    let (descriptor, metadata, _) = Descriptor::read(packet.short)?;
    let reply = Reply::read(metadata, descriptor.user)?;
    let found = view.check(rights, node, &descriptor, Access::Get)?;
    let Place { window, bytes } = found.ok_or(Refusal::Malformed)?;
    Ok(Answer {
        to: packet.header.from,
        reply,
        memory: Arc::clone(&window.memory),
        bytes,
        done: 0,
    })
}

#[cfg(test)]
mod tests {
    use std::collections::VecDeque;

    use proptest::prelude::*;
    use raddle_sync::lane::LaneReceiver;

    use super::*;
    use crate::packet::Header;

    const SHAPE: Shape = Shape { nodes: 2, ports: 1 };

    /// The receiving side at node 0 of the packets from node 1.
    struct Receiving {
        inbound: Inbound,
        lane: LaneReceiver,
        rights: Arc<Rights>,
    }

    impl Receiving {
        fn new() -> Self {
            let file = Region::create(SHAPE).expect("memory for a region");
            let own = Arc::new(Region::open(&file, SHAPE).expect("a valid region"));
            let rights = Arc::new(Rights::new(7));
            let gets = Arc::new(Gets::new(SHAPE));
            let from = PortId {
                node: NodeId(1),
                index: 0,
            };
            let lane = own.receiver(from, 0);
            Self {
                inbound: Inbound::new(Stream::Messages, SHAPE, NodeId(1), &own, &rights, &gets),
                lane: lane.expect("the lane is taken once"),
                rights,
            }
        }

        /// Pumps these packets, and returns the short parts of the messages that arrive.
        fn pump(&mut self, packets: impl IntoIterator<Item = Vec<u8>>) -> Vec<Vec<u8>> {
            let mut packets: VecDeque<_> = packets.into_iter().collect();
            let mut arrived = Vec::new();
            loop {
                let has_pumped = self.inbound.pump(|buffer| {
                    let packet = packets.pop_front()?;
                    buffer[..packet.len()].copy_from_slice(&packet);
                    Some(packet.len())
                });
                while let Ok(Some(short)) = self.lane.receive(|found| found.short.to_vec()) {
                    arrived.push(short);
                }
                if !has_pumped {
                    return arrived;
                }
            }
        }
    }

    fn packet(number: u32, kind: Kind, short: &[u8]) -> Vec<u8> {
        let header = Header {
            number,
            kind,
            doorbell: false,
            from: 0,
            to: 0,
        };
        [&header.write(&[short], &[])[..], short].concat()
    }

    // Regression: a packet that had been changed on its way also caused the loss of the next
    // packet, because that one did not have the expected number.
    #[test]
    fn a_packet_arrives_whatever_came_before_it() {
        let mut receiving = Receiving::new();
        let good = |number: u32| packet(number, Kind::Message, &[number as u8]);
        let mut changed = good(1);
        changed[25 - 1] ^= 1;
        let packets = [
            good(0),
            changed,
            good(2),
            good(0),
            good(2),
            good(5),
            good(3),
            good(6),
        ];
        let arrived = receiving.pump(packets);
        assert_eq!(arrived, [[0], [2], [5], [6]]);
        // The changed packet, its gap, three repeated or late ones, and the gap before number 5.
        assert_eq!(receiving.rights.refused(Refusal::Malformed), 6);
    }

    proptest! {
        #[test]
        fn packets_after_arbitrary_bytes_still_arrive(
            packets in prop::collection::vec(prop_oneof![
                prop::collection::vec(any::<u8>(), 0..300),
                (any::<u32>(), 16_u8..21, prop::collection::vec(any::<u8>(), 0..100)).prop_map(
                    |(number, kind, short)| {
                        let kind = Kind::of(kind).expect("one of the kinds");
                        packet(number % 20, kind, &short)
                    }
                ),
            ], 0..40),
        ) {
            let mut receiving = Receiving::new();
            let count = packets.len() as u64;
            let arrived = receiving.pump(packets).len() as u64;
            let refused = Refusal::ALL.map(|reason| receiving.rights.refused(reason));
            let refused = refused.iter().sum::<u64>();
            prop_assert!(arrived + refused >= count, "{arrived} of {count}, {refused} refused");
            let after = receiving.pump([packet(1_000, Kind::Message, b"after")]);
            prop_assert_eq!(after, [b"after"]);
        }
    }
}
