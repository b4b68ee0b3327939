//! Connections: the rights to send to a node, and to write to a part of its memory or to read it.
//! The node that has the memory grants them.
//!
//! A node keeps a table of the rights that it has granted. Each message names an entry and its key.
//! The message is delivered only if the entry was made for the sender, the key is right, and the
//! data that were put lie within base and bounds. Connection 0 always exists. It allows every other
//! node of the program to send, but not to put.
//!
//! If memory is shared, a node with a right has the whole segment mapped, and the library in that
//! node keeps to base and bounds. The receiver checks the bounds that the message states, and
//! delivers no other message. If data travel in packets, the receiver itself puts them, and only
//! within the bounds. In both cases the library of the node that puts refuses to do so after the
//! connection was closed (`grant`).
//!
//! Memory that may only be read is mapped for reading only, so that the system enforces that.
//!
//! # Memory ordering
//! | label | release side | acquire side | what it publishes |
//! |---|---|---|---|
//! | C1 | `open` and `close`: store of the version | `check`: load of the version | the entries |
//!
//! Both sides access the entries under the lock: the first before the store, the second after the
//! load.
//!
//! # Source
//! Parker, Efficient user-level event notification, sections 3.3.2 and 3.4.3.

use std::ops::Range;
use std::sync::Arc;

use raddle_sync::prim::{Acquire, AtomicU64, Mutex, Relaxed, Release};

use crate::access::Access;
use crate::address::{NodeId, SegmentId};
use crate::descriptor::Descriptor;
use crate::error::Refusal;
use crate::mapped::Memory;

/// A right that a node has granted to another node.
#[derive(Clone, Debug)]
pub(crate) struct Connection {
    pub(crate) peer: NodeId,
    pub(crate) key: u64,
    /// The memory that may be accessed, if any.
    pub(crate) window: Option<Window>,
}

/// A part of a segment: base and bounds.
#[derive(Clone, Debug)]
pub(crate) struct Window {
    pub(crate) segment: SegmentId,
    pub(crate) memory: Arc<Memory>,
    pub(crate) bytes: Range<u64>,
    pub(crate) access: Access,
}

/// The part of a window that a message names: its data were put there, or are to be read there.
#[derive(Clone, Debug)]
pub(crate) struct Place<'view> {
    pub(crate) window: &'view Window,
    /// The bytes, which lie in the window, as offsets into its segment.
    pub(crate) bytes: Range<u64>,
}

/// The rights that a node has granted, and how many messages it has refused.
#[derive(Debug)]
pub(crate) struct Rights {
    /// The key of connection 0, the same in all nodes of the program.
    pub(crate) key: u64,
    entries: Mutex<Vec<Option<Connection>>>,
    /// A number that changes whenever an entry does.
    version: AtomicU64,
    refused: [AtomicU64; Refusal::ALL.len()],
}

impl Rights {
    /// Creates rights that grant only connection 0.
    pub(crate) fn new(key: u64) -> Self {
        Self {
            key,
            entries: Mutex::default(),
            version: AtomicU64::new(0),
            refused: Default::default(),
        }
    }

    pub(crate) fn count_refused(&self, reason: Refusal) {
        // Relaxed, also in `refused`: this is only a count.
        self.refused[reason as usize].fetch_add(1, Relaxed);
    }

    pub(crate) fn refused(&self, reason: Refusal) -> u64 {
        self.refused[reason as usize].load(Relaxed)
    }

    /// Opens a connection, and returns its number.
    ///
    /// # Errors
    /// The number of open connections, if no number is left.
    pub(crate) fn open(&self, connection: Connection) -> Result<u16, usize> {
        let mut entries = self.entries.lock().expect("nothing panics under this lock");
        // Number 0 is the connection that always exists.
        let free = entries.iter().position(Option::is_none);
        let index = free.unwrap_or(entries.len());
        let number = u16::try_from(index + 1).map_err(|_| entries.len())?;
        if free.is_none() {
            entries.push(None);
        }
        entries[index] = Some(connection);
        // ORDERING(C1): Release, under the lock. A thread that loads this version copies the
        // entries under the lock.
        self.version.store(self.version.load(Acquire) + 1, Release);
        Ok(number)
    }

