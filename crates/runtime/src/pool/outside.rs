//! What comes from threads that are no workers here: the part that all pools share.
//!
//! A root task (a call from outside, a task with a handle) is below nothing, so a worker that waits in a join or a scope
//! never wants one. A task that another thread put into a scope may be just what that scope waits for. The two are kept apart, so
//! that who waits looks through the second kind alone, however many roots are queued.

use raddle_sync::lock::SimpleLock;

use super::Wanted;
use super::store::{Fifo, List};
use crate::task::Task;

/// Tasks from outside, in the order in which they came.
#[derive(Debug, Default)]
pub(super) struct Outside {
    roots: List<SimpleLock, Fifo>,
    below_scopes: List<SimpleLock, Fifo>,
}

impl Outside {
    pub(super) fn put(&self, task: Task) {
        if task.is_root() {
            self.roots.put(task);
        } else {
            self.below_scopes.put(task);
        }
    }

    /// The oldest task that is wanted; those that some scope waits for go first.
    pub(super) fn take_oldest(&self, wanted: Wanted<'_>) -> Option<Task> {
        let below = self.below_scopes.take(wanted);
        below.or_else(|| match wanted {
            Wanted::Any => self.roots.take(wanted),
            Wanted::Where(..) => None,
        })
    }

    #[inline]
    pub(super) fn is_empty(&self) -> bool {
        self.roots.is_empty() && self.below_scopes.is_empty()
    }
}
