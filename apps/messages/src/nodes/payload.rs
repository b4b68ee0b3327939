//! The payload that is sent to and fro between two nodes.
//!
//! A small payload is part of the message. The receiver copies it into a buffer, in which it is
//! changed before it is sent back. A larger payload is put into a segment of the receiver. There it
//! is changed, and from there it is sent back, so that it is copied once on each way.
//!
//! # Contents
//! The first and the last byte hold a stamp: the number of the trip on the way there, and the
//! number plus one on the way back. The bytes between them hold a fixed pattern. A node that checks
//! them inverts all of them: they travel there unchanged and come back inverted, so that bytes that
//! did not travel are noticed.

use raddle::net::{
    ConnectionId, Data, METADATA_MAX, Message, Node, NodeId, Port, PortId, Put, Remote, Segment,
};

use super::error::{NodesError, expect};
use super::part::RECEIVE;
use super::watch::retry;

/// One node's copy of the payload.
#[derive(Debug)]
pub(super) struct Payload {
    bytes: Bytes,
    /// The length of a payload that arrived in the wrong place or with the wrong length.
    unexpected_len: Option<usize>,
}

#[derive(Debug)]
enum Bytes {
    /// Part of the message.
    Inline(Vec<u8>),
    /// In a segment of each node.
    InSegment {
        len: usize,
        own: Segment,
        /// The connection by which the peer may put into `own`.
        allowed: ConnectionId,
        /// The segment of the peer.
        remote: Remote,
    },
}

impl Payload {
    /// Creates a payload of `len` bytes for messages between `node` and `peer`. The peer must make
    /// the same call.
    pub(super) fn new(node: &Node, peer: NodeId, len: usize) -> Result<Self, NodesError> {
        let pattern: Vec<_> = (0..len).map(pattern).collect();
        let bytes = if len <= METADATA_MAX {
            Bytes::Inline(pattern)
        } else {
            let own = node.segment(len)?;
            if node.id() < peer {
                own.write(0, &pattern);
            }
            Bytes::InSegment {
                len,
                allowed: node.open(peer, &own, 0..len)?,
                remote: node.accept(peer)?,
                own,
            }
        };
        Ok(Self {
            bytes,
            unexpected_len: None,
        })
    }

    /// Sends the payload with a message to node `to`.
    #[inline]
    pub(super) fn send(
        &self,
        port: &mut Port,
        to: NodeId,
        message: Message<'_>,
    ) -> Result<(), NodesError> {
        match &self.bytes {
            Bytes::Inline(bytes) => {
                let to = PortId {
                    node: to,
                    index: RECEIVE,
                };
                retry(|| port.send(to, message, bytes))?;
            }
            Bytes::InSegment {
                len, own, remote, ..
            } => {
                let mut put = Put::from_segment(remote, RECEIVE, 0, own, 0..*len, message);
                retry(|| port.put(&mut put))?;
            }
        }
        Ok(())
    }

    /// Takes over the data of a message that has arrived.
    #[inline]
    pub(super) fn receive(&mut self, data: Data<'_>) {
        match (&mut self.bytes, data) {
            (Bytes::Inline(bytes), Data::Here(received)) if bytes.len() == received.len() => {
                bytes.copy_from_slice(received);
            }
            (Bytes::InSegment { len, own, .. }, Data::Put { segment, .. })
                if segment == own.id() && data.range() == Some(0..*len) => {}
            (_, data) => {
                self.unexpected_len = Some(data.range().map_or(0, |range| range.len()));
            }
        }
    }

    /// Writes the first and the last byte.
    #[inline]
    pub(super) fn stamp(&mut self, number: u8) {
        let last = self.len() - 1;
        match &mut self.bytes {
            Bytes::Inline(bytes) => (bytes[0], bytes[last]) = (number, number),
            Bytes::InSegment { own, .. } => {
                own.write(0, &[number]);
                own.write(last, &[number]);
            }
        }
    }

    /// Checks the first and the last byte, and that the payload arrived where it belongs.
    #[inline]
    pub(super) fn check_stamp(&self, number: u8) -> Result<(), NodesError> {
        let last = self.len() - 1;
        let is_right = |at| self.byte(at) == number;
        if self.unexpected_len.is_none() && is_right(0) && is_right(last) {
            return Ok(());
        }
        self.explain(number)
    }

    /// Returns the error of a failed [`check_stamp`](Self::check_stamp).
    #[cold]
    fn explain(&self, number: u8) -> Result<(), NodesError> {
        if let Some(len) = self.unexpected_len {
            expect("length of the payload:", len as u64, self.len() as u64)?;
            return expect("bytes in the wrong place:", len as u64, 0);
        }
        let last = self.len() - 1;
        for at in [0, last] {
            expect("stamp of the payload:", self.byte(at).into(), number.into())?;
        }
        Ok(())
    }

    /// Checks all bytes between the first and the last, and inverts them. `is_inverted` tells
    /// whether the peer has inverted them.
    pub(super) fn check_and_invert(&mut self, is_inverted: bool) -> Result<(), NodesError> {
        let len = self.len();
        let between = 1..(len - 1).max(1);
        let mask = if is_inverted { !0 } else { 0 };
        let mut bytes = match &self.bytes {
            Bytes::Inline(bytes) => bytes[between.clone()].to_vec(),
            Bytes::InSegment { own, .. } => own.to_vec(between.clone()),
        };
        let is_wrong = |(index, &byte): (usize, &u8)| byte != pattern(index + 1) ^ mask;
        let wrong = bytes.iter().enumerate().filter(|&item| is_wrong(item));
        expect("wrong bytes in the payload:", wrong.count() as u64, 0)?;
        for byte in &mut bytes {
            *byte = !*byte;
        }
        match &mut self.bytes {
            Bytes::Inline(inline) => inline[between].copy_from_slice(&bytes),
            Bytes::InSegment { own, .. } => own.write(1, &bytes),
        }
        Ok(())
    }

    /// Closes the connection, so that the peer can no longer put anything into the segment.
    pub(super) fn close(self, node: &Node) {
        if let Bytes::InSegment { allowed, .. } = self.bytes {
            node.close(allowed);
        }
    }

    fn len(&self) -> usize {
        match &self.bytes {
            Bytes::Inline(bytes) => bytes.len(),
            Bytes::InSegment { len, .. } => *len,
        }
    }

    #[inline]
    fn byte(&self, at: usize) -> u8 {
        match &self.bytes {
            Bytes::Inline(bytes) => bytes[at],
            Bytes::InSegment { own, .. } => {
                let mut byte = [0];
                own.read(at, &mut byte);
                byte[0]
            }
        }
    }
}

/// Returns byte `index` of the pattern.
const fn pattern(index: usize) -> u8 {
    (index % 251) as u8
}
