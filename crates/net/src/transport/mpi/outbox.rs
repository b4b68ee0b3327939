//! The packets of one [`Stream`] on their way to one node, which may not have received them yet.
//! Their number is bounded.
//!
//! MPI accepts any number of short messages to a process that is busy, and keeps them in memory. So
//! the last packet of every batch is sent in synchronous mode, in which MPI says when the receiver
//! has received it. MPI delivers in order, so the packets before it have been received by then,
//! too.

use std::collections::VecDeque;

use mpi::topology::Process;

use super::sending::{Done, Sending};
use crate::address::PortId;
use crate::error::SendError;
use crate::packet::Header;
use crate::transport::{Outgoing, Stream};

/// Returns the tag of the packets of a stream.
pub(super) const fn tag(stream: Stream) -> mpi::Tag {
    match stream {
        Stream::Messages => 1,
        Stream::Reads => 3,
    }
}

/// The largest number of packets that a node has not received.
const UNRECEIVED_MAX: usize = 64;
/// The number of packets in a batch. The last one confirms that all were received.
const BATCH: u32 = 16;

/// The packets on their way to one node.
#[derive(Debug)]
pub(super) struct Outbox {
    stream: Stream,
    /// The number of packets sent, modulo 2³².
    sent: u32,
    /// The packets that MPI may still read, which were sent last.
    in_flight: VecDeque<Sending>,
    /// The buffers of packets that were received.
    free: Vec<Vec<u8>>,
    /// True once no more packets are sent.
    is_closed: bool,
}

impl Outbox {
    /// Creates an outbox without packets.
    pub(super) fn new(stream: Stream) -> Self {
        Self {
            stream,
            sent: 0,
            in_flight: VecDeque::new(),
            free: Vec::new(),
            is_closed: false,
        }
    }

    /// Sends a message from port `from` of this node to port `index` of another.
    ///
    /// # Errors
    /// [`SendError::Full`] while the receiver is behind, and [`SendError::Left`] once this node has
    /// left.
    pub(super) fn send(
        &mut self,
        from: PortId,
        to: Process<'_>,
        index: u16,
        outgoing: Outgoing<'_>,
    ) -> Result<(), SendError> {
        if self.is_closed {
            return Err(SendError::Left(from.node));
        }
        // Asking MPI costs more than sending, so it is not done for each packet.
        if self.in_flight.len() >= UNRECEIVED_MAX / 2 {
            self.retire();
        }
        if self.in_flight.len() == UNRECEIVED_MAX {
            return Err(SendError::Full);
        }
        let header = Header {
            number: self.sent,
            kind: outgoing.kind,
            doorbell: outgoing.doorbell,
            from: from.index,
            to: index,
        };
        let header = header.write(outgoing.short, outgoing.long);
        let mut bytes = self.free.pop().unwrap_or_default();
        bytes.clear();
        bytes.extend_from_slice(&header);
        for piece in outgoing.short {
            bytes.extend_from_slice(piece);
        }
        bytes.extend_from_slice(outgoing.long);
        let done = if self.sent % BATCH == BATCH - 1 {
            Done::Received
        } else {
            Done::Read
        };
        let sending = Sending::new(bytes, to, tag(self.stream), done);
        self.in_flight.push_back(sending);
        self.sent = self.sent.wrapping_add(1);
        Ok(())
    }

    /// Sends no more packets. Returns how many were sent, modulo 2³².
    pub(super) const fn close(&mut self) -> u32 {
        self.is_closed = true;
        self.sent
    }

    /// Returns true if MPI has read all that was sent.
    pub(super) fn is_read(&mut self) -> bool {
        self.in_flight.iter_mut().all(Sending::is_done)
    }

    /// Takes back the buffers of the batches that were received.
    fn retire(&mut self) {
        loop {
            // The number of packets in flight is at most `UNRECEIVED_MAX`, so it fits.
            let first = self.sent.wrapping_sub(self.in_flight.len() as u32);
            let last = BATCH - 1 - first % BATCH;
            let last = self.in_flight.get_mut(last as usize);
            if !last.is_some_and(Sending::is_done) {
                return;
            }
            for _ in first % BATCH..BATCH {
                if !self.in_flight.front_mut().is_some_and(Sending::is_done) {
                    return;
                }
                let received = self.in_flight.pop_front();
                self.free.extend(received.map(Sending::into_bytes));
            }
        }
    }
}
