//! The events of a recording, with their times, by thread.

use std::collections::HashMap;

use crate::record::kind::Kind;
use crate::sources::Counts;

#[cfg(not(any(loom, shuttle, miri, raddle_no_events)))]
pub(crate) mod decode;

/// The events of all threads.
#[derive(Clone, Debug, Default)]
#[non_exhaustive]
pub struct Events {
    /// The begin of the recording, in nanoseconds on the system's monotonic clock.
    pub from_ns: u64,
    /// The time at which the events were copied.
    pub until_ns: u64,
    /// The threads: workers first, by runtime and index, then others by name.
    pub tracks: Vec<Track>,
    /// The names that events refer to, by number.
    pub names: Vec<String>,
    /// The times in which nothing was recorded, so that the program was not slowed down.
    pub pauses: Vec<Pause>,
    /// The number of threads of which no events were kept, because there were too many threads.
    pub refused_threads: u64,
}

/// A time in which nothing was recorded.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Pause {
    /// The begin, in nanoseconds on the system's monotonic clock.
    pub from_ns: u64,
    /// The end.
    pub until_ns: u64,
    /// The work that was left out, by the number of the runtime and the index of the worker.
    pub counts: HashMap<(u32, usize), Counts>,
}

/// The events of one thread.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Track {
    /// The thread.
    pub thread: Thread,
    /// The events in the order in which they happened.
    pub events: Vec<Event>,
    /// About how many events were dropped, because the buffer was full: all are older than those
    /// that are here.
    pub dropped: u64,
}

/// A thread that has recorded events.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Thread {
    /// A worker: the number of its runtime in the process, from 0, and its index.
    Worker {
        /// The number of the runtime.
        runtime: u32,
        /// The index of the worker.
        index: usize,
        /// True for a compensating thread, which runs in the stead of a worker that waits.
        is_compensating: bool,
    },
    /// Another thread, by its name.
    Other(String),
}

/// An event.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Event {
    /// The time, in nanoseconds on the system's monotonic clock.
    pub at_ns: u64,
    /// True if the time is a reading. Otherwise it is between those of its neighbours.
    pub is_timed: bool,
    /// The kind.
    pub kind: Kind,
    /// The first argument ([`crate::record::kind`]).
    pub argument: u32,
    /// The other words, which are zero if the kind has none.
    pub more: [u64; 2],
}
