//! Ports: the objects by which a thread of a node sends, receives and waits.
//!
//! # Invariants
//! 1. A port belongs to one thread, and a lane has one sender and one receiver. With shared memory,
//!    sending and receiving take no lock, and make no system call except to wake a sleeping thread.
//! 2. The receiver decides which messages are delivered. A message that it has not allowed is
//!    counted, whatever its bytes are, and the next message arrives as if there had been no such
//!    message. Only a lane in which no further message can be found is given up.
//! 3. A thread that waits in a port wakes when a node ends. The messages that this node has sent
//!    are delivered first.

mod event_thread;
mod get;
mod news;
mod put;

use std::future::poll_fn;
use std::ops::Range;
use std::os::fd::OwnedFd;
use std::sync::Arc;
use std::task::{Poll, Waker};
use std::time::Duration;

use raddle_sync::clock::Instant;
use raddle_sync::hand_over::{Copier, Reader, fetch};
use raddle_sync::lane::{LONG_MAX, LaneReceiver, SHORT_MAX};
use raddle_sync::prim::{Acquire, spin_loop};
use raddle_sync::wait::{SpinBudget, WaitCell, Way};
use raddle_trace::record;

use crate::access::Access;
use crate::address::{NodeId, PortId, SegmentId};
use crate::connection::{ConnectionView, Place};
use crate::descriptor::{DESCRIPTOR_BYTES, Descriptor, Flags};
use crate::error::{NetError, Refusal, SendError};
use crate::mapped::WORDS;
use crate::packet::Kind;
use crate::segment::Remote;
use crate::shared::{Ended, Shared};
use crate::transport::{Link, Outgoing};
use event_thread::EventThread;
use get::Landings;
use news::{News, first_unknown};

pub use self::get::Fetch;
pub use self::put::Put;

/// The largest number of bytes of metadata of a message.
pub const METADATA_MAX: usize = SHORT_MAX - DESCRIPTOR_BYTES;
const _: () = assert!(
    METADATA_MAX <= u8::MAX as usize,
    "the descriptor stores the length in one byte"
);
/// The largest number of bytes of data that a message carries. Larger data are put into segments.
pub const DATA_MAX: usize = LONG_MAX;

/// The number of messages that are received from one lane before the next lane has its turn.
const TURN: usize = 16;

/// One thread's access to the network. It sends to the ports of all nodes, and receives what they
/// send to it.
///
/// Messages from one port to another arrive once and in order. With shared memory, sending and
/// receiving take no lock, and make no system call except to wake a sleeping thread.
#[derive(Debug)]
pub struct Port {
    shared: Arc<Shared>,
    id: PortId,
    /// The link to each port of the program. `None` until the first message to that port.
    out: Vec<Option<Box<dyn Link>>>,
    /// The lanes from the ports that have begun to send to this one.
    lanes: Vec<(PortId, LaneReceiver)>,
    /// The bits of the ports in `lanes`.
    known: [u64; WORDS],
    view: ConnectionView,
    /// For each node, whether `poll` has reported its end.
    reported: Vec<bool>,
    /// The number of changes of states at which all ends had been reported.
    changes: u32,
    budget: SpinBudget,
    /// Copies data into segments.
    copier: Copier,
    /// A copy of data from a segment while they are sent as a packet.
    packet_data: Vec<u8>,
    /// The memory into which other nodes put the bytes that this port reads.
    landings: Landings,
    /// The thread that notifies an event loop, from its first use on.
    events: Option<EventThread>,
}

/// The part of a message besides its data.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Message<'a> {
    /// Instructions for the receiver.
    pub flags: Flags,
    /// A value for the program to use as it likes.
    pub user: u32,
    /// Up to [`METADATA_MAX`] bytes that arrive with the message.
    pub metadata: &'a [u8],
}

/// A message that has arrived.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Arrival<'a> {
    /// The port that sent it.
    pub from: PortId,
    /// The part of the message besides its data.
    pub message: Message<'a>,
    /// The data of the message.
    pub data: Data<'a>,
}

/// The location of the data of a message.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Data<'a> {
    /// The data are here, until the next message is received.
    Here(&'a [u8]),
    /// The data were put into a segment of this node.
    Put {
        /// The segment that contains the data.
        segment: SegmentId,
        /// The offset of the data in the segment.
        start: usize,
        /// The number of bytes of data.
        len: usize,
    },
}

