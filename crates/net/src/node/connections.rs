//! Opening, accepting and closing connections.
//!
//! Closing a connection is a request to the other node and its answer. The listening thread of the
//! other node closes the [`Grant`](crate::grant::Grant) by which that node puts, and answers when
//! no put is in progress any more.

use std::ops::Range;
use std::os::fd::AsFd;
use std::sync::Arc;

use rustix::io::Errno;

use super::Node;
use crate::access::Access;
use crate::address::NodeId;
use crate::connection::{Connection, Window};
use crate::control;
use crate::error::NetError;
use crate::random::random;
use crate::segment::{Readable, Registered, Remote, Segment};

/// A connection that this node has opened.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct ConnectionId {
    number: u16,
    /// Numbers are reused, keys are not.
    key: u64,
}

impl Node {
    /// Opens a connection for `peer`, by which that node may put data into `bytes` of the segment.
    ///
    /// # Errors
    /// [`NetError::TooManyConnections`]; [`NetError::Died`], [`NetError::Left`] or
    /// [`NetError::Silent`] if the peer has ended; [`NetError::System`].
    /// # Panics
    /// If the segment belongs to another node, the bytes do not lie in the segment, or `peer` is
    /// this node or does not exist.
    pub fn open(
        &self,
        peer: NodeId,
        segment: &Segment,
        bytes: Range<usize>,
    ) -> Result<ConnectionId, NetError> {
        self.open_for(Access::Put, peer, segment.registered(), bytes)
    }

    /// Opens a connection for `peer`, by which that node may read `bytes` of the segment.
    ///
    /// If the nodes share memory, the peer copies the bytes by itself
    /// ([`Port::get`](crate::Port::get)). Otherwise the listening thread of this node, or another
    /// thread that receives packets, answers its requests. For that, the listening thread receives
    /// packets for as long as the connection is open. In both cases no thread of the program takes
    /// part.
    ///
    /// # Errors
    /// As [`open`](Self::open).
    /// # Panics
    /// As [`open`](Self::open).
    pub fn open_to_read<'a>(
        &self,
        peer: NodeId,
        segment: impl Into<Readable<'a>>,
        bytes: Range<usize>,
    ) -> Result<ConnectionId, NetError> {
        let Readable(segment) = segment.into();
        self.open_for(Access::Get, peer, segment, bytes)
    }

    fn open_for(
        &self,
        access: Access,
        peer: NodeId,
        segment: &Registered,
        bytes: Range<usize>,
    ) -> Result<ConnectionId, NetError> {
        let shared = &self.shared;
        segment.check(&bytes);
        assert!(
            segment.is_of(shared),
            "a segment of another node than {}",
            self.id()
        );
        assert!(
            peer != self.id() && peer.0 < self.shape().nodes,
            "{peer} of {} opens nothing for {peer}",
            self.shape().nodes
        );
        let window = bytes.start as u64..bytes.end as u64;
        let key = random()?;
        let entry = Connection {
            peer,
            key,
            window: Some(Window {
                segment: segment.id,
                memory: Arc::clone(&segment.memory),
                bytes: window.clone(),
                access,
            }),
        };
        let number = shared.rights.open(entry);
        let number = number.map_err(NetError::TooManyConnections)?;
        // The peer needs the file if it has to map the memory.
        let words = [number.into(), key, window.start, window.end, access.word()];
        let file = segment.file.as_fd();
        let is_mapped =
            shared.capabilities.shares_memory_with(peer) && shared.rights_of(peer).is_none();
        let files = if is_mapped { &[file][..] } else { &[] };
        let sent = shared.controls.send(peer, control::OFFER, words, files);
        if let Err(error) = sent {
            shared.rights.close(number, key);
            if !matches!(error, Errno::PIPE | Errno::CONNRESET) {
                return Err(NetError::system("a message to another node")(error));
            }
            // The other end of the socket is closed. The listening thread is about to see that, and
            // whether the node has left or died.
            return Err(shared.wait_for(|_| {
                let ended = shared.check_alive(peer).err();
                ended.or_else(|| shared.has_left().then(|| NetError::Left(self.id())))
            }));
        }
        if access == Access::Get && !shared.capabilities.shares_memory_with(peer) {
            // Requests of the peer are answered even if no thread of this node waits for messages.
            shared.begin_pumping();
        }
        Ok(ConnectionId { number, key })
    }

    /// Closes a connection. Messages by it that have not been received yet are refused from here
    /// on.
    ///
    /// Waits for the answer of the other node. From then on nothing is put by the connection, and
    /// the other node's attempts return [`SendError::Closed`](crate::SendError::Closed). This has
    /// no effect on a connection that has been closed before, or that another node has opened.
    pub fn close(&self, connection: ConnectionId) {
        let ConnectionId { number, key } = connection;
        self.shared.close_all([(number, key)]);
    }

    /// Waits for the next connection that `peer` opens for this node.
    ///
    /// # Errors
    /// [`NetError::Died`], [`NetError::Left`] or [`NetError::Silent`] if the peer has ended without
    /// opening another one; [`NetError::System`] if its memory cannot be mapped, because this
    /// process has too many files open, or too much memory mapped.
    /// # Panics
    /// If `peer` is this node or does not exist.
    pub fn accept(&self, peer: NodeId) -> Result<Remote, NetError> {
        assert!(
            peer != self.id() && peer.0 < self.shape().nodes,
            "{peer} of {} opens nothing for {}",
            self.shape().nodes,
            self.id()
        );
        self.shared.wait_for(|reports| {
            // This comes before the search, because the end of a node is recorded after all of its
            // reports.
            let state = self.shared.check_alive(peer);
            let found = reports.offers.iter().position(|(node, _)| *node == peer);
            if let Some(found) = found {
                return reports.offers.remove(found).map(|(_, remote)| remote);
            }
            state.err().map(Err)
        })
    }
}