    /// Returns the memory that `peer` may access by the connection with that number and key, if it
    /// is still open.
    pub(crate) fn memory_of(&self, peer: NodeId, number: u16, key: u64) -> Option<Arc<Memory>> {
        let entries = self.entries.lock().expect("nothing panics under this lock");
        let entry = entries.get(usize::from(number).wrapping_sub(1))?.as_ref()?;
        let window = entry.window.as_ref()?;
        let is_it = entry.peer == peer && entry.key == key;
        is_it.then(|| Arc::clone(&window.memory))
    }

    /// Closes the connection with that number and key, and returns it. Returns `None` if it was not
    /// open.
    pub(crate) fn close(&self, number: u16, key: u64) -> Option<Connection> {
        let mut entries = self.entries.lock().expect("nothing panics under this lock");
        let entry = entries.get_mut(usize::from(number).wrapping_sub(1))?;
        let closed = entry.take_if(|entry| entry.key == key)?;
        // ORDERING(C1): as in `open`.
        self.version.store(self.version.load(Acquire) + 1, Release);
        Some(closed)
    }

    /// Returns the numbers and keys of the open connections to a segment.
    pub(crate) fn open_to(&self, segment: SegmentId) -> Vec<(u16, u64)> {
        let entries = self.entries.lock().expect("nothing panics under this lock");
        let key_of = |entry: &Option<Connection>| {
            let entry = entry.as_ref()?;
            let window = entry.window.as_ref()?;
            (window.segment == segment).then_some(entry.key)
        };
        let numbers = 1..;
        let all = numbers.zip(entries.iter().map(key_of));
        all.filter_map(|(number, key)| Some((number, key?)))
            .collect()
    }
}

/// A port's copy of the table, so that a lookup takes no lock.
#[derive(Debug, Default)]
pub(crate) struct ConnectionView {
    entries: Vec<Option<Connection>>,
    version: u64,
}

impl ConnectionView {
    /// Checks that a message of `peer` is allowed, as is this access to the memory that it names.
    /// Returns that part of the memory, if it names any.
    pub(crate) fn check(
        &mut self,
        rights: &Rights,
        peer: NodeId,
        descriptor: &Descriptor,
        access: Access,
    ) -> Result<Option<Place<'_>>, Refusal> {
        let Some(index) = usize::from(descriptor.connection).checked_sub(1) else {
            return match (descriptor.key == rights.key, descriptor.part) {
                (false, _) => Err(Refusal::WrongKey),
                (true, Some(_)) => Err(Refusal::OutOfBounds),
                (true, None) => Ok(None),
            };
        };
        // ORDERING(C1): Acquire, the entries are copied under the lock afterwards.
        let version = rights.version.load(Acquire);
        if version != self.version {
            let entries = rights
                .entries
                .lock()
                .expect("nothing panics under this lock");
            self.entries.clone_from(&entries);
            self.version = version;
        }
        let entry = self.entries.get(index).and_then(Option::as_ref);
        let entry = entry
            .filter(|entry| entry.peer == peer)
            .ok_or(Refusal::NoConnection)?;
        if entry.key != descriptor.key {
            return Err(Refusal::WrongKey);
        }
        let Some((at, len)) = descriptor.part else {
            return Ok(None);
        };
        let window = entry.window.as_ref();
        let window = window.filter(|window| window.access == access);
        let window = window.ok_or(Refusal::OutOfBounds)?;
        let bytes = part_of(&window.bytes, at, len).ok_or(Refusal::OutOfBounds)?;
        Ok(Some(Place { window, bytes }))
    }
}

/// Returns the `len` bytes from offset `at` of the window on, if they lie in the window.
pub(crate) fn part_of(window: &Range<u64>, at: u64, len: u64) -> Option<Range<u64>> {
    let start = window.start.checked_add(at)?;
    let end = start.checked_add(len)?;
    (end <= window.end).then_some(start..end)
}

#[cfg(test)]
mod tests;
