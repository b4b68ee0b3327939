//! Messages: tasks that are addressed to one worker, and the lock-free list where urgent ones
//! arrive.

use std::ptr::NonNull;

use raddle_sync::prim::Relaxed;
use raddle_sync::push_list::{Linked, PushList};

use super::{Kind, Task, TaskCell, TaskList};
use crate::config::TaskMemory;
use crate::panics::discard_call;

impl Task {
    /// Creates a message that calls `closure` on the worker that receives it. It has no parent.
    #[inline(always)]
    pub(crate) fn message(
        cell: &'static TaskCell,
        memory: TaskMemory,
        closure: impl Message + Send + 'static,
    ) -> Self {
        // SAFETY: `closure` borrows nothing that ends.
        unsafe { cell.make_closure(None, memory, closure) };
        Self::new(cell)
    }

    /// Drops a message that no worker will run, and returns its cell with `give_back`.
    pub(crate) fn drop_message(self, give_back: impl FnOnce(&'static TaskCell)) {
        let cell = self.cell();
        debug_assert_eq!(cell.kind(), Kind::Closure);
        // SAFETY: the message is ours, and is not run. A destructor that panics leaves nothing
        // behind.
        discard_call(|| unsafe { cell.drop_closure() });
        give_back(cell);
    }
}

/// A call for one worker ([`Post::send`](crate::Post::send)). Closures are messages.
///
/// A type of your own can be a message, too, so that `run` can be marked `#[inline(always)]`. Then
/// the worker reads the fields that it needs, where a closure may first be copied as a whole.
pub trait Message {
    /// Makes the call, on the worker that has received the message.
    fn run(self);
}

impl<F: FnOnce()> Message for F {
    #[inline]
    fn run(self) {
        self();
    }
}

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