impl Data<'_> {
    /// Returns the bytes of the segment that contain the data, or `None` if the data are here.
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
            reported: vec![false; shared.shape.nodes.into()],
            changes: 0,
            budget: SpinBudget::default(),
            copier: Copier::default(),
            packet_data: Vec::new(),
            landings: Landings::default(),
            events: None,
            shared,
        }
    }

    /// Returns the id of this port.
    pub const fn id(&self) -> PortId {
        self.id
    }

    /// Sends a message. With shared memory, the data are copied once, to where the receiver reads
    /// them.
    ///
    /// # Errors
    /// [`SendError::Full`] while the receiver is behind; [`SendError::Died`], [`SendError::Left`]
    /// and [`SendError::Silent`]; [`SendError::TooLong`].
    /// # Panics
    /// If there is no such port.
    #[inline]
    pub fn send(&mut self, to: PortId, message: Message<'_>, data: &[u8]) -> Result<(), SendError> {
        let descriptor = Descriptor {
            connection: 0,
            flags: message.flags,
            metadata_len: 0,
            user: message.user,
            key: self.shared.rights.key,
            part: None,
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
        let is_put = descriptor.part.is_some();
        if !is_put {
            check_len("data", data.len(), DATA_MAX)?;
        }
        let descriptor = Descriptor {
            // At most `METADATA_MAX`, which fits a byte.
            metadata_len: metadata.len() as u8,
            ..descriptor
        };
        let head = descriptor.write();
        // Short data follow the metadata directly, so that the whole message often fits into a
        // cache line.
        let is_short = !is_put && metadata.len() + data.len() <= METADATA_MAX;
        let (beside, long) = if is_short {
            (data, &[][..])
        } else {
            (&[][..], data)
        };
        let sent = self.link_to(to)?.send(Outgoing {
            short: &[&head, metadata, beside],
            long,
            // A put without data of its own is a plain message: its data were put before.
            kind: if is_put && !data.is_empty() {
                Kind::Put
            } else {
                Kind::Message
            },
            doorbell: descriptor.flags.doorbell,
            reader: descriptor.flags.reader(),
        });
        if sent.is_ok() {
            record::node_send(self.shared.recorded(to.node), metadata.len() + data.len());
        }
        sent.map_err(|error| self.or_left(error))
    }

    /// Replaces [`SendError::Full`] once this node has left. From then on this node does not learn
    /// of the ends of others, so that there might never be space.
    #[cold]
    fn or_left(&self, error: SendError) -> SendError {
        if error == SendError::Full && self.shared.has_left() {
            return SendError::Left(self.id.node);
        }
        error
    }

    /// Sends bytes unchanged, for tests of the receiver. They need not be a message.
    ///
    /// # Errors
    /// Those of [`send`](Self::send).
    /// # Panics
    /// If `short` is longer than a descriptor and [`METADATA_MAX`], or as [`send`](Self::send).
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

    /// Sends bytes to a node in place of a packet, for the fuzz target of the receiver. Returns
    /// false if the transport has no packets or no capacity.
    #[doc(hidden)]
    pub fn send_packet_raw(&mut self, to: NodeId, bytes: &[u8]) -> bool {
        self.shared.transport.send_packet_raw(to, bytes)
    }

    /// Returns the link to a port.
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
            none => &mut **none.insert(self.shared.transport.link(self.id, to)),
        })
    }

    /// Calls `receive` with each message that has arrived, lane by lane. Returns the number of
    /// messages delivered. Does not wait.
    ///
    /// A message that is not allowed is counted ([`Node::refused`](crate::Node::refused)) and not
    /// delivered.
    ///
    /// # Errors
    /// [`NetError::Died`], [`NetError::Left`] and [`NetError::Silent`], once for each node, after
    /// its last message; [`NetError::Broken`] once for a lane in which no further message can be
    /// found. The next call delivers whatever else has arrived.
    #[inline]
    pub fn poll(&mut self, mut receive: impl FnMut(Arrival<'_>)) -> Result<usize, NetError> {
        // ORDERING(N1): this comes before the lanes, so that all messages that a node has sent
        // before its end are found in them.
        let changes = self.shared.changes();
        if let Some(events) = &mut self.events {
            events.note_poll();
        }
        if self.shared.capabilities.needs_pump() {
            self.shared.transport.pump();
        }
        self.open_lanes();
        let mut count = 0;
        for index in 0..self.lanes.len() {
            count += self.poll_lane(index, &mut receive)?;
        }
        if count > 0 && self.shared.capabilities.progress.is_stuck() {
            // There is space in a lane now, of which nothing gives notice. This delivers the packet
            // that waited for it, so that the next look finds it.
            self.shared.transport.pump();
        }
        if count == 0 && changes != self.changes {
            self.report_ends(changes)?;
        }
        Ok(count)
    }

    /// Sets how long the waits of this port spin, such as never, if the threads of all nodes
    /// together are more than the CPUs.
    pub fn set_budget(&mut self, budget: SpinBudget) {
        self.budget = budget;
    }

    /// Waits until [`poll`](Self::poll) has something to return: a message with a doorbell, or the
    /// end of a node.
    ///
    /// A message without a doorbell ends the wait if it is there at a look, but does not wake the
    /// thread.
    pub fn wait(&mut self) {
        self.wait_by(Way::Auto);
    }

    /// Waits like [`wait`](Self::wait), in a given way.
    pub fn wait_by(&mut self, way: Way) {
        self.wait_until(way, Self::has_news);
    }

    /// Waits until `done` returns true, in a given way. What makes it true rings the cell of this
    /// port, or is pumped.
    fn wait_until(&mut self, way: Way, done: impl Fn(&Self) -> bool) {
        if let Some(events) = &mut self.events {
            events.disarm();
        }
        let mut budget = std::mem::take(&mut self.budget);
        if !self.shared.capabilities.needs_pump() {
            budget.wait_until(self.cell(), way, || done(self));
        } else if !self.pump_for(way.limit(budget.spin()), &done) {
            let start = Instant::now();
            // A thread that waits without the kernel has pumped by itself, without a limit, above.
            self.shared.while_pumped(|| {
                self.cell()
                    .wait_until(Way::Futex, Duration::ZERO, || done(self));
            });
            budget.observe(start.elapsed());
        } else {
            budget.observe(Duration::ZERO);
        }
        self.budget = budget;
    }

    /// Pumps until `done` returns true, or `limit` is over. Returns true in the first case.
    fn pump_for(&self, limit: Duration, done: impl Fn(&Self) -> bool) -> bool {
        let start = Instant::now();
        loop {
            if done(self) || (self.shared.transport.pump() && done(self)) {
                return true;
            }
            if start.elapsed() >= limit {
                return false;
            }
            spin_loop();
        }
    }

    /// Returns true if [`poll`](Self::poll) has something to return.
    #[inline]
    pub fn has_news(&self) -> bool {
        self.lanes.iter().any(|(_, lane)| lane.has_message())
            // ORDERING(N1): `poll` looks at lanes and states afterwards.
            || self.shared.changes() != self.changes
            || self.unknown().is_some()
    }

    /// Returns the cell in which the thread of this port waits.
    pub fn cell(&self) -> &WaitCell {
        self.shared.own.table().cell(self.id.index.into())
    }

    /// Waits, as a future, until [`poll`](Self::poll) has something to return.
    ///
    /// The first call starts a thread that waits for this port while such a future does. A
    /// notification costs a wake-up of that thread, and what the executor needs to poll the future.
    /// As in [`wait`](Self::wait), only messages with a doorbell wake. The future may be dropped at
    /// any time, for example because another event came first.
    ///
    /// # Errors
    /// [`NetError::System`] if the system refuses a descriptor or a thread.
    pub async fn arrived(&mut self) -> Result<(), NetError> {
        poll_fn(|context| match self.arm_for(Some(context.waker())) {
            Ok(false) => Poll::Pending,
            Ok(true) => Poll::Ready(Ok(())),
            Err(error) => Poll::Ready(Err(error)),
        })
        .await
    }

    /// Returns a file descriptor that becomes readable when [`poll`](Self::poll) has something to
    /// return, once after each call of [`arm`](Self::arm). The descriptors that further calls
    /// return refer to the same event.
    ///
    /// An event loop waits for it with `epoll`, `poll` or the like, and neither reads nor writes
    /// it:
    ///
    /// 1. Call `arm`. If it returns true, go to 3.
    /// 2. Wait until the descriptor is readable, or for any other event.
    /// 3. Call `poll` until it returns 0, and begin again.
    ///
    /// With tokio, make an `AsyncFd` of it with `Interest::READABLE`. After 2, call `clear_ready`
    /// of the guard that `readable` has returned.
    ///
    /// # Errors
    /// [`NetError::System`] if the system refuses a descriptor or a thread.
    pub fn event(&mut self) -> Result<OwnedFd, NetError> {
        self.events()?.event()
    }

    /// Makes the [event](Self::event) readable once when [`poll`](Self::poll) has something to
    /// return. Returns true if it has something already; then the event stays unreadable.
    ///
    /// # Errors
    /// As [`event`](Self::event).
    pub fn arm(&mut self) -> Result<bool, NetError> {
        let has_news = self.arm_for(None)?;
        if has_news {
            let events = self.events()?;
            events.disarm();
            events.reset_event();
        }
        Ok(has_news)
    }

    /// Arms the port, for a future if there is a waker. Returns true if there is news already.
    fn arm_for(&mut self, waker: Option<&Waker>) -> Result<bool, NetError> {
        if self.shared.capabilities.needs_pump() {
            self.shared.transport.pump();
        }
        if self.has_news() {
            return Ok(true);
        }
        self.events()?;
        let news = || News {
            shared: Arc::clone(&self.shared),
            index: self.id.index,
            lanes: self.lanes.iter().map(|(_, lane)| lane.peek()).collect(),
            known: self.known,
            changes: self.changes,
        };
        if let Some(events) = &mut self.events {
            events.arm(news, waker);
        }
        Ok(false)
    }

    /// Returns the thread that notifies an event loop, and starts it if necessary.
    fn events(&mut self) -> Result<&mut EventThread, NetError> {
        let events = match self.events.take() {
            Some(events) => events,
            None => EventThread::start(&self.shared, self.id.index)?,
        };
        Ok(self.events.insert(events))
    }

    fn poll_lane(
        &mut self,
        index: usize,
        receive: &mut impl FnMut(Arrival<'_>),
    ) -> Result<usize, NetError> {
        let (from, lane) = &mut self.lanes[index];
        let from = *from;
        let is_shared = self.shared.capabilities.shares_memory_with(from.node);
        let mut count = 0;
        for _ in 0..TURN {
            let found = lane.receive(|found| {
                // Read the descriptor, and check that the message is allowed.
                let read =
                    Descriptor::read(found.short).and_then(|(descriptor, metadata, data)| {
                        let rights = &self.shared.rights;
                        let put = self
                            .view
                            .check(rights, from.node, &descriptor, Access::Put)?;
                        Ok((descriptor, metadata, data, put))
                    });
                let (descriptor, metadata, few, put) = match read {
                    Ok(read) => read,
                    Err(refusal) => return self.shared.rights.count_refused(refusal),
                };
                // Find the data, and prefetch what another core has written. If memory is not
                // shared, this process has just written the data.
                let is_fetched = descriptor.flags.cache_hint && is_shared;
                if is_fetched {
                    fetch(found.long);
                }
                let data = match put {
                    Some(Place { window, bytes }) => {
                        // The bytes lie in a segment of this process, so the offsets fit `usize`.
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
                let len = match data {
                    Data::Here(bytes) => bytes.len(),
                    Data::Put { len, .. } => len,
                };
                record::node_receive(self.shared.recorded(from.node), metadata.len() + len);
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

    /// Returns the index of a word with the bit of a port that has begun to send to this one, and
    /// is not known yet.
    #[inline]
    fn unknown(&self) -> Option<usize> {
        first_unknown(&self.shared, self.id.index, &self.known)
    }

    #[inline]
    fn open_lanes(&mut self) {
        while let Some(word) = self.unknown() {
            self.open_lanes_of(word);
        }
    }

    /// Opens the lanes of the new bits of a word.
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
            self.lanes.push((
                from,
                lane.expect("only this port takes the receiving end, once"),
            ));
        }
    }

    /// Returns an error for the next node that has ended, once all of its messages have been
    /// delivered. Each end is reported once.
    #[cold]
    fn report_ends(&mut self, changes: u32) -> Result<(), NetError> {
        let mut is_all = true;
        for node in self.shared.shape.node_ids() {
            let is_reported = &mut self.reported[usize::from(node.0)];
            let Some(ended) = self.shared.ended(node).filter(|_| !*is_reported) else {
                continue;
            };
            let sent =
                |(from, lane): &(PortId, LaneReceiver)| from.node == node && lane.has_message();
            // No message of a node that does not run is waited for, even if some are on their way.
            let is_over = ended == Ended::Silent || self.shared.capabilities.is_drained(node);
            if !is_over || self.lanes.iter().any(sent) {
                // Its messages are delivered first.
                is_all = false;
                continue;
            }
            *is_reported = true;
            return Err(self.shared.error_of(node, ended));
        }
        if is_all {
            self.changes = changes;
        }
        Ok(())
    }

    /// Returns the error of a send to `node`, if that node has ended.
    ///
    /// # Panics
    /// If there is no such node.
    pub fn ended(&self, node: NodeId) -> Option<SendError> {
        let ended = self.shared.ended(node);
        ended.map(|ended| ended.for_sender(node))
    }

    /// Returns true while `node` has neither died nor left, and answers.
    ///
    /// # Panics
    /// If there is no such node.
    pub fn is_alive(&self, node: NodeId) -> bool {
        self.shared.ended(node).is_none()
    }
}

/// Returns the bytes of the descriptor of a put, for tests that change them.
#[doc(hidden)]
pub fn descriptor_of_put(
    remote: &Remote,
    at: u64,
    len: u64,
    message: Message<'_>,
) -> [u8; DESCRIPTOR_BYTES] {
    descriptor_by(remote, message, Some((at, len))).write()
}

/// Returns the descriptor of a message sent through its own connection.
const fn descriptor_by(
    remote: &Remote,
    message: Message<'_>,
    part: Option<(u64, u64)>,
) -> Descriptor {
    Descriptor {
        connection: remote.connection,
        flags: message.flags,
        metadata_len: 0,
        user: message.user,
        key: remote.key,
        part,
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
