//! The task pool: where tasks wait until a worker asks.
//!
//! A [`Pool`] is the shared structure; each worker works through a [`Seat`] of its own, which may keep private
//! things (the owner's end of a deque, a buffer) without any synchronisation. Pools only keep and hand out tasks.
//! Waking sleepers, counting, and telling a live fork from a stale one is done above them, once for all pools.
//!
//! | name | what it is |
//! |---|---|
//! | `central` | one queue under one lock |
//! | `distributed` | a queue under a lock per worker; others steal the oldest |
//! | `deque` | a lock-free Chase–Lev deque per worker; the default |
//!
//! **Invariant:** a pool never runs, drops or copies a task; what is put in comes out exactly once.
//!
//! # Source
//! Hoffmann, Korch, Rauber: Performance evaluation of task pools based on hardware synchronization. SC 2004, sect. 2.

mod central;
mod deque;
mod distributed;
mod outside;
mod queue;
#[cfg(test)]
mod tests;

use std::fmt;
use std::str::FromStr;

use crate::task::Task;

pub(crate) use central::Central;
pub(crate) use deque::Deque;
pub(crate) use distributed::Distributed;

/// The structure that keeps the tasks of one runtime.
pub trait Pool: fmt::Debug + Send + Sync {
    /// The name that `--pool` takes.
    fn name(&self) -> &'static str;

    /// The seat of a worker; asked for once per worker, in any order.
    fn seat(&self, worker_index: usize) -> Box<dyn Seat>;

    /// Keeps a task that comes from a thread that is no worker of this runtime. Such tasks are served in order.
    fn put_outside(&self, task: Task);

    /// False when the pool was empty at some moment during the call.
    ///
    /// The caller has put a SeqCst fence before it, and relies on seeing every task put before a fence of the putter.
    fn has_work(&self) -> bool;
}

/// One worker's access to the pool. Used by one thread at a time.
pub trait Seat: fmt::Debug + Send {
    /// Keeps a task that this worker made.
    fn put(&self, task: Task);

    /// A position among this worker's own tasks, below all that it puts from now on.
    fn mark(&self) -> Mark;

    /// A task that is `wanted`: the worker's own newest one, or one from outside, or another worker's oldest.
    ///
    /// Adds what it did besides to `look`. May return nothing while another worker is just
    /// taking the last task. A wanted task is found wherever it lies among this worker's own (from the given mark on) and
    /// among those from outside; of another worker's, perhaps only the oldest is looked at.
    fn get(&self, wanted: Wanted<'_>, look: &mut Look) -> Option<Found>;
}

/// Which tasks a worker may run now.
#[derive(Clone, Copy)]
pub enum Wanted<'a> {
    /// Any.
    Any,
    /// Those of which the function says so: a worker that waits runs only work it waits for. Of its own tasks, only
    /// those put since the mark can be such.
    Where(&'a dyn Fn(&Task) -> bool, Mark),
}

/// A position among a worker's own tasks; what it means is its pool's affair.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Mark(pub isize);

impl Wanted<'_> {
    /// True when `task` is wanted.
    #[inline]
    pub fn accepts(&self, task: &Task) -> bool {
        match self {
            Self::Any => true,
            Self::Where(accepts, _) => accepts(task),
        }
    }
}

impl fmt::Debug for Wanted<'_> {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(match self {
            Self::Any => "Any",
            Self::Where(..) => "Where(..)",
        })
    }
}

/// A task, and where it was.
#[derive(Debug)]
pub struct Found {
    /// The task, now the caller's.
    pub task: Task,
    /// The worker that it was taken from, unless that is the caller, or nobody.
    pub stolen_from: Option<usize>,
}

/// What looking for a task did besides finding one or not.
#[derive(Clone, Copy, Debug, Default)]
pub struct Look {
    /// Looks at another worker's tasks.
    pub steals_tried: u64,
    /// The worker's own tasks were out of the others' sight for a moment: who looked for them then has to be told.
    pub hid: bool,
}

/// The pools to choose from, by name.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum PoolKind {
    /// One queue under one lock.
    Central,
    /// A queue under a lock per worker.
    Distributed,
    /// A lock-free deque per worker.
    #[default]
    Deque,
}

impl PoolKind {
    /// All of them, in the order of the table above.
    pub const ALL: [Self; 3] = [Self::Central, Self::Distributed, Self::Deque];

    /// The name that `--pool` and `RADDLE_POOL` take.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Central => "central",
            Self::Distributed => "distributed",
            Self::Deque => "deque",
        }
    }

    /// An empty pool for `worker_count` workers.
    pub(crate) fn build(self, worker_count: usize) -> Box<dyn Pool> {
        match self {
            Self::Central => Box::new(Central::new()),
            Self::Distributed => Box::new(Distributed::new(worker_count)),
            Self::Deque => Box::new(Deque::new(worker_count)),
        }
    }
}

impl fmt::Display for PoolKind {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(self.name())
    }
}

/// No pool has that name.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("no pool named {found:?}; expected central, distributed or deque")]
pub struct UnknownPool {
    /// What was asked for.
    pub found: String,
}

impl FromStr for PoolKind {
    type Err = UnknownPool;

    fn from_str(name: &str) -> Result<Self, UnknownPool> {
        Self::ALL
            .into_iter()
            .find(|kind| kind.name() == name)
            .ok_or_else(|| UnknownPool {
                found: name.to_owned(),
            })
    }
}

/// The other workers in the order in which `worker_index` looks for work: each begins elsewhere, so that hungry
/// workers do not all ask the same one.
pub(crate) fn victims(worker_index: usize, worker_count: usize) -> Vec<usize> {
    (1..worker_count)
        .map(|step| (worker_index + step) % worker_count)
        .collect()
}
