//! Connections: the right to send to a node, and to write to a part of its memory. The receiver decides.
//!
//! A node keeps a table of what it has allowed. Each message names an entry and its key, and is delivered only if the entry is the sender's, the key is
//! right, and what was put lies within base and bounds. Connection 0 is there from the start: it allows every other node of the program to
//! send, and nothing to be put.
//!
//! Where memory is shared, who has been allowed something has all of its segment mapped, and it is that node's library that keeps to base and bounds: the receiver sees what it
//! is told of, and does not deliver it otherwise. By packets the receiver itself puts the data, and only within. Either way the library of the node that puts
//! refuses to after the connection was closed (`grant`).
//!
//! # Memory ordering
//! | label | release side | acquire side | what it publishes |
//! |---|---|---|---|
//! | C1 | `open` and `close` store the version, under the lock | `check` loads it, and copies under the lock | the entries |
//!
//! # Source
//! Parker, Efficient user-level event notification, sections 3.3.2 and 3.4.3.

use std::fmt;
use std::ops::Range;
use std::sync::Arc;

use raddle_sync::prim::{Acquire, AtomicU64, Mutex, Relaxed, Release};

use crate::address::NodeId;
use crate::descriptor::Descriptor;
use crate::mapped::Memory;
use crate::segment::SegmentId;

/// What a node has allowed another.
#[derive(Clone, Debug)]
pub(crate) struct Connection {
    pub(crate) peer: NodeId,
    pub(crate) key: u64,
    /// What may be written to, if anything.
    pub(crate) window: Option<Window>,
}

/// A part of a segment: base and bounds.
#[derive(Clone, Debug)]
pub(crate) struct Window {
    pub(crate) segment: SegmentId,
    pub(crate) memory: Arc<Memory>,
    pub(crate) bytes: Range<u64>,
}

/// Where in a window a message has put its data.
#[derive(Clone, Debug)]
pub(crate) struct Place<'view> {
    pub(crate) window: &'view Window,
    /// Within the window, and as offsets into its segment.
    pub(crate) bytes: Range<u64>,
}

/// Why a message was not delivered.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Refusal {
    /// Its bytes are no message.
    Malformed,
    /// There is no such connection, or it is another node's.
    NoConnection,
    /// The key is not the connection's.
    WrongKey,
    /// Data were put outside of what the connection allows, or where it allows nothing.
    OutOfBounds,
}

impl Refusal {
    /// All reasons.
    pub const ALL: [Self; 4] = [
        Self::Malformed,
        Self::NoConnection,
        Self::WrongKey,
        Self::OutOfBounds,
    ];
}

impl fmt::Display for Refusal {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(match self {
            Self::Malformed => "bytes that are no message",
            Self::NoConnection => "no such connection",
            Self::WrongKey => "wrong key",
            Self::OutOfBounds => "out of bounds",
        })
    }
}

/// What a node allows others, and how often it has refused something.
#[derive(Debug)]
pub(crate) struct Rights {
    /// Of connection 0, all over the program.
    pub(crate) key: u64,
    entries: Mutex<Vec<Option<Connection>>>,
    /// Changes with the entries.
    version: AtomicU64,
    refused: [AtomicU64; Refusal::ALL.len()],
}

impl Rights {
    /// Connection 0 alone.
    pub(crate) fn new(key: u64) -> Self {
        Self {
            key,
            entries: Mutex::default(),
            version: AtomicU64::new(0),
            refused: Default::default(),
        }
    }

    pub(crate) fn count_refused(&self, reason: Refusal) {
        // Relaxed, here and below: a count.
        self.refused[reason as usize].fetch_add(1, Relaxed);
    }

    pub(crate) fn refused(&self, reason: Refusal) -> u64 {
        self.refused[reason as usize].load(Relaxed)
    }

    /// Allows what `connection` says; returns its number.
    ///
    /// # Errors
    /// None is left: so many are open.
    pub(crate) fn open(&self, connection: Connection) -> Result<u16, usize> {
        let mut entries = self.entries.lock().expect("nothing panics under this lock");
        // Number 0 is for what is allowed from the start.
        let free = entries.iter().position(Option::is_none);
        let index = free.unwrap_or(entries.len());
        let number = u16::try_from(index + 1).map_err(|_| entries.len())?;
        if free.is_none() {
            entries.push(None);
        }
        entries[index] = Some(connection);
        // ORDERING(C1): Release, under the lock; who sees the number copies the entries under the lock.
        self.version.store(self.version.load(Acquire) + 1, Release);
        Ok(number)
    }

    /// The memory that `peer` may put data into by the connection of that number and key, if it is still open.
    pub(crate) fn memory_of(&self, peer: NodeId, number: u16, key: u64) -> Option<Arc<Memory>> {
        let entries = self.entries.lock().expect("nothing panics under this lock");
        let entry = entries.get(usize::from(number).wrapping_sub(1))?.as_ref()?;
        let window = entry.window.as_ref()?;
        let is_it = entry.peer == peer && entry.key == key;
        is_it.then(|| Arc::clone(&window.memory))
    }

    /// Takes back the connection of that number and key; returns the node that had it, and none if it was not open.
    pub(crate) fn close(&self, number: u16, key: u64) -> Option<NodeId> {
        let mut entries = self.entries.lock().expect("nothing panics under this lock");
        let entry = entries.get_mut(usize::from(number).wrapping_sub(1))?;
        let closed = entry.take_if(|entry| entry.key == key)?;
        // ORDERING(C1): as in `open`.
        self.version.store(self.version.load(Acquire) + 1, Release);
        Some(closed.peer)
    }

    /// The connections to a segment: their numbers and keys.
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

/// One port's copy of the table, so that looking something up takes no lock.
#[derive(Debug, Default)]
pub(crate) struct ConnectionView {
    entries: Vec<Option<Connection>>,
    version: u64,
}

impl ConnectionView {
    /// What was put by a message of `peer`, if the message is allowed.
    pub(crate) fn check(
        &mut self,
        rights: &Rights,
        peer: NodeId,
        descriptor: &Descriptor,
    ) -> Result<Option<Place<'_>>, Refusal> {
        let Some(index) = usize::from(descriptor.connection).checked_sub(1) else {
            return match (descriptor.key == rights.key, descriptor.put) {
                (false, _) => Err(Refusal::WrongKey),
                (true, Some(_)) => Err(Refusal::OutOfBounds),
                (true, None) => Ok(None),
            };
        };
        // ORDERING(C1): Acquire, the entries are copied under the lock after it.
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
        let Some((at, len)) = descriptor.put else {
            return Ok(None);
        };
        let window = entry.window.as_ref().ok_or(Refusal::OutOfBounds)?;
        let bytes = part_of(&window.bytes, at, len).ok_or(Refusal::OutOfBounds)?;
        Ok(Some(Place { window, bytes }))
    }
}

/// The `len` bytes from offset `at` of the window on, if they lie within.
pub(crate) fn part_of(window: &Range<u64>, at: u64, len: u64) -> Option<Range<u64>> {
    let start = window.start.checked_add(at)?;
    let end = start.checked_add(len)?;
    (end <= window.end).then_some(start..end)
}

#[cfg(test)]
mod tests;
