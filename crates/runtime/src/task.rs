//! The task: a unit of work that a pool keeps, and the cell of memory that it lives in.
//!
//! A task cell has a fixed size, comes from the free list of the worker that needs it and returns there
//! ([`memory`]). It is one of three things: a closure that was spawned, a fork that its worker published, or the
//! frame of a scope, which is never run. While its closure or fork runs, the cell is the frame under which new
//! work is put: every cell knows its parent, so that a waiter can tell its own subtree from foreign work.
//!
//! # Lineage
//! A cell's chain of parents is alive while the cell waits in a pool, because every frame waits for what was put
//! under it. The chain of a fork that its owner took back may be gone: cells are never given back to the system
//! while the process runs ([`memory`]), so that walking a dead chain reads old numbers, not foreign memory, and
//! its answer counts for nothing, since taking such a fork fails. `depth` falls with every step, so every walk ends.
//!
//! # Invariants
//! 1. The payload is written by the thread that makes the task and read by the one thread that runs it; the pool
//!    orders the two.
//! 2. A cell is freed once: by whoever ran it (closures), by its owner after the join or by whoever finds it in a
//!    pool after the owner took it back (forks, [`raddle_sync::offer`]), by its scope (frames).

mod cell;
mod handle;
mod list;
pub(crate) mod memory;
mod message;
mod root;
mod run;
mod scope;
mod waiter;

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::ptr::NonNull;

use raddle_sync::deque::Word;

pub(crate) use cell::{Kind, TaskCell};
pub use handle::Handle;
pub(crate) use handle::OnPanic;
pub(crate) use list::TaskList;
pub(crate) use message::Arrivals;
pub(crate) use root::run_root;
pub(crate) use scope::scope_in;
pub use scope::{Scope, scope};
pub use waiter::Waiter;

/// A unit of work, to be run exactly once by some worker. Pools keep and hand out tasks; they cannot look inside.
#[derive(Debug)]
pub struct Task(NonNull<TaskCell>);

// SAFETY: what the cell carries is Send (checked where tasks are made), and the cell's own fields are atomics.
unsafe impl Send for Task {}

// SAFETY: the pointer goes out and comes back unchanged. Looking at a stale task reads atomics of a cell that is
// memory of this kind for the life of the process.
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

    /// True when the task is below no other: it came from outside.
    pub(crate) fn is_root(&self) -> bool {
        self.cell().is_root()
    }

    /// True when the task is `frame` or was put, at whatever distance, by work under `frame`.
    ///
    /// True also for a fork that its owner took back, so that whoever looks removes it. Cost: the depth of nesting.
    pub(crate) fn is_within(&self, frame: &TaskCell) -> bool {
        let cell = self.cell();
        cell.is_stale() || cell.is_within(frame)
    }
}

/// Drops what nobody wants; a panic of its destructor, and of the destructor of that panic, stays here.
pub(crate) fn discard<T>(unwanted: T) {
    discard_call(|| drop(unwanted));
}

/// Calls what only drops something; panics stay here.
fn discard_call(call: impl FnOnce()) {
    if let Err(panic) = catch_unwind(AssertUnwindSafe(call)) {
        std::mem::forget(panic);
    }
}
