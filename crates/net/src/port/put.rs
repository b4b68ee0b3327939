//! Puts: data that are written directly to their final location, in a segment of another node.

use std::ops::Range;

use raddle_sync::hand_over::Reader;

use super::{DATA_MAX, METADATA_MAX, Message, Port, check_len, descriptor_by};
use crate::access::Access;
use crate::address::PortId;
use crate::descriptor::Descriptor;
use crate::error::SendError;
use crate::mapped::Source;
use crate::packet::Kind;
use crate::segment::{Remote, Segment};
use crate::transport::Outgoing;

/// Data for a segment of another node, and the message that reports them. Pass it to [`Port::put`]
/// until there was space for all of it.
///
/// It records its progress, and borrows the data. If it is dropped before it is complete, some of
/// the data have been put, and no message has been sent.
#[derive(Clone, Debug)]
pub struct Put<'a> {
    remote: &'a Remote,
    to: PortId,
    at: u64,
    data: Source<'a>,
    message: Message<'a>,
    /// The number of bytes that have been put.
    done: usize,
}

impl<'a> Put<'a> {
    /// Puts `data` at offset `at` of the memory that `remote` allows, and sends the message to port
    /// `index` of that node.
    pub const fn new(
        remote: &'a Remote,
        index: u16,
        at: u64,
        data: &'a [u8],
        message: Message<'a>,
    ) -> Self {
        Self::of(remote, index, at, Source::of_bytes(data), message)
    }

    /// Puts some bytes of a segment, as they are at the moment of the copy. If memory is shared,
    /// they are copied once, from the segment to the receiver.
    ///
    /// # Panics
    /// If the bytes do not lie in the segment.
    pub fn from_segment(
        remote: &'a Remote,
        index: u16,
        at: u64,
        segment: &'a Segment,
        bytes: Range<usize>,
        message: Message<'a>,
    ) -> Self {
        Self::of(remote, index, at, segment.source(bytes), message)
    }

    const fn of(
        remote: &'a Remote,
        index: u16,
        at: u64,
        data: Source<'a>,
        message: Message<'a>,
    ) -> Self {
        Self {
            remote,
            to: PortId {
                node: remote.node,
                index,
            },
            at,
            data,
            message,
            done: 0,
        }
    }
}

impl Port {
    /// Puts data, and sends the message that reports them.
    ///
    /// With shared memory, the data are copied once, into the memory of the receiver, which finds
    /// them there when the message arrives.
    ///
    /// # Errors
    /// Those of [`send`](Self::send), [`SendError::OutOfBounds`], [`SendError::NotAllowed`],
    /// [`SendError::Closed`] if the receiver has closed the connection, and
    /// [`SendError::NotAccepted`]. On [`SendError::Full`],
    /// some of the data may have been put, and no message has been sent. The same `put`, passed
    /// again, continues from there. Once the message has been sent, the `put` starts again from the
    /// beginning.
    /// # Panics
    /// As for [`send`](Self::send).
    #[inline]
    pub fn put(&mut self, put: &mut Put<'_>) -> Result<(), SendError> {
        let Put {
            remote,
            to,
            at,
            data,
            message,
            ..
        } = *put;
        let len = data.len();
        remote.check(Access::Put, at, len as u64, &self.shared.rights)?;
        check_len("metadata", message.metadata.len(), METADATA_MAX)?;
        // Returns an error if the node has ended, so that its memory is not written to.
        self.link_to(to)?;
        let _entered = remote.grant.enter().ok_or(SendError::Closed(to.node))?;
        let descriptor = descriptor_by(remote, message, Some((at, len as u64)));
        if self.shared.capabilities.shares_memory_with(to.node) {
            if let (true, Some((memory, begin))) = (put.done < len, &remote.window.mapped) {
                // Below the length of the mapping.
                let at = begin + at as usize;
                memory.hand_over(at, data, &mut self.copier, message.flags.reader());
                put.done = len;
            }
            // The data are in place, so the message carries none.
            self.send_by(to, descriptor, message.metadata, &[])?;
        } else {
            self.put_by_packets(put, descriptor)?;
        }
        put.done = 0;
        Ok(())
    }

    /// Sends the data in packets. The last packet contains the message that reports all of them.
    fn put_by_packets(
        &mut self,
        put: &mut Put<'_>,
        descriptor: Descriptor,
    ) -> Result<(), SendError> {
        let (len, data) = (put.data.len(), put.data);
        let mut copy = std::mem::take(&mut self.packet_data);
        let mut send = || {
            if len <= DATA_MAX {
                let data = data.lend(0, len, &mut copy);
                return self.send_by(put.to, descriptor, put.message.metadata, data);
            }
            while put.done < len {
                let part = data.lend(put.done, DATA_MAX.min(len - put.done), &mut copy);
                self.put_part(put, part)?;
            }
            self.send_by(put.to, descriptor, put.message.metadata, &[])
        };
        let sent = send();
        self.packet_data = copy;
        sent
    }

    /// Puts a part of data that are too many for one packet.
    fn put_part(&mut self, put: &mut Put<'_>, part: &[u8]) -> Result<(), SendError> {
        let place = (put.at + put.done as u64, part.len() as u64);
        let head = descriptor_by(put.remote, Message::default(), Some(place)).write();
        let sent = self.link_to(put.to)?.send(Outgoing {
            short: &[&head],
            long: part,
            kind: Kind::Part,
            doorbell: false,
            reader: Reader::Soon,
        });
        sent.map_err(|error| self.or_left(error))?;
        put.done += part.len();
        Ok(())
    }
}
