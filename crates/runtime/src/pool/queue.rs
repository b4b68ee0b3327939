//! A queue of tasks under a lock, taken from either end: the part that lock-based pools are made of.

use std::collections::VecDeque;

use raddle_sync::prim::{AtomicUsize, Mutex, Relaxed};

use super::Wanted;
use crate::task::Task;

/// Tasks under a lock; a look at an empty queue takes no lock.
#[derive(Debug, Default)]
pub(super) struct Queue {
    tasks: Mutex<VecDeque<Task>>,
    len: AtomicUsize,
}

impl Queue {
    pub(super) fn put(&self, task: Task) {
        self.change(|tasks| tasks.push_back(task));
    }

    /// The newest task that is wanted.
    pub(super) fn take_newest(&self, wanted: Wanted<'_>) -> Option<Task> {
        self.take(|tasks| match wanted {
            Wanted::Any => tasks.pop_back(),
            Wanted::Where(..) => {
                let index = tasks.iter().rposition(|task| wanted.accepts(task))?;
                tasks.remove(index)
            }
        })
    }

    /// The oldest task that is wanted.
    pub(super) fn take_oldest(&self, wanted: Wanted<'_>) -> Option<Task> {
        self.take(|tasks| match wanted {
            Wanted::Any => tasks.pop_front(),
            Wanted::Where(..) => {
                let index = tasks.iter().position(|task| wanted.accepts(task))?;
                tasks.remove(index)
            }
        })
    }

    #[inline]
    pub(super) fn is_empty(&self) -> bool {
        // Relaxed: callers that rely on the answer put a SeqCst fence before it (`Pool::has_work`).
        self.len.load(Relaxed) == 0
    }

    fn take(&self, pick: impl FnOnce(&mut VecDeque<Task>) -> Option<Task>) -> Option<Task> {
        if self.is_empty() {
            None
        } else {
            self.change(pick)
        }
    }

    fn change<R>(&self, change: impl FnOnce(&mut VecDeque<Task>) -> R) -> R {
        let mut tasks = self.tasks.lock().expect("no pool panics under its lock");
        let result = change(&mut tasks);
        // Relaxed: written under the lock; read as a hint, or after a fence (`is_empty`).
        self.len.store(tasks.len(), Relaxed);
        result
    }
}
