//! The events of a recording, with their times, by thread.

use std::collections::HashMap;
use std::fmt;

use crate::profile::CallCost;
use crate::record::kind::Kind;
use crate::sources::Counts;

#[cfg(not(any(loom, shuttle, miri, raddle_no_events)))]
pub(crate) mod decode;

const WORKER: &str = "worker";
const COMPENSATING: &str = "compensating thread";
const OF_RUNTIME: &str = " of runtime ";

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
    /// The cost of recording a scope.
    pub scope_cost: CallCost,
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
    /// The time at which the thread ended, if it has ended.
    pub ended_ns: Option<u64>,
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

impl fmt::Display for Thread {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (runtime, index, is_compensating) = match self {
            Self::Other(name) => return formatter.write_str(name),
            Self::Worker {
                runtime,
                index,
                is_compensating,
            } => (runtime, index, is_compensating),
        };
        let kind = if *is_compensating {
            COMPENSATING
        } else {
            WORKER
        };
        write!(formatter, "{kind} {index}")?;
        match runtime {
            0 => Ok(()),
            _ => write!(formatter, "{OF_RUNTIME}{runtime}"),
        }
    }
}

impl From<&str> for Thread {
    /// Returns the thread that has this name as its text.
    fn from(name: &str) -> Self {
        let worker = || {
            let (is_compensating, rest) = match name.strip_prefix(COMPENSATING) {
                Some(rest) => (true, rest),
                None => (false, name.strip_prefix(WORKER)?),
            };
            let (index, runtime) = rest.split_once(OF_RUNTIME).unwrap_or((rest, "0"));
            Some(Self::Worker {
                runtime: runtime.parse().ok()?,
                index: index.strip_prefix(' ')?.parse().ok()?,
                is_compensating,
            })
        };
        worker().unwrap_or_else(|| Self::Other(name.to_owned()))
    }
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_thread_is_found_by_its_text() {
        let worker = |runtime, index, is_compensating| Thread::Worker {
            runtime,
            index,
            is_compensating,
        };
        let threads = [
            (worker(0, 3, false), "worker 3"),
            (worker(2, 17, false), "worker 17 of runtime 2"),
            (worker(0, 64, true), "compensating thread 64"),
            (Thread::Other("main".to_owned()), "main"),
            (Thread::Other("worker bee".to_owned()), "worker bee"),
        ];
        for (thread, text) in threads {
            assert_eq!(thread.to_string(), text);
            assert_eq!(Thread::from(text), thread);
        }
    }
}
