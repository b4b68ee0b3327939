//! Segments: registered memory into which other nodes may put data, or which they may read, as far
//! as connections allow.
//!
//! References to a segment's bytes are never given out, because a put, or a write through a clone,
//! may happen while they are read. The bytes are copied in and out, which is sound whatever other
//! threads do at that moment, and may then find some bytes old and some new. Messages say when
//! bytes are complete: the bytes that a message reports stay as they were put until its sender puts
//! there again.
//!
//! ```compile_fail
//! # let nodes = raddle_net::Node::in_process(raddle_net::Shape { nodes: 2, ports: 1 })?;
//! let segment = nodes[0].segment(4_096)?;
//! let writer = segment.clone();
//! // A string slice into bytes that another thread changes. The API offers no such access.
//! segment.read(0..5, |bytes: &[u8]| {
//!     let text = std::str::from_utf8(bytes).unwrap_or_default();
//!     writer.write(0, &[0xFF; 5]);
//!     text.chars().count()
//! });
//! # Ok::<(), raddle_net::NetError>(())
//! ```

mod read_only;

use std::fmt;
use std::ops::Range;
use std::os::fd::OwnedFd;
use std::ptr;
use std::sync::{Arc, Weak};

use crate::access::Access;
use crate::address::{NodeId, SegmentId};
use crate::connection::Rights;
use crate::error::SendError;
use crate::grant::Grant;
use crate::mapped::{Memory, Source};

pub use self::read_only::{ReadOnlySegment, Readable};

/// The node that has registered a segment.
pub(crate) trait SegmentOwner: fmt::Debug + Send + Sync {
    /// Closes all connections to a segment, and waits until nothing is put by them any more.
    fn close_all_to(&self, segment: SegmentId);
}

/// Memory of this node to which other nodes may be allowed to write.
///
/// All bytes are zero at first, and a page uses physical memory only once it has been touched.
/// Clones refer to the same memory. When the last clone is dropped, the connections to the segment
/// are [closed](crate::Node::close).
///
/// # Examples
/// One thread writes through a clone while another thread reads. The reader has a copy, which
/// nothing changes.
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

/// The state that clones of a segment share.
#[derive(Debug)]
pub(crate) struct Registered {
    pub(crate) id: SegmentId,
    pub(crate) memory: Arc<Memory>,
    pub(crate) file: OwnedFd,
    owner: Weak<dyn SegmentOwner>,
}

impl Segment {
    pub(crate) fn new(
        id: SegmentId,
        memory: Memory,
        file: OwnedFd,
        owner: Weak<dyn SegmentOwner>,
    ) -> Self {
        Self(Arc::new(Registered {
            id,
            memory: Arc::new(memory),
            file,
            owner,
        }))
    }

    /// Returns the number of the segment.
    pub fn id(&self) -> SegmentId {
        self.0.id
    }

    /// Returns the number of bytes.
    pub fn len(&self) -> usize {
        self.0.memory.len()
    }

    /// Returns true if the segment has no bytes. There is no such segment.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Fills `into` with a copy of the bytes from offset `at` on.
    ///
    /// # Panics
    /// If these bytes do not lie in the segment.
    #[inline]
    pub fn read(&self, at: usize, into: &mut [u8]) {
        self.0.memory.read(at, into);
    }

    /// Returns a copy of some of the bytes.
    ///
    /// # Panics
    /// If the bytes do not lie in the segment.
    pub fn to_vec(&self, bytes: Range<usize>) -> Vec<u8> {
        self.check(&bytes);
        let mut copy = vec![0; bytes.len()];
        self.read(bytes.start, &mut copy);
        copy
    }

    /// Copies `bytes` to offset `at`.
    ///
    /// # Panics
    /// If the bytes do not lie in the segment.
    pub fn write(&self, at: usize, bytes: &[u8]) {
        self.0.memory.write(at, bytes);
    }

    #[track_caller]
    fn check(&self, bytes: &Range<usize>) {
        self.0.check(bytes);
    }

    pub(crate) fn registered(&self) -> &Registered {
        &self.0
    }

    /// Returns some of the bytes as the source of a put.
    pub(crate) fn source(&self, bytes: Range<usize>) -> Source<'_> {
        self.check(&bytes);
        Source::of_memory(&self.0.memory, bytes.start, bytes.len())
    }
}

impl Registered {
    /// Checks that the bytes lie in the segment.
    ///
    /// # Panics
    /// If they do not.
    #[track_caller]
    pub(crate) fn check(&self, bytes: &Range<usize>) {
        let len = self.memory.len();
        assert!(
            bytes.start <= bytes.end && bytes.end <= len,
            "bytes {bytes:?} of a segment of {len}"
        );
    }

    /// Returns true if `owner` has registered the segment.
    pub(crate) fn is_of<O: SegmentOwner>(&self, owner: &Arc<O>) -> bool {
        ptr::addr_eq(self.owner.as_ptr(), Arc::as_ptr(owner))
    }
}

impl Drop for Registered {
    fn drop(&mut self) {
        if let Some(owner) = self.owner.upgrade() {
            owner.close_all_to(self.id);
        }
    }
}

/// The right to send to a node by a connection of its own, and to put data into a part of that
/// node's memory, or to read that part.
///
/// It is valid for the node that has [accepted](crate::Node::accept) the connection, until the
/// other node [closes](crate::Node::close) it.
#[derive(Debug)]
pub struct Remote {
    pub(crate) node: NodeId,
    pub(crate) connection: u16,
    pub(crate) key: u64,
    pub(crate) window: RemoteWindow,
    /// The rights that the node grants to others that may use this one. They identify that node,
    /// because each node has rights of its own.
    pub(crate) holder: Weak<Rights>,
    /// Says whether the connection is still open.
    pub(crate) grant: Arc<Grant>,
}

/// The bytes that may be accessed.
#[derive(Debug)]
pub(crate) struct RemoteWindow {
    pub(crate) len: u64,
    pub(crate) access: Access,
    /// If memory is shared: the mapping in this process, and the offset of the window in the
    /// mapping, which begins at a page boundary.
    pub(crate) mapped: Option<(Arc<Memory>, usize)>,
}

impl Remote {
    /// Returns the node that has the memory.
    pub const fn node(&self) -> NodeId {
        self.node
    }

    /// Returns the access that the node has allowed.
    pub const fn access(&self) -> Access {
        self.window.access
    }

    /// Returns the number of bytes that may be accessed.
    pub const fn len(&self) -> u64 {
        self.window.len
    }

    /// Returns true if no byte may be accessed.
    pub const fn is_empty(&self) -> bool {
        self.window.len == 0
    }

    /// Checks that `len` bytes at offset `at` of the window may be accessed, by a port of the node
    /// that has the rights `holder`.
    ///
    /// # Errors
    /// [`SendError::OutOfBounds`], [`SendError::NotAllowed`] and [`SendError::NotAccepted`].
    #[inline]
    pub(crate) fn check(
        &self,
        access: Access,
        at: u64,
        len: u64,
        holder: &Arc<Rights>,
    ) -> Result<(), SendError> {
        if self.holder.as_ptr() != Arc::as_ptr(holder) {
            return Err(SendError::NotAccepted(self.node));
        }
        if self.window.access != access {
            return Err(SendError::NotAllowed {
                node: self.node,
                allowed: self.window.access,
            });
        }
        let bounds = self.window.len;
        if at.checked_add(len).is_none_or(|end| end > bounds) {
            return Err(SendError::OutOfBounds { at, len, bounds });
        }
        Ok(())
    }
}
