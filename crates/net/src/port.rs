//! Ports: where one thread of a node sends from, and where it receives and waits.

mod put;

use std::ops::Range;
use std::sync::Arc;
use std::time::Duration;

use raddle_sync::hand_over::{Copier, Reader, fetch};
use raddle_sync::lane::{LONG_MAX, LaneReceiver, SHORT_MAX};
use raddle_sync::prim::{Acquire, Instant, spin_loop};
use raddle_sync::wait::{SpinBudget, WaitCell, Way};

use crate::address::{NodeId, PortId};
use crate::connection::{ConnectionView, Place, Refusal};
use crate::descriptor::{DESCRIPTOR_BYTES, Descriptor, Flags};
use crate::error::{NetError, SendError};
use crate::mapped::WORDS;
use crate::node::{Ended, Shared};
use crate::packet::Kind;
use crate::segment::{Remote, SegmentId};
use crate::transport::{Link, Outgoing};

pub use self::put::Put;

/// The longest metadata of a message.
pub const METADATA_MAX: usize = SHORT_MAX - DESCRIPTOR_BYTES;
const _: () = assert!(
    METADATA_MAX <= u8::MAX as usize,
    "its length is a byte of the descriptor"
);
/// The most data that a message takes along; more are put into segments.
pub const DATA_MAX: usize = LONG_MAX;

/// Messages that are taken from one lane before the next has its turn.
const TURN: usize = 16;

/// One thread's access to the network: it sends to ports of all nodes, and receives what they send to it.
///
/// Messages of one port to another arrive once and in order. Sending and receiving take no lock and make no system call, but for waking who sleeps.
#[derive(Debug)]
pub struct Port {
    shared: Arc<Shared>,
    id: PortId,
    /// The way to each port of the program that was sent to.
    out: Vec<Option<Box<dyn Link>>>,
    /// The ways from those that have begun to send.
    lanes: Vec<(PortId, LaneReceiver)>,
    /// Whose bits were seen.
    known: [u64; WORDS],
    view: ConnectionView,
    /// Which nodes' ends have been told, and at what count of changes there was nothing more to tell.
    told: Vec<bool>,
    changes: u32,
    budget: SpinBudget,
    /// For what is put into segments.
    copier: Copier,
    /// A copy of data from a segment, while they are sent as a packet.
    packet_data: Vec<u8>,
}

/// What is sent besides data.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Message<'a> {
    /// What happens where it arrives.
    pub flags: Flags,
    /// For the program to use as it likes.
    pub user: u32,
    /// Up to [`METADATA_MAX`] bytes that arrive beside it.
    pub metadata: &'a [u8],
}

/// A message that has come.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Arrival<'a> {
    /// Who has sent it.
    pub from: PortId,
    /// What is sent besides data.
    pub message: Message<'a>,
    /// The data.
    pub data: Data<'a>,
}

/// Where the data of a message are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Data<'a> {
    /// Here, until the next message is received.
    Here(&'a [u8]),
    /// Put into a segment of this node.
    Put {
        /// Which.
        segment: SegmentId,
        /// Where.
        start: usize,
        /// How many.
        len: usize,
    },
}

impl Data<'_> {
    /// The bytes of the segment in which they are; none where they are here.
    pub fn range(&self) -> Option<Range<usize>> {
        match *self {
            Self::Here(_) => None,
            Self::Put { start, len, .. } => Some(start..start + len),
        }
    }
}

impl Port {
    pub(crate) fn new(shared: Arc<Shared>, id: PortId) -> Self {
        let count = shared.shape.port_count();
        Self {
            id,
            out: (0..count).map(|_| None).collect(),
            lanes: Vec::new(),
            known: [0; WORDS],
            view: ConnectionView::default(),
            told: vec![false; shared.shape.nodes.into()],
            changes: 0,
            budget: SpinBudget::default(),
            copier: Copier::default(),
            packet_data: Vec::new(),
            shared,
        }
    }

    /// Which it is.
    pub const fn id(&self) -> PortId {
        self.id
    }

