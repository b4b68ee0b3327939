//! What goes there and back between two nodes, and where it lies.
//!
//! Few bytes come along with the message, and are copied to where they can be changed and sent back. More are put into a segment of the receiver, where they are
//! changed, and from where they are sent back: copied once on each way.
//!
//! The sides write the number of the trip, and one more, to the first byte and the last. What lies between is a pattern; whoever looks at all of it
//! inverts it: it goes there as it is and comes back inverted, so that bytes that did not travel are noticed.

use raddle::net::{
    ConnectionId, Data, METADATA_MAX, Message, Node, NodeId, Port, Put, Remote, Segment,
};

use super::watch::retry;
use super::{NodesError, RECEIVE, expect};

/// One side's ball.
#[derive(Debug)]
pub(super) struct Ball {
    bytes: Bytes,
    /// What came when nothing fitting did.
    strange: Option<usize>,
}

#[derive(Debug)]
enum Bytes {
    Here(Vec<u8>),
    There {
        len: usize,
        own: Segment,
        allowed: ConnectionId,
        remote: Remote,
    },
}

impl Ball {
    /// A ball of so many bytes for throws between `node` and `peer`, which makes one, too.
    pub(super) fn new(node: &Node, peer: NodeId, len: usize) -> Result<Self, NodesError> {
        let pattern: Vec<_> = (0..len).map(pattern).collect();
        let bytes = if len <= METADATA_MAX {
            Bytes::Here(pattern)
        } else {
            let own = node.segment(len)?;
            if node.id() < peer {
                own.write(0, &pattern);
            }
            Bytes::There {
                len,
                allowed: node.open(peer, &own, 0..len)?,
                remote: node.accept(peer)?,
                own,
            }
        };
        Ok(Self {
            bytes,
            strange: None,
        })
    }

    /// Sends it.
    #[inline]
    pub(super) fn throw(
        &self,
        port: &mut Port,
        to: NodeId,
        message: Message<'_>,
    ) -> Result<(), NodesError> {
        match &self.bytes {
            Bytes::Here(bytes) => {
                let to = raddle::net::PortId {
                    node: to,
                    index: RECEIVE,
                };
                retry(|| port.send(to, message, bytes))?;
            }
            Bytes::There {
                len, own, remote, ..
            } => {
                let mut put = Put::from_segment(remote, RECEIVE, 0, own, 0..*len, message);
                retry(|| port.put(&mut put))?;
            }
        }
        Ok(())
    }

    /// Takes what has come.
    #[inline]
    pub(super) fn catch(&mut self, data: Data<'_>) {
        match (&mut self.bytes, data) {
            (Bytes::Here(bytes), Data::Here(came)) if bytes.len() == came.len() => {
                bytes.copy_from_slice(came);
            }
            (Bytes::There { len, own, .. }, Data::Put { segment, .. })
                if segment == own.id() && data.range() == Some(0..*len) => {}
            (_, data) => {
                self.strange = Some(data.range().map_or(0, |range| range.len()));
            }
        }
    }

    /// Writes the first byte and the last.
    #[inline]
    pub(super) fn stamp(&mut self, number: u8) {
        let last = self.len() - 1;
        match &mut self.bytes {
            Bytes::Here(bytes) => (bytes[0], bytes[last]) = (number, number),
            Bytes::There { own, .. } => {
                own.write(0, &[number]);
                own.write(last, &[number]);
            }
        }
    }

    /// Looks at the first byte and the last.
    #[inline]
    pub(super) fn check_stamp(&self, number: u8) -> Result<(), NodesError> {
        let last = self.len() - 1;
        let is_right = |at| self.byte(at) == number;
        if self.strange.is_none() && is_right(0) && is_right(last) {
            return Ok(());
        }
        self.tell_what_is_wrong(number)
    }

    #[cold]
    fn tell_what_is_wrong(&self, number: u8) -> Result<(), NodesError> {
        if let Some(len) = self.strange {
            expect("bytes that came:", len as u64, self.len() as u64)?;
            return expect("bytes that came elsewhere:", len as u64, 0);
        }
        let last = self.len() - 1;
        for at in [0, last] {
            expect("a message's end:", self.byte(at).into(), number.into())?;
        }
        Ok(())
    }

    /// Looks at all between the first byte and the last, which the other side has inverted or not, and inverts it.
    pub(super) fn check_and_invert(&mut self, is_inverted: bool) -> Result<(), NodesError> {
        let len = self.len();
        let between = 1..(len - 1).max(1);
        let mask = if is_inverted { !0 } else { 0 };
        let mut bytes = match &self.bytes {
            Bytes::Here(bytes) => bytes[between.clone()].to_vec(),
            Bytes::There { own, .. } => own.to_vec(between.clone()),
        };
        let is_wrong = |(index, &byte): (usize, &u8)| byte != pattern(index + 1) ^ mask;
        let wrong = bytes.iter().enumerate().filter(|&item| is_wrong(item));
        expect("bytes that nobody sent:", wrong.count() as u64, 0)?;
        for byte in &mut bytes {
            *byte = !*byte;
        }
        match &mut self.bytes {
            Bytes::Here(here) => here[between].copy_from_slice(&bytes),
            Bytes::There { own, .. } => own.write(1, &bytes),
        }
        Ok(())
    }

    /// Lets nobody put anything any more.
    pub(super) fn put_away(self, node: &Node) {
        if let Bytes::There { allowed, .. } = self.bytes {
            node.close(allowed);
        }
    }

    fn len(&self) -> usize {
        match &self.bytes {
            Bytes::Here(bytes) => bytes.len(),
            Bytes::There { len, .. } => *len,
        }
    }

    #[inline]
    fn byte(&self, at: usize) -> u8 {
        match &self.bytes {
            Bytes::Here(bytes) => bytes[at],
            Bytes::There { own, .. } => {
                let mut byte = [0];
                own.read(at, &mut byte);
                byte[0]
            }
        }
    }
}

/// The byte at a place.
const fn pattern(index: usize) -> u8 {
    (index % 251) as u8
}
