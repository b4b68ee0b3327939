//! Putting data straight to where they belong.

use raddle_sync::hand_over::Reader;

use super::{DATA_MAX, Message, Port, descriptor_by};
use crate::address::PortId;
use crate::error::SendError;
use crate::packet::Kind;
use crate::segment::Remote;
use crate::transport::Outgoing;

/// Data for a segment of another node, and the message that tells of them: to be given to [`Port::put`] until there has been room for all.
///
/// It keeps how far it has come, and the data as they are; who drops it in between has told nobody, and has put some of the data.
#[derive(Clone, Debug)]
pub struct Put<'a> {
    remote: &'a Remote,
    to: PortId,
    at: u64,
    data: &'a [u8],
    message: Message<'a>,
    /// Bytes that have been put.
    done: usize,
}

impl<'a> Put<'a> {
    /// Puts `data` at offset `at` of what `remote` allows, and tells port `index` of that node.
    pub const fn new(
        remote: &'a Remote,
        index: u16,
        at: u64,
        data: &'a [u8],
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
    /// Puts data, and tells of them.
    ///
    /// They are copied once, into the memory of the receiver, who finds them there when the message arrives.
    ///
    /// # Errors
    /// As [`send`](Self::send), and [`SendError::OutOfBounds`]. On [`SendError::Full`] some of the data may have been put, and nobody has been told: the same `put`, given again,
    /// goes on from there. Once it has been told of, it begins anew.
    /// # Panics
    /// As [`send`](Self::send).
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
        remote.check(at, data)?;
        // What is told beside the message.
        let mut beside = data;
        if self.shared.transport.shares_memory_with(to.node) {
            if put.done < data.len() {
                remote.put(at, data, &mut self.copier, message.flags.reader());
                put.done = data.len();
            }
        } else if data.len() > DATA_MAX {
            for part in data[put.done..].chunks(DATA_MAX) {
                self.put_part(put, part)?;
            }
            beside = &[];
        }
        let descriptor = descriptor_by(remote, message, Some((at, data.len() as u64)));
        self.send_by(to, descriptor, message.metadata, beside)?;
        put.done = 0;
        Ok(())
    }

    /// Puts some of the data that are too many for one packet.
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
