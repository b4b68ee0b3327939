//! What comes from threads that are no workers here: there is one such queue, whatever the pool.
//!
//! A root task (a call from outside, a task with a handle) is below nothing, so a worker that waits never wants one. A task that
//! another thread put into a scope may be just what that scope waits for. The two are kept apart, so that who waits looks through the
//! second kind alone, however many roots are queued.
//!
//! A root task whose call was begun by who waits for its handle is an empty one ([`crate::task`]). When half of the
//! queue is empty, the empty ones are taken out.

use raddle_sync::CachePadded;
use raddle_sync::lock::SimpleLock;
use raddle_sync::prim::{AtomicUsize, LIGHT, Relaxed};

use super::Wanted;
use super::store::{Fifo, List};
use crate::task::{Task, TaskList};

/// Empty tasks that are not worth looking for.
const EMPTY_MIN: usize = if LIGHT { 0 } else { 64 };

/// Tasks from outside, in the order in which they came.
#[derive(Debug, Default)]
pub(crate) struct Outside {
    roots: CachePadded<List<SimpleLock, Fifo>>,
    below_scopes: List<SimpleLock, Fifo>,
    /// Root tasks that were begun while they were queued, at most; some of them may be out already.
    begun: AtomicUsize,
}

impl Outside {
    pub(crate) fn put(&self, task: Task) {
        if task.is_root() {
            self.roots.put(task);
        } else {
            self.below_scopes.put(task);
        }
    }

    /// The oldest task that is wanted; those that some scope waits for go first.
    pub(crate) fn take_oldest(&self, wanted: Wanted<'_>) -> Option<Task> {
        let below = self.below_scopes.take(wanted);
        below.or_else(|| match wanted {
            Wanted::Any => self.roots.take(wanted),
            Wanted::Where(..) => None,
        })
    }

    #[inline]
    pub(crate) fn is_empty(&self) -> bool {
        self.roots.is_empty() && self.below_scopes.is_empty()
    }

    /// How many there are. May be outdated on return, as any number here.
    pub(crate) fn len(&self) -> usize {
        self.roots.len() + self.below_scopes.len()
    }

    /// Counts a root task that was begun while it was queued; returns those to be disposed of, now and then.
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
