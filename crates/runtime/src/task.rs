//! The task: a unit of work that a pool keeps, and the memory cell that holds it.
//!
//! A task cell has a fixed size. It comes from the free list of the worker that needs it and
//! returns there ([`memory`]). A cell holds one of four things ([`Kind`]): a closure that was
//! spawned or sent, a fork that its worker published, a call that a handle waits for, or the frame
//! of a scope, which is never run. While its closure or fork runs, the cell is the frame under
//! which new work is put. Every cell knows its parent, so that a waiting worker can tell work of
//! its own subtree from other work.
//!
//! # Lineage
//! The chain of parents of a cell is alive while the cell waits in a pool, because every frame
//! waits for the work that was put under it. The chain of a fork that its owner took back may be
//! gone. Cells are never given back to the system while the process runs ([`memory`]), so walking
//! such a chain reads stale numbers, but never foreign memory. The result is ignored, because
//! taking such a fork fails. `depth` falls with every step, so every walk ends.
//!
//! # Invariants
//! 1. The thread that makes a task writes its payload; the one thread that runs the task reads it.
//!    The pool orders the two.
//! 2. A cell is freed once: by the thread that ran it (closures and calls), by its scope (frames),
//!    or (forks) by its owner after the join, or by the thread that finds it in a pool after the
//!    owner took it back ([`raddle_sync::offer`]).

mod cell;
mod closure;
mod envelope;
mod job;
mod list;
pub(crate) mod memory;
mod message;
mod root_call;

use std::ptr::NonNull;

use raddle_sync::deque::Word;

pub(crate) use cell::{Kind, TaskCell};
pub(crate) use envelope::{Envelope, EnvelopeSlot};
pub(crate) use job::{JobHead, JobRef};
pub(crate) use list::TaskList;
pub(crate) use message::Arrivals;
pub use message::Message;
pub(crate) use root_call::RootCall;

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
    pub(crate) fn new(cell: &'static TaskCell) -> Self {
        Self(NonNull::from(cell))
    }

    pub(crate) fn cell(&self) -> &'static TaskCell {
        // SAFETY: cells live as long as the process and are only ever shared.
        unsafe { self.0.as_ref() }
    }

    /// Returns true if the task has no parent: it came from outside.
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
}
