//! Packets on their way to one node, which may not have taken them yet: a bounded number.
//!
//! MPI takes any number of short messages to a process that is busy elsewhere, and keeps them in memory. So every so many packets one is sent
//! in the way of which MPI says when its receiver has taken it; those before it, which MPI delivers in order, have been taken by then, too.

use std::collections::VecDeque;

use mpi::topology::Process;

use super::ranks::PACKET;
use super::sending::{Done, Sending};
use crate::error::SendError;
use crate::packet::Header;
use crate::transport::Outgoing;

/// Packets that a node may leave untaken.
const UNTAKEN_MAX: usize = 64;
/// Packets of which the last one says that all are taken.
const BATCH: u32 = 16;

/// What is under way to one node.
#[derive(Debug, Default)]
pub(super) struct Untaken {
    /// Packets sent, modulo 2³².
    sent: u32,
    /// The last of them.
    under_way: VecDeque<Sending>,
    /// Buffers of those that were taken.
    free: Vec<Vec<u8>>,
    /// Nothing more is sent.
    is_closed: bool,
}

impl Untaken {
    /// Sends a message from port `from` of this node to port `index` of another.
    ///
    /// # Errors
    /// [`SendError::Full`] while the receiver is behind, and [`SendError::Left`] once this node has left.
    pub(super) fn send(
        &mut self,
        from: crate::PortId,
        to: Process<'_>,
        index: u16,
        outgoing: Outgoing<'_>,
    ) -> Result<(), SendError> {
        if self.is_closed {
            return Err(SendError::Left(from.node));
        }
        // Asking costs more than sending: not each time.
        if self.under_way.len() >= UNTAKEN_MAX / 2 {
            self.retire();
        }
        if self.under_way.len() == UNTAKEN_MAX {
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
            Done::Taken
        } else {
            Done::Read
        };
        let sending = Sending::new(bytes, to, PACKET, done);
        self.under_way.push_back(sending);
        self.sent = self.sent.wrapping_add(1);
        Ok(())
    }

    /// Nothing is sent from here on; returns how many packets were, modulo 2³².
    pub(super) const fn close(&mut self) -> u32 {
        self.is_closed = true;
        self.sent
    }

    /// True when MPI has read all that was sent.
    pub(super) fn is_read(&mut self) -> bool {
        self.under_way.iter_mut().all(Sending::is_done)
    }

    /// Takes the buffers of batches back that were taken.
    fn retire(&mut self) {
        loop {
            // At most `UNTAKEN_MAX`.
            let first = self.sent.wrapping_sub(self.under_way.len() as u32);
            let last = BATCH - 1 - first % BATCH;
            let last = self.under_way.get_mut(last as usize);
            if !last.is_some_and(Sending::is_done) {
                return;
            }
            for _ in first % BATCH..BATCH {
                if !self.under_way.front_mut().is_some_and(Sending::is_done) {
                    return;
                }
                let taken = self.under_way.pop_front();
                self.free.extend(taken.map(Sending::into_bytes));
            }
        }
    }
}
