//! Connections: what a node allows others, what they allow it, and how either ends.
//!
//! Closing a connection is a question to the other node and its answer. The listening thread of the
//! other node closes the [`Grant`] by which that node puts, and answers when no put is within.

use std::collections::{HashMap, HashSet, VecDeque};
use std::ops::{DerefMut, Range};
use std::os::fd::AsFd;
use std::sync::{Arc, Weak};
use std::time::Duration;

use raddle_sync::wait::WaitCell;

use super::{Node, Shared};
use crate::address::NodeId;
use crate::connection::{Connection, Window};
use crate::control;
use crate::error::NetError;
use crate::grant::Grant;
use crate::segment::{Remote, Segment, SegmentId};
use crate::share::random;

/// A connection that this node has opened.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct ConnectionId {
    number: u16,
    /// Numbers are used again, keys are not.
    key: u64,
}

/// What the listening thread has been told by others, and the threads that wait for some of it.
#[derive(Debug, Default)]
pub(super) struct Told {
    /// Connections that others have opened for this node, and that it has not accepted yet.
    pub(super) offers: VecDeque<(NodeId, Result<Remote, NetError>)>,
    /// Until when this node may put, by the other node and the key of its connection.
    pub(super) grants: HashMap<(NodeId, u64), Weak<Grant>>,
    /// Keys of connections that this node has closed, and whose other nodes have not said yet that
    /// they put no more.
    pub(super) closing: HashSet<u64>,
    waiting: Vec<Arc<WaitCell>>,
}

impl Node {
    /// Opens a connection for `peer`, who may put data into `bytes` of the segment; returns its
    /// number.
    ///
    /// # Errors
    /// [`NetError::TooManyConnections`]; a peer that has died or left; [`NetError::System`].
    /// # Panics
    /// When the segment is another node's, the bytes are none of the segment, or `peer` is this
    /// node or none.
    pub fn open(
        &self,
        peer: NodeId,
        segment: &Segment,
        bytes: Range<usize>,
    ) -> Result<ConnectionId, NetError> {
        segment.check(&bytes);
        assert!(
            segment.is_of(&self.shared),
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
                segment: segment.id(),
                memory: Arc::clone(segment.memory()),
                bytes: window.clone(),
            }),
        };
        let number = self.shared.rights.open(entry);
        let number = number.map_err(NetError::TooManyConnections)?;
        let words = [number.into(), key, window.start, window.end, 0];
        let file = segment.file().as_fd();
        let transport = &self.shared.transport;
        let files = if transport.shares_memory_with(peer) && transport.rights_of(peer).is_none() {
            &[file][..]
        } else {
            &[]
        };
        let controls = &self.shared.controls;
        let told = controls.send(peer, control::OFFER, words, files);
        if let Err(error) = told {
            self.shared.rights.close(number, key);
            self.shared.check_alive(peer)?;
            return Err(NetError::system("a message to another node")(error));
        }
        Ok(ConnectionId { number, key })
    }

    /// Takes back what a connection allows. Messages by it that have not been received yet are
    /// refused from here on.
    ///
    /// Waits until the other node has heard of it. From then on nothing is put by the connection,
    /// and the other node's attempts return [`SendError::Closed`](crate::SendError::Closed). A
    /// connection that has been closed before, or is another node's, is left as it is.
    pub fn close(&self, connection: ConnectionId) {
        let ConnectionId { number, key } = connection;
        self.shared.close_all([(number, key)]);
    }

    /// Waits for the next connection that `peer` opens for this node.
    ///
    /// # Errors
    /// [`NetError::Died`], [`NetError::Left`] or [`NetError::Silent`] when there will be none;
    /// [`NetError::System`] where its memory cannot be had here: this process has too many files
    /// open, or too much memory mapped.
    /// # Panics
    /// When `peer` is this node or none.
    pub fn accept(&self, peer: NodeId) -> Result<Remote, NetError> {
        assert!(
            peer != self.id() && peer.0 < self.shape().nodes,
            "{peer} of {} opens nothing for {}",
            self.shape().nodes,
            self.id()
        );
        self.shared.wait_for(|told| {
            // Before the look: a node is told of as ended after all that it has told.
            let state = self.shared.check_alive(peer);
            let found = told.offers.iter().position(|(node, _)| *node == peer);
            if let Some(found) = found {
                return told.offers.remove(found).map(|(_, remote)| remote);
            }
            state.err().map(Err)
        })
    }
}

impl Shared {
    /// Closes all connections to a segment.
    pub(crate) fn close_all_to(&self, segment: SegmentId) {
        self.close_all(self.rights.open_to(segment));
    }

    /// Closes connections, and waits until none of them is put by any more.
    fn close_all(&self, connections: impl IntoIterator<Item = (u16, u64)>) {
        let mut closed = Vec::new();
        for (number, key) in connections {
            let Some(peer) = self.rights.close(number, key) else {
                continue;
            };
            self.told().closing.insert(key);
            let words = [number.into(), key, 0, 0, 0];
            // A node that is gone puts nothing, and one that has left tells nothing.
            if !self.has_left() && self.controls.send(peer, control::CLOSE, words, &[]).is_ok() {
                closed.push((peer, key));
            } else {
                self.told().closing.remove(&key);
            }
        }
        for (peer, key) in closed {
            self.wait_for(|told| {
                // A node that has ended answers nothing, nor is anything heard after this one has
                // left.
                if self.ended(peer).is_some() || self.has_left() {
                    told.closing.remove(&key);
                }
                (!told.closing.contains(&key)).then_some(())
            });
        }
    }

    /// Waits until `look` finds something in what others have told; it is called again after each
    /// change.
    fn wait_for<R>(&self, mut look: impl FnMut(&mut Told) -> Option<R>) -> R {
        let cell = Arc::new(WaitCell::new());
        loop {
            let mut told = self.told();
            if let Some(found) = look(&mut told) {
                return found;
            }
            told.waiting.push(Arc::clone(&cell));
            drop(told);
            cell.wait(Duration::ZERO);
        }
    }

    pub(super) fn told(&self) -> impl DerefMut<Target = Told> {
        self.told.lock().expect("nothing panics under this lock")
    }

    /// Wakes the threads that wait for something to be told.
    pub(super) fn tell_waiting(&self) {
        let mut told = self.told();
        for cell in told.waiting.drain(..) {
            let _ = cell.notify();
        }
    }
}