    /// Sends a message, with data that are copied once, to where the receiver reads them.
    ///
    /// # Errors
    /// [`SendError::Full`] while the receiver is behind; [`SendError::Died`], [`SendError::Left`] and [`SendError::Silent`]; [`SendError::TooLong`].
    /// # Panics
    /// When there is no such port.
    #[inline]
    pub fn send(&mut self, to: PortId, message: Message<'_>, data: &[u8]) -> Result<(), SendError> {
        let descriptor = Descriptor {
            connection: 0,
            flags: message.flags,
            metadata_len: 0,
            user: message.user,
            key: self.shared.rights.key,
            put: None,
        };
        self.send_by(to, descriptor, message.metadata, data)
    }

    #[inline]
    fn send_by(
        &mut self,
        to: PortId,
        descriptor: Descriptor,
        metadata: &[u8],
        data: &[u8],
    ) -> Result<(), SendError> {
        check_len("metadata", metadata.len(), METADATA_MAX)?;
        let is_put = descriptor.put.is_some();
        if !is_put {
            check_len("data", data.len(), DATA_MAX)?;
        }
        let descriptor = Descriptor {
            // At most `METADATA_MAX`, which a byte holds.
            metadata_len: metadata.len() as u8,
            ..descriptor
        };
        let head = descriptor.write();
        // Few data go beside the metadata: often that is one cache line for all.
        let is_short = !is_put && metadata.len() + data.len() <= METADATA_MAX;
        let (beside, long) = if is_short {
            (data, &[][..])
        } else {
            (&[][..], data)
        };
        let sent = self.link_to(to)?.send(Outgoing {
            short: &[&head, metadata, beside],
            long,
            // Data that travelled in parts are there.
            kind: if is_put && !data.is_empty() {
                Kind::Put
            } else {
                Kind::Message
            },
            doorbell: descriptor.flags.doorbell,
            reader: descriptor.flags.reader(),
        });
        sent.map_err(|error| self.or_left(error))
    }

    /// Where there is no room, and this node has left itself, nobody hears any more how the others are, and there may never be any.
    #[cold]
    fn or_left(&self, error: SendError) -> SendError {
        if error == SendError::Full && self.shared.has_left() {
            return SendError::Left(self.id.node);
        }
        error
    }

    /// Sends bytes as they stand, be they a message or not: to try what a receiver makes of them.
    ///
    /// # Errors
    /// As [`send`](Self::send).
    /// # Panics
    /// When `short` is longer than a descriptor and [`METADATA_MAX`], or as [`send`](Self::send).
    #[doc(hidden)]
    pub fn send_raw(&mut self, to: PortId, short: &[u8], long: &[u8]) -> Result<(), SendError> {
        check_len("data", long.len(), DATA_MAX)?;
        self.link_to(to)?.send(Outgoing {
            short: &[short],
            long,
            kind: Kind::Message,
            doorbell: true,
            reader: Reader::Soon,
        })
    }

    /// Sends bytes to a node where packets travel, be they a packet or not: to try what a receiver makes of them. False where there is no room, and by memory.
    #[doc(hidden)]
    pub fn send_packet_raw(&mut self, to: NodeId, bytes: &[u8]) -> bool {
        self.shared.transport.send_bytes(to, bytes)
    }

    /// The way to a port.
    #[inline]
    fn link_to(&mut self, to: PortId) -> Result<&mut dyn Link, SendError> {
        assert!(
            self.shared.shape.contains(to),
            "{to} of {:?}",
            self.shared.shape
        );
        if let Some(ended) = self.shared.ended(to.node) {
            return Err(ended.for_sender(to.node));
        }
        let number = self.shared.shape.number_of(to);
        Ok(match &mut self.out[number] {
            Some(link) => &mut **link,
            nothing => &mut **nothing.insert(self.shared.transport.link(self.id, to)),
        })
    }

