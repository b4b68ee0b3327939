//! The task pool: where tasks wait until a worker asks.
//!
//! A [`Pool`] is the shared structure; each worker works through a [`Seat`] of its own, which may keep private
//! things (the owner's end of a deque, a buffer) without any synchronisation. Pools only keep and hand out tasks.
//! Waking sleepers, counting, and telling a live fork from a stale one is done above them, once for all pools.
//!
//! A pool is made of parts that go with each other in any way: a store (a list in some order under some lock, a lock-free
//! stack, a queue that its owner fills without a lock), one of them for all or one for each worker, side by side or on
//! cache lines of their own, a private buffer, blocks of several tasks, thieves that wait for a lock or go on. [`PoolKind`] has the
//! list. Beside them stands the deque of Chase and Lev, one for each worker.
//!
//! **Invariant:** a pool never runs, drops or copies a task; what is put in comes out exactly once.
//!
//! # Source
//! Hoffmann, Korch, Rauber: Performance evaluation of task pools based on hardware synchronization. SC 2004, sect. 2.

mod auto;
mod blocks;
mod build;
mod central;
mod deque;
mod distributed;
mod hidden;
mod kind;
mod options;
mod outside;
mod parts;
#[doc(hidden)]
pub mod probe;
mod setup;
mod store;
#[cfg(all(test, not(any(loom, shuttle))))]
mod tests;
mod victims;

use std::fmt;

use raddle_trace::Choice;

pub use kind::{PoolKind, UnknownPool};
pub use options::{BadBlockShape, BlockShape};
pub(crate) use outside::Outside;
pub(crate) use parts::Parts;
pub(crate) use setup::Setup;
pub(crate) use store::{Fifo, List};

pub use crate::task::Task;

/// The structure that keeps the tasks of one runtime.
pub trait Pool: fmt::Debug + Send + Sync {
    /// The name that `--pool` takes.
    fn name(&self) -> &'static str;

    /// The seat of a worker; asked for once per worker, in any order.
    fn seat(&self, worker_index: usize) -> Box<dyn Seat>;

    /// False when there was no task at some moment during the call. Those from outside do not count.
    ///
    /// The caller has put a heavy fence before it, and relies on seeing every task put before a fence of the putter.
    fn has_work(&self) -> bool;

    /// What the pool has chosen so far; nothing where it chooses nothing.
    fn choice(&self) -> Option<Choice> {
        None
    }
}

/// One worker's access to the pool. Used by one thread at a time.
pub trait Seat: fmt::Debug + Send {
    /// Keeps a task that this worker made.
    fn put(&self, task: Task) -> Put;

    /// Keeps a task where the others find it: somebody has asked for one.
    fn share(&self, task: Task);

    /// Makes all tasks of this worker public; false when they were.
    fn share_all(&self) -> bool {
        false
    }

    /// A position among this worker's own tasks, below all that it puts from now on.
    fn mark(&self) -> Mark;

    /// A task that is `wanted`: the worker's own newest one, or one from outside, or another worker's oldest.
    ///
    /// Adds what it did besides to `look`. May return nothing while another worker is just
    /// taking the last task. A wanted task is found wherever it lies among this worker's own (from the given mark on) and
    /// among those from outside; of another worker's, perhaps only the oldest is looked at.
    fn get(&self, wanted: Wanted<'_>, look: &mut Look) -> Option<Found>;
}

/// Who can find a task that was put.
#[must_use = "those who sleep have to be told"]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Put {
    /// Only this worker, and who is about to sleep.
    Private,
    /// Everybody, be it this task or an older one that made room for it.
    Shared,
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
    /// Also what other workers keep for themselves is looked at: this is the last look before sleep.
    pub is_last: bool,
    /// Looks at another worker's tasks.
    pub steals_tried: u64,
    /// Tasks that stay were out of the others' sight for a moment: who looked for them then has to be told.
    pub hid: bool,
}
