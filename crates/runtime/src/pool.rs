//! The task pool: it keeps tasks until workers ask for them.
//!
//! A [`Pool`] is the structure that all workers share. Each worker accesses the pool through its
//! own [`Seat`]. A seat may contain private parts, such as the owner's end of a deque or a buffer,
//! which need no synchronisation. A pool only keeps tasks and hands them out. The layers above the
//! pool wake sleepers, count, and distinguish live forks from stale ones, in the same way for all
//! pools.
//!
//! A pool combines parts that can be chosen independently of each other:
//!
//! - a store: a list with some order and lock, a lock-free stack, or a queue that its owner fills
//!   without a lock;
//! - one store for all workers, or one for each worker, side by side or on separate cache lines;
//! - a private buffer, or none;
//! - single tasks, or blocks of several tasks;
//! - thieves that wait for a lock, or that go on to the next victim.
//!
//! [`PoolKind`] lists the pools. One more pool has a Chase-Lev deque for each worker, and one
//! chooses between other pools at run time (`auto`).
//!
//! The modules of this directory know tasks and the structures of `raddle_sync`. They know neither
//! workers nor runtimes.
//!
//! **Invariant:** a pool never runs, drops or copies a task. Every task that is put in comes out
//! exactly once.
//!
//! # Source
//! Hoffmann, Korch, Rauber: Performance evaluation of task pools based on hardware synchronization.
//! SC 2004, sect. 2.

mod auto;
mod blocks;
mod build;
mod central;
mod deque;
mod distributed;
pub(crate) mod hidden;
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
    /// Returns the name that `--pool` takes.
    fn name(&self) -> &'static str;

    /// Returns the seat of a worker. Called once for each worker, in any order.
    fn seat(&self, worker_index: usize) -> Box<dyn Seat>;

    /// Returns false if there was no task at some moment during the call. Tasks from outside do not
    /// count.
    ///
    /// The caller has executed a heavy fence before the call. It relies on seeing every task that
    /// was put before a fence of the worker that put it.
    fn has_work(&self) -> bool;

    /// Returns about how many tasks wait, or `None` if the pool does not count them: a statistic.
    fn len_estimate(&self) -> Option<usize> {
        None
    }

    /// Returns the choices of the pool so far, or `None` if the pool has no choice.
    fn choice(&self) -> Option<Choice> {
        None
    }
}

/// One worker's access to the pool. Used by one thread at a time.
pub trait Seat: fmt::Debug + Send {
    /// Keeps a task that this worker has created.
    fn put(&self, task: Task) -> Put;

    /// Keeps a task where other workers find it, because a worker has asked for one.
    fn share(&self, task: Task);

    /// Makes all tasks of this worker public. Returns false if they were public already.
    fn share_all(&self) -> bool {
        false
    }

    /// Returns a position among this worker's own tasks, below all tasks that it puts from now on.
    fn mark(&self) -> Mark;

    /// Returns true if this worker's own part of the pool has tasks. If all workers share one part,
    /// it is that part.
    fn has_own(&self) -> bool;

    /// Takes a task that is `wanted`: the worker's own newest one, one from outside, or the oldest
    /// one of another worker.
    ///
    /// Records in `look` what else it did. May return `None` while another worker is taking the
    /// last task. A wanted task is found wherever it is among this worker's own tasks (from the
    /// mark in `wanted` on) and among the tasks from outside. Of another worker's tasks, possibly
    /// only the oldest is checked.
    fn get(&self, wanted: Wanted<'_>, look: &mut Look) -> Option<Found>;
}

/// The workers that can find a task that was put.
#[must_use = "sleeping workers must be notified of a shared task"]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Put {
    /// Only this worker, and workers that are about to sleep.
    Private,
    /// All workers can find this task, or an older one that was moved to make space for it.
    Shared,
}

/// The tasks that a worker may run now.
#[derive(Clone, Copy)]
pub enum Wanted<'a> {
    /// All tasks.
    Any,
    /// The tasks that the function accepts. A worker that waits runs only work that it waits for.
    /// Among its own tasks, only tasks that were put since the mark can be accepted.
    Where(&'a dyn Fn(&Task) -> bool, Mark),
    /// All open tasks ([`crate::open`]), and the tasks that the function accepts.
    OpenOr(&'a dyn Fn(&Task) -> bool),
    /// All tasks that are not open: a compensating thread runs only these.
    NotOpen,
}

/// A position among a worker's own tasks. Its meaning depends on the pool.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Mark(pub isize);

impl Mark {
    /// The position below all tasks.
    pub(crate) const LOWEST: Self = Self(isize::MIN);
}

impl Wanted<'_> {
    /// Returns true if `task` is wanted.
    #[inline]
    pub fn accepts(&self, task: &Task) -> bool {
        match self {
            Self::Any => true,
            Self::Where(accepts, _) => accepts(task),
            Self::OpenOr(accepts) => task.is_open() || accepts(task),
            Self::NotOpen => !task.is_open(),
        }
    }

    /// Returns the position from which on a worker's own tasks can be wanted.
    pub(crate) fn mark(&self) -> Mark {
        match self {
            Self::Where(_, mark) => *mark,
            Self::Any | Self::OpenOr(_) | Self::NotOpen => Mark::LOWEST,
        }
    }
}

impl fmt::Debug for Wanted<'_> {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(match self {
            Self::Any => "Any",
            Self::Where(..) => "Where(..)",
            Self::OpenOr(_) => "OpenOr(_)",
            Self::NotOpen => "NotOpen",
        })
    }
}

/// A task that was taken from a pool, and the place from which it was taken.
#[derive(Debug)]
pub struct Found {
    /// The task. The caller owns it now.
    pub task: Task,
    /// The worker from which the task was stolen. `None` if the task was the caller's own, came
    /// from outside, or was in a store that all workers share.
    pub stolen_from: Option<usize>,
}

/// The mode and the side effects of a search for a task.
#[derive(Clone, Copy, Debug, Default)]
pub struct Look {
    /// Set by the caller for its last search before it sleeps: tasks that other workers keep
    /// private are included.
    pub is_last: bool,
    /// The number of attempts to take another worker's task.
    pub steals_tried: u64,
    /// Some tasks that are still in the pool were briefly invisible to other workers. A worker that
    /// searched at that moment must be notified.
    pub hid: bool,
}
