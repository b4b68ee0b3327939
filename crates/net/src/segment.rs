//! Segments: registered memory that other nodes may put data into, as far as connections allow.

use std::ops::Range;
use std::os::fd::OwnedFd;
use std::sync::Arc;

use raddle_sync::hand_over::{Copier, Reader};

use crate::address::NodeId;
use crate::error::SendError;
use crate::mapped::Memory;

/// The number of a segment, of all that its node has registered.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct SegmentId(pub u32);

/// Memory of this node that others may be allowed to write to.
///
/// It begins as zeros, and has a page of the machine's for each page that was touched. Clones are the same memory.
#[derive(Clone, Debug)]
pub struct Segment {
    id: SegmentId,
    memory: Arc<Memory>,
    file: Arc<OwnedFd>,
}

impl Segment {
    pub(crate) fn new(id: SegmentId, memory: Memory, file: OwnedFd) -> Self {
        Self {
            id,
            memory: Arc::new(memory),
            file: Arc::new(file),
        }
    }

    /// Its number.
    pub const fn id(&self) -> SegmentId {
        self.id
    }

    /// Its bytes.
    pub fn len(&self) -> usize {
        self.memory.len()
    }

    /// True of a segment without bytes, of which there is none.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Calls `read` with some of its bytes, where they lie: those that a message speaks of are whole until whoever put them puts there again.
    ///
    /// # Panics
    /// When they do not lie within.
    pub fn read<R>(&self, bytes: Range<usize>, read: impl FnOnce(&[u8]) -> R) -> R {
        self.memory.read(bytes, read)
    }

    /// Copies `bytes` to offset `at`.
    ///
    /// # Panics
    /// When they do not lie within.
    pub fn write(&self, at: usize, bytes: &[u8]) {
        self.memory.write(at, bytes);
    }

    pub(crate) fn file(&self) -> &OwnedFd {
        &self.file
    }

    pub(crate) fn memory(&self) -> &Arc<Memory> {
        &self.memory
    }
}

/// The right to send to a node by a connection of its own, and to put data into a part of that node's memory.
#[derive(Debug)]
pub struct Remote {
    pub(crate) node: NodeId,
    pub(crate) connection: u16,
    pub(crate) key: u64,
    pub(crate) window: RemoteWindow,
}

/// What may be written to.
#[derive(Debug)]
pub(crate) struct RemoteWindow {
    pub(crate) len: u64,
    /// Where memory is shared: as it is mapped here, and where in that the window begins, since what is mapped begins with a page.
    pub(crate) mapped: Option<(Arc<Memory>, usize)>,
}

impl Remote {
    /// Whose memory it is.
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

    /// Whether `data` may be put at offset `at` of the window.
    ///
    /// # Errors
    /// [`SendError::OutOfBounds`].
    pub(crate) fn check(&self, at: u64, data: &[u8]) -> Result<(), SendError> {
        let bounds = self.window.len;
        let len = data.len() as u64;
        if at.checked_add(len).is_none_or(|end| end > bounds) {
            return Err(SendError::OutOfBounds { at, len, bounds });
        }
        Ok(())
    }

    /// Writes `data`, which [may](Self::check) be put there, to offset `at` of the window, in the other node's memory, where it is shared.
    pub(crate) fn put(&self, at: u64, data: &[u8], copier: &mut Copier, reader: Reader) {
        if let Some((memory, begin)) = &self.window.mapped {
            // Below the length of what is mapped.
            memory.hand_over(begin + at as usize, data, copier, reader);
        }
    }
}
