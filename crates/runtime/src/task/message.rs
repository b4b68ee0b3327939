//! Messages: tasks bound for one worker, and where they arrive.

use std::ptr::NonNull;

use raddle_sync::prim::Relaxed;
use raddle_sync::returns::{Linked, Returns};

use super::{Kind, Task, TaskCell, TaskList};
use crate::config::TaskMemory;

impl Task {
    /// A message that calls `closure` where it arrives. It is below nothing.
    pub(crate) fn message(
        cell: &'static TaskCell,
        memory: TaskMemory,
        closure: impl FnOnce() + Send + 'static,
    ) -> Self {
        // SAFETY: `closure` borrows nothing that ends.
        unsafe { cell.make_closure(None, memory, closure) };
        Self::new(cell)
    }

    /// Drops a message that nobody will run; its memory goes home.
    pub(crate) fn drop_message(self, give_back: impl FnOnce(&'static TaskCell)) {
        let cell = self.cell();
        debug_assert_eq!(cell.kind(), Kind::Closure);
        // SAFETY: the message is ours, and is not run. A destructor that panics leaves nothing behind.
        super::discard_call(|| unsafe { cell.drop_closure() });
        give_back(cell);
    }
}

/// Where messages arrive from many threads; one takes them.
#[derive(Debug, Default)]
pub(crate) struct Arrivals(Returns<TaskCell>);

impl Arrivals {
    #[inline]
    pub(crate) fn put(&self, task: Task) {
        // SAFETY: the task is the caller's, and is in no list.
        unsafe { self.0.push(NonNull::from(task.cell())) };
    }

    /// Moves all that have arrived to `mail`.
    #[inline]
    pub(crate) fn take_all(&self, mail: &mut TaskList) {
        let mut taken = TaskList::default();
        let mut at = self.0.take_all().map(|cell| {
            // SAFETY: cells live as long as the process.
            unsafe { cell.as_ref() }
        });
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
