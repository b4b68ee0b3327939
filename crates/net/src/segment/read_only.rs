//! Read-only segments: memory that is written once, when it is created, and that other nodes may
//! read.

use std::fmt;
use std::ops::Deref;
use std::os::fd::OwnedFd;
use std::sync::{Arc, Weak};

use super::{Registered, Segment, SegmentOwner};
use crate::address::SegmentId;
use crate::mapped::ReadOnly;

/// Memory of this node that never changes, and that other nodes may be
/// [allowed](crate::Node::open_to_read) to read.
///
/// The system enforces that nothing writes to it, so its bytes can be borrowed. Clones refer to the
/// same memory. When the last clone is dropped, the connections to the segment are
/// [closed](crate::Node::close).
///
/// # Examples
/// ```
/// use raddle_net::{Node, Shape};
///
/// let nodes = Node::in_process(Shape { nodes: 2, ports: 1 })?;
/// let (segment, count) = nodes[0].read_only_segment(4_096, |bytes| {
///     bytes[..5].copy_from_slice(b"bytes");
///     5
/// })?;
/// assert_eq!(&segment[..count], b"bytes");
/// # Ok::<(), raddle_net::NetError>(())
/// ```
#[derive(Clone)]
pub struct ReadOnlySegment {
    registered: Arc<Registered>,
    bytes: ReadOnly,
}

impl ReadOnlySegment {
    pub(crate) fn new(
        id: SegmentId,
        bytes: ReadOnly,
        file: OwnedFd,
        owner: Weak<dyn SegmentOwner>,
    ) -> Self {
        let registered = Registered {
            id,
            memory: Arc::clone(bytes.memory()),
            file,
            owner,
        };
        Self {
            registered: Arc::new(registered),
            bytes,
        }
    }

    /// Returns the number of the segment.
    pub fn id(&self) -> SegmentId {
        self.registered.id
    }
}

impl Deref for ReadOnlySegment {
    type Target = [u8];

    #[inline]
    fn deref(&self) -> &[u8] {
        &self.bytes
    }
}

impl fmt::Debug for ReadOnlySegment {
    /// Prints the number and the length, but not the bytes, of which there may be billions.
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut segment = formatter.debug_struct("ReadOnlySegment");
        segment.field("id", &self.id());
        segment.field("len", &self.bytes.len()).finish()
    }
}

/// A segment that other nodes may be [allowed](crate::Node::open_to_read) to read: a [`Segment`] or
/// a [`ReadOnlySegment`].
#[derive(Clone, Copy, Debug)]
pub struct Readable<'a>(pub(crate) &'a Registered);

impl<'a> From<&'a Segment> for Readable<'a> {
    fn from(segment: &'a Segment) -> Self {
        Self(&segment.0)
    }
}

impl<'a> From<&'a ReadOnlySegment> for Readable<'a> {
    fn from(segment: &'a ReadOnlySegment) -> Self {
        Self(&segment.registered)
    }
}
