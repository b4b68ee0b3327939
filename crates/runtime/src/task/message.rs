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

    /// The same message, to be run before those that are not urgent.
    pub(crate) fn urgent(self) -> Self {
        self.cell().make_urgent();
        self
    }

    /// Drops a message that nobody will run; its memory goes home.
    pub(crate) fn drop_message(self, give_back: impl FnOnce(&'static TaskCell)) {
        let cell = self.cell();
        debug_assert!(matches!(cell.kind(), Kind::Closure | Kind::Urgent));
        // SAFETY: the message is ours, and is not run. A destructor that panics leaves nothing behind.
        super::discard_call(|| unsafe { cell.drop_closure() });
        give_back(cell);
    }
}

/// Messages that have arrived at their worker.
#[derive(Debug, Default)]
pub(crate) struct Mail {
    ordinary: TaskList,
    urgent: TaskList,
}

impl Mail {
    #[inline]
    fn list_of(&mut self, cell: &TaskCell) -> &mut TaskList {
        match cell.kind() {
            Kind::Urgent => &mut self.urgent,
            _ => &mut self.ordinary,
        }
    }

    #[inline]
    pub(crate) fn put_last(&mut self, message: Task) {
        self.list_of(message.cell()).put_last(message);
    }

    /// The oldest of the urgent ones, or else of all.
    #[inline]
    pub(crate) fn take_first(&mut self) -> Option<Task> {
        if self.urgent.is_empty() {
            return self.ordinary.take_first();
        }
        self.urgent.take_first()
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.ordinary.is_empty() && self.urgent.is_empty()
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
    pub(crate) fn take_all(&self, mail: &mut Mail) {
        let mut taken = Mail::default();
        let mut at = self.0.take_all().map(|cell| {
            // SAFETY: cells live as long as the process.
            unsafe { cell.as_ref() }
        });
        while let Some(cell) = at {
            // Relaxed: published by the push.
            let next = cell.next().load(Relaxed);
            taken.list_of(cell).put_first(Task::new(cell));
            // SAFETY: null, or a cell, which lives as long as the process.
            at = unsafe { next.as_ref() };
        }
        mail.ordinary.append(taken.ordinary);
        mail.urgent.append(taken.urgent);
    }

    #[inline]
    pub(crate) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
}
