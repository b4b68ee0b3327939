//! Segments: registered memory that other nodes may put data into, as far as connections allow.
//!
//! A segment's bytes are never lent: a put may come while they are read, and so may a write through a clone. They are
//! copied in and out, which is sound whatever others do at that moment, and may then find some bytes old and some new.
//! Messages say when they are whole: what a message tells of stays as it was put until its sender puts there again.
//!
//! ```compile_fail
//! # let nodes = raddle_net::Node::in_process(raddle_net::Shape { nodes: 2, ports: 1 })?;
//! let segment = nodes[0].segment(4_096)?;
//! let writer = segment.clone();
//! // A string whose bytes another thread changes: there is no way to say this.
//! segment.read(0..5, |bytes: &[u8]| {
//!     let text = std::str::from_utf8(bytes).unwrap_or_default();
//!     writer.write(0, &[0xFF; 5]);
//!     text.chars().count()
//! });
//! # Ok::<(), raddle_net::NetError>(())
//! ```

use std::ops::Range;
use std::os::fd::OwnedFd;
use std::sync::{Arc, Weak};

use crate::address::NodeId;
use crate::error::SendError;
use crate::grant::Grant;
use crate::mapped::{Memory, Source};
use crate::node::Shared;

/// The number of a segment, of all that its node has registered.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct SegmentId(pub u32);

/// Memory of this node that others may be allowed to write to.
///
/// It begins as zeros, and has a page of the machine's for each page that was touched. Clones are the same memory. When
/// the last of them is dropped, the connections to it are [closed](crate::Node::close).
///
/// # Examples
/// One thread writes through a clone while another reads: the reader has a copy, which nothing changes.
/// ```
/// use raddle_net::{Node, Shape};
///
/// let nodes = Node::in_process(Shape { nodes: 2, ports: 1 })?;
/// let segment = nodes[0].segment(4_096)?;
/// let writer = segment.clone();
/// std::thread::scope(|scope| {
///     scope.spawn(move || (0..1_000).for_each(|turn| writer.write(0, &[turn as u8; 5])));
///     let text = String::from_utf8_lossy(&segment.to_vec(0..5)).into_owned();
///     assert!(text.chars().count() <= 5);
/// });
/// # Ok::<(), raddle_net::NetError>(())
/// ```
#[derive(Clone, Debug)]
pub struct Segment(Arc<Registered>);

/// What clones of a segment share.
#[derive(Debug)]
struct Registered {
    id: SegmentId,
    memory: Arc<Memory>,
    file: OwnedFd,
    node: Weak<Shared>,
}

impl Segment {
    pub(crate) fn new(id: SegmentId, memory: Memory, file: OwnedFd, node: &Arc<Shared>) -> Self {
        Self(Arc::new(Registered {
            id,
            memory: Arc::new(memory),
            file,
            node: Arc::downgrade(node),
        }))
    }

    /// Its number.
    pub fn id(&self) -> SegmentId {
        self.0.id
    }

    /// Its bytes.
    pub fn len(&self) -> usize {
        self.0.memory.len()
    }

    /// True of a segment without bytes, of which there is none.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Copies the bytes from offset `at` on to `into`, as many as that has.
    ///
    /// # Panics
    /// When they do not lie within.
    #[inline]
    pub fn read(&self, at: usize, into: &mut [u8]) {
        self.0.memory.read(at, into);
    }

    /// Returns a copy of some of the bytes.
    ///
    /// # Panics
    /// When they do not lie within.
    pub fn to_vec(&self, bytes: Range<usize>) -> Vec<u8> {
        self.check(&bytes);
        let mut copy = vec![0; bytes.len()];
        self.read(bytes.start, &mut copy);
        copy
    }

    /// Copies `bytes` to offset `at`.
    ///
    /// # Panics
    /// When they do not lie within.
    pub fn write(&self, at: usize, bytes: &[u8]) {
        self.0.memory.write(at, bytes);
    }

    /// Panics unless the bytes lie within.
    #[track_caller]
    pub(crate) fn check(&self, bytes: &Range<usize>) {
        assert!(
            bytes.start <= bytes.end && bytes.end <= self.len(),
            "bytes {bytes:?} of a segment of {}",
            self.len()
        );
    }

    /// Some of the bytes, as the source of a put.
    pub(crate) fn source(&self, bytes: Range<usize>) -> Source<'_> {
        self.check(&bytes);
        Source::of_memory(&self.0.memory, bytes.start, bytes.len())
    }

    /// True when `node` has registered it.
    pub(crate) fn is_of(&self, node: &Arc<Shared>) -> bool {
        self.0.node.as_ptr() == Arc::as_ptr(node)
    }

    pub(crate) fn file(&self) -> &OwnedFd {
        &self.0.file
    }

    pub(crate) fn memory(&self) -> &Arc<Memory> {
        &self.0.memory
    }
}

impl Drop for Registered {
    fn drop(&mut self) {
        if let Some(node) = self.node.upgrade() {
            node.close_all_to(self.id);
        }
    }
}

/// The right to send to a node by a connection of its own, and to put data into a part of that node's memory.
///
/// It is the right of the node that has [accepted](crate::Node::accept) it, and ends when the other node
/// [closes](crate::Node::close) the connection.
#[derive(Debug)]
pub struct Remote {
    pub(crate) node: NodeId,
    pub(crate) connection: u16,
    pub(crate) key: u64,
    pub(crate) window: RemoteWindow,
    /// The node that may use it.
    pub(crate) holder: Weak<Shared>,
    /// Until when.
    pub(crate) grant: Arc<Grant>,
}

/// What may be written to.
#[derive(Debug)]
pub(crate) struct RemoteWindow {
    pub(crate) len: u64,
    /// Where memory is shared: as it is mapped here, and where in that the window begins, since what is mapped begins with a page.
    pub(crate) mapped: Option<(Arc<Memory>, usize)>,
}

impl Remote {
    /// The node whose memory it is.
    pub const fn node(&self) -> NodeId {
        self.node
    }

    /// How many bytes may be written to.
    pub const fn len(&self) -> u64 {
        self.window.len
    }

    /// True where nothing may be written to.
    pub const fn is_empty(&self) -> bool {
        self.window.len == 0
    }

    /// Checks that `len` bytes may be put at offset `at` of the window, by a port of `holder`.
    ///
    /// # Errors
    /// [`SendError::OutOfBounds`] and [`SendError::NotAccepted`].
    pub(crate) fn check(&self, at: u64, len: u64, holder: &Arc<Shared>) -> Result<(), SendError> {
        if self.holder.as_ptr() != Arc::as_ptr(holder) {
            return Err(SendError::NotAccepted(self.node));
        }
        let bounds = self.window.len;
        if at.checked_add(len).is_none_or(|end| end > bounds) {
            return Err(SendError::OutOfBounds { at, len, bounds });
        }
        Ok(())
    }
}
