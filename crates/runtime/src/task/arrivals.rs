//! The lock-free list where urgent messages arrive.

use std::ptr::NonNull;

use raddle_sync::prim::Relaxed;
use raddle_sync::push_list::{Linked, PushList};

use super::{Task, TaskCell, TaskList};

/// The place where messages of many threads arrive for one thread.
#[derive(Debug, Default)]
pub(crate) struct Arrivals(PushList<TaskCell>);

impl Arrivals {
    #[inline]
    pub(crate) fn put(&self, task: Task) {
        // SAFETY: the task is the caller's, and is in no list.
        unsafe { self.0.push(NonNull::from(task.cell())) };
    }

    /// Moves all messages that have arrived to the end of `mail`, oldest first.
    #[inline]
    pub(crate) fn take_all(&self, mail: &mut TaskList) {
        let mut taken = TaskList::default();
        let mut at = self.0.take_all().map(|cell| {
            // SAFETY: cells live as long as the process.
            unsafe { cell.as_ref() }
        });
        // The newest message comes first, so each one goes before those taken so far.
        while let Some(cell) = at {
            // Relaxed: published by the push.
            let next = cell.next().load(Relaxed);
            taken.put_first(Task::new(cell));
            // SAFETY: null, or a cell, which lives as long as the process.
            at = unsafe { next.as_ref() };
        }
        mail.append(taken);
    }

    #[inline]
    pub(crate) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
}
