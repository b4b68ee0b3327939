//! The task: a pointer that owns its cell.

use std::ptr::NonNull;

use raddle_sync::deque::Word;

use super::{ForWhom, Kind, Message, TaskCell};
use crate::config::TaskMemory;
use crate::panics::discard_call;

/// A unit of work that some worker runs exactly once. Pools keep tasks and hand them out, but
/// cannot look inside.
#[derive(Debug)]
pub struct Task(NonNull<TaskCell>);

// SAFETY: the contents of the cell are Send (checked where tasks are made), and the cell's other
// fields are atomics.
unsafe impl Send for Task {}

// SAFETY: `from_raw` returns the pointer of `into_raw` unchanged. Looking at a stale task reads
// atomics of a cell, and cells stay allocated for the life of the process.
unsafe impl Word for Task {
    type Target = TaskCell;

    fn into_raw(self) -> *mut TaskCell {
        self.0.as_ptr()
    }

    unsafe fn from_raw(pointer: *mut TaskCell) -> Self {
        // SAFETY: from `into_raw`, which is never null (contract).
        Self(unsafe { NonNull::new_unchecked(pointer) })
    }
}

impl Task {
    #[inline]
    pub(crate) fn new(cell: &'static TaskCell) -> Self {
        Self(NonNull::from(cell))
    }

    #[inline]
    pub(crate) fn cell(&self) -> &'static TaskCell {
        // SAFETY: cells live as long as the process and are only ever shared.
        unsafe { self.0.as_ref() }
    }

    /// Returns true if the task is open ([`crate::open`]).
    #[inline]
    pub(crate) fn is_open(&self) -> bool {
        self.cell().is_open()
    }

    /// Returns true if the task has no parent: it came from outside.
    #[inline]
    pub(crate) fn is_root(&self) -> bool {
        self.cell().is_root()
    }

    /// Returns true if the task is `frame`, or was put by work below `frame` at any depth.
    ///
    /// Also returns true for a fork that its owner took back, so that the caller removes it. Cost:
    /// the depth of nesting.
    pub(crate) fn is_within(&self, frame: &TaskCell) -> bool {
        let cell = self.cell();
        cell.is_stale() || cell.is_within(frame)
    }

    /// Creates a message that calls `closure` on the worker that receives it. It has no parent.
    #[inline(always)]
    pub(crate) fn message(
        cell: &'static TaskCell,
        memory: TaskMemory,
        closure: impl Message + Send + 'static,
    ) -> Self {
        // SAFETY: `closure` borrows nothing that ends.
        unsafe { cell.make_closure(ForWhom::OneWorker, None, memory, closure) };
        Self::new(cell)
    }

    /// Creates a task without a parent that calls `closure` on the worker that gets it from the
    /// pool.
    #[inline(always)]
    pub(crate) fn call(
        cell: &'static TaskCell,
        memory: TaskMemory,
        closure: impl Message + Send + 'static,
    ) -> Self {
        // SAFETY: `closure` borrows nothing that ends.
        unsafe { cell.make_closure(ForWhom::AnyWorker, None, memory, closure) };
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
