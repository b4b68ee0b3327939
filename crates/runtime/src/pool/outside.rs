//! The queue of tasks from threads that are not workers of this runtime. Every pool has one.
//!
//! A root task (a call from outside, or a task with a handle) belongs to no other work, so a
//! waiting worker never wants one. A task that another thread put into a scope may be what that
//! scope waits for. The two kinds are kept apart, so that a waiting worker searches only the second
//! kind, however many root tasks are queued. Open tasks ([`crate::open`]) that
//! belong to no other work are a third kind.
//!
//! The call of a root task may be started by the worker that waits for its handle. The task is
//! empty then ([`crate::task`]). When half of the queue consists of empty tasks, they are removed.

use raddle_sync::CachePadded;
use raddle_sync::lock::SimpleLock;
use raddle_sync::prim::{AtomicUsize, LIGHT, Relaxed};

use super::Wanted;
use super::store::{Fifo, List};
use crate::task::{Task, TaskList};

/// The number of empty tasks that are not worth removing.
const EMPTY_MIN: usize = if LIGHT { 0 } else { 64 };

/// Tasks from outside, in the order in which they came.
#[derive(Debug, Default)]
pub(crate) struct Outside {
    roots: CachePadded<List<SimpleLock, Fifo>>,
    below_scopes: List<SimpleLock, Fifo>,
    open: List<SimpleLock, Fifo>,
    /// An upper bound of the number of empty root tasks in the queue. Some of them may have been
    /// taken already.
    begun: AtomicUsize,
}

impl Outside {
    pub(crate) fn put(&self, task: Task) {
        match (task.is_root(), task.is_open()) {
            (true, true) => self.open.put(task),
            (true, false) => self.roots.put(task),
            (false, _) => self.below_scopes.put(task),
        }
    }

    /// Takes the oldest task that is wanted. Tasks for which a scope waits come first.
    pub(crate) fn take_oldest(&self, wanted: Wanted<'_>) -> Option<Task> {
        let (open, roots) = match wanted {
            Wanted::Any => (true, true),
            Wanted::Where(..) => (false, false),
            Wanted::OpenOr(_) => (true, false),
            Wanted::NotOpen => (false, true),
        };
        let below = self.below_scopes.take(wanted);
        below
            .or_else(|| open.then(|| self.open.take(wanted)).flatten())
            .or_else(|| roots.then(|| self.roots.take(wanted)).flatten())
    }

    #[inline]
    pub(crate) fn is_empty(&self) -> bool {
        self.roots.is_empty() && self.below_scopes.is_empty() && self.open.is_empty()
    }

    /// Returns the number of tasks. It may be outdated on return.
    pub(crate) fn len(&self) -> usize {
        self.roots.len() + self.below_scopes.len() + self.open.len()
    }

    /// Counts a root task that was started while it was queued. If many were, removes all empty
    /// tasks and returns them. The caller disposes of them.
    pub(crate) fn count_begun(&self) -> TaskList {
        // Relaxed: a rough count that decides when to look.
        let begun = self.begun.fetch_add(1, Relaxed) + 1;
        if begun <= EMPTY_MIN || 2 * begun <= self.roots.len() {
            return TaskList::default();
        }
        // Relaxed: as above.
        self.begun.store(0, Relaxed);
        self.roots.take_begun()
    }
}