    /// Calls `receive` with what has come, lane by lane, and returns how many messages were delivered; none at once when nothing has come.
    ///
    /// A message that is not allowed is counted ([`Node::refused`](crate::Node::refused)) and not delivered.
    ///
    /// # Errors
    /// [`NetError::Died`], [`NetError::Left`] and [`NetError::Silent`], once for each node, after its last message; [`NetError::Broken`] once for a lane on which no
    /// further message can be found. Whatever else has come is delivered by the next call.
    #[inline]
    pub fn poll(&mut self, mut receive: impl FnMut(Arrival<'_>)) -> Result<usize, NetError> {
        // ORDERING(N1): Acquire, before the lanes: what a node has sent before its end is seen in them after this.
        let changes = self.shared.changes.load(Acquire);
        self.shared.transport.pump();
        self.open_lanes();
        let mut count = 0;
        for index in 0..self.lanes.len() {
            count += self.poll_lane(index, &mut receive)?;
        }
        if count > 0 && self.shared.transport.is_stuck() {
            // There is room now, of which nothing tells: whoever looks next finds what had none.
            self.shared.transport.pump();
        }
        if count == 0 && changes != self.changes {
            self.tell_of_ends(changes)?;
        }
        Ok(count)
    }

    /// Waits until [`poll`](Self::poll) has something: a message with a doorbell, or the end of a node.
    ///
    /// Messages without a doorbell are seen when it looks, but do not wake it.
    pub fn wait(&mut self) {
        self.wait_by(Way::Auto);
    }

    /// As [`wait`](Self::wait), in one way.
    pub fn wait_by(&mut self, way: Way) {
        let mut budget = std::mem::take(&mut self.budget);
        if !self.shared.transport.is_pumped() {
            budget.wait_until(self.cell(), way, || self.has_news());
        } else if !self.pump_for(way.limit(budget.spin())) {
            let start = Instant::now();
            // Whoever waits without the kernel pumps himself, for ever.
            self.shared.while_pumped(|| {
                self.cell()
                    .wait_until(Way::Futex, Duration::ZERO, || self.has_news());
            });
            budget.observe(start.elapsed());
        } else {
            budget.observe(Duration::ZERO);
        }
        self.budget = budget;
    }

    /// Pumps until there is something, or `limit` is over; true when there is something.
    fn pump_for(&self, limit: Duration) -> bool {
        let start = Instant::now();
        loop {
            if self.has_news() || (self.shared.transport.pump() && self.has_news()) {
                return true;
            }
            if start.elapsed() >= limit {
                return false;
            }
            spin_loop();
        }
    }

    /// True when [`poll`](Self::poll) has something.
    #[inline]
    pub fn has_news(&self) -> bool {
        self.lanes.iter().any(|(_, lane)| lane.has_message())
            // ORDERING(N1): Acquire, lanes and states are looked at after it, by `poll`.
            || self.shared.changes.load(Acquire) != self.changes
            || self.unknown().is_some()
    }

    /// The cell in which the thread of this port waits.
    pub fn cell(&self) -> &WaitCell {
        self.shared.own.table().cell(self.id.index.into())
    }

    fn poll_lane(
        &mut self,
        index: usize,
        receive: &mut impl FnMut(Arrival<'_>),
    ) -> Result<usize, NetError> {
        let (from, lane) = &mut self.lanes[index];
        let from = *from;
        let is_shared = self.shared.transport.shares_memory_with(from.node);
        let mut count = 0;
        for _ in 0..TURN {
            let found = lane.receive(|found| {
                let read =
                    Descriptor::read(found.short).and_then(|(descriptor, metadata, data)| {
                        let rights = &self.shared.rights;
                        let put = self.view.check(rights, from.node, &descriptor)?;
                        Ok((descriptor, metadata, data, put))
                    });
                let (descriptor, metadata, few, put) = match read {
                    Ok(read) => read,
                    Err(refusal) => return self.shared.rights.count_refused(refusal),
                };
                // Else this process has just written them.
                let is_fetched = descriptor.flags.cache_hint && is_shared;
                if is_fetched {
                    fetch(found.long);
                }
                let data = match put {
                    Some(Place { window, bytes }) => {
                        // Within a segment of this process.
                        let start = bytes.start as usize;
                        let len = bytes.end as usize - start;
                        if is_fetched {
                            window.memory.fetch(start, len);
                        }
                        Data::Put {
                            segment: window.segment,
                            start,
                            len,
                        }
                    }
                    None if found.long.is_empty() => Data::Here(few),
                    None => Data::Here(found.long),
                };
                let message = Message {
                    flags: descriptor.flags,
                    user: descriptor.user,
                    metadata,
                };
                count += 1;
                receive(Arrival {
                    from,
                    message,
                    data,
                });
            });
            match found {
                Ok(Some(())) => {}
                Ok(None) => break,
                Err(found) => {
                    self.lanes.swap_remove(index);
                    self.shared.rights.count_refused(Refusal::Malformed);
                    return Err(NetError::Broken { from, found });
                }
            }
        }
        Ok(count)
    }

    /// A port that has begun to send here and is not known yet.
    #[inline]
    fn unknown(&self) -> Option<usize> {
        let words = self.shared.shape.port_count().div_ceil(64);
        let region = &self.shared.own;
        let openings = &region.openings(self.id.index)[..words];
        openings.iter().zip(&self.known).position(|(word, known)| {
            // ORDERING(N2): Acquire, the lane is used after it.
            word.load(Acquire) & !known != 0
        })
    }

    #[inline]
    fn open_lanes(&mut self) {
        while let Some(word) = self.unknown() {
            self.open_lanes_of(word);
        }
    }

    /// Opens the lanes whose bits of a word are new.
    #[cold]
    fn open_lanes_of(&mut self, word: usize) {
        let region = &self.shared.own;
        // ORDERING(N2): as in `unknown`.
        let new = region.openings(self.id.index)[word].load(Acquire) & !self.known[word];
        self.known[word] |= new;
        for number in (0..64)
            .filter(|bit| new >> bit & 1 == 1)
            .map(|bit| 64 * word + bit)
        {
            if number >= self.shared.shape.port_count() {
                self.shared.rights.count_refused(Refusal::Malformed);
                continue;
            }
            let from = self.shared.shape.port(number);
            let lane = region.receiver(from, self.id.index);
            self.lanes
                .push((from, lane.expect("one port receives from it, once")));
        }
    }

    /// Tells of the next node whose end was not told yet, and of which nothing is still to come.
    #[cold]
    fn tell_of_ends(&mut self, changes: u32) -> Result<(), NetError> {
        let mut is_all = true;
        for node in self.shared.shape.node_ids() {
            let told = &mut self.told[usize::from(node.0)];
            let Some(ended) = self.shared.ended(node).filter(|_| !*told) else {
                continue;
            };
            let sent =
                |(from, lane): &(PortId, LaneReceiver)| from.node == node && lane.has_message();
            // Of a node that does not run nothing more is to come, whatever is under way.
            let is_over = ended == Ended::Silent || self.shared.transport.is_drained(node);
            if !is_over || self.lanes.iter().any(sent) {
                // What it has sent comes first.
                is_all = false;
                continue;
            }
            *told = true;
            return Err(self.shared.error_of(node, ended));
        }
        if is_all {
            self.changes = changes;
        }
        Ok(())
    }

    /// True while `node` has neither died nor left, and answers.
    ///
    /// # Panics
    /// When there is no such node.
    pub fn is_alive(&self, node: NodeId) -> bool {
        self.shared.ended(node).is_none()
    }
}

/// The descriptor of a put as it travels: to try what a receiver makes of another.
#[doc(hidden)]
pub fn descriptor_of_put(
    remote: &Remote,
    at: u64,
    len: u64,
    message: Message<'_>,
) -> [u8; DESCRIPTOR_BYTES] {
    let put = Some((at, len));
    descriptor_by(remote, message, put).write()
}

/// What a message by a connection of its own says.
const fn descriptor_by(
    remote: &Remote,
    message: Message<'_>,
    put: Option<(u64, u64)>,
) -> Descriptor {
    Descriptor {
        connection: remote.connection,
        flags: message.flags,
        metadata_len: 0,
        user: message.user,
        key: remote.key,
        put,
    }
}

fn check_len(part: &'static str, found: usize, expected: usize) -> Result<(), SendError> {
    if found > expected {
        return Err(SendError::TooLong {
            part,
            found,
            expected,
        });
    }
    Ok(())
}
