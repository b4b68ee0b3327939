//! The worker that the current thread is, found in one load.
//!
//! Every thread points to a fork stack: a worker to its own, all others to one without room, on which every fork
//! goes the slow way. So `join` tests for "am I a worker" only where it is slow anyway.

use std::cell::Cell;

use raddle_sync::prim::fork_count;

use super::{ForkStack, SLOT_COUNT};
use crate::worker::Worker;

#[cfg(not(any(loom, shuttle)))]
static OUTSIDE: ForkStack = ForkStack::outside();

#[cfg(not(any(loom, shuttle)))]
thread_local! {
    static CURRENT: Cell<*const ForkStack> = const { Cell::new(&raw const OUTSIDE) };
}

// In a model nothing is left from one execution to the next, so each of its threads has a stack without room of its own.
#[cfg(any(loom, shuttle))]
raddle_sync::prim::thread_local! {
    static OUTSIDE: ForkStack = ForkStack::outside();
    static CURRENT: Cell<*const ForkStack> = Cell::new(OUTSIDE.with(std::ptr::from_ref));
}

/// The fork stack of the current thread.
///
/// The reference must not leave the thread, and not outlive the worker's run; both hold for callers inside a task.
#[inline]
pub(super) fn current_forks<'a>() -> &'a ForkStack {
    let forks = CURRENT.with(Cell::get);
    // SAFETY: `OUTSIDE`, or the stack of the worker that this thread is, which outlives all that runs on it.
    unsafe { &*forks }
}

/// Makes the current thread what it was before, unless fork(2) has meanwhile made it the thread of
/// a child process.
struct Leave {
    before: *const ForkStack,
    fork_count: u64,
}

impl Leave {
    /// Makes `forks` the stack of the current thread until this is dropped.
    fn after(forks: *const ForkStack) -> Self {
        Self {
            before: CURRENT.with(|current| current.replace(forks)),
            fork_count: fork_count(),
        }
    }
}

impl Drop for Leave {
    fn drop(&mut self) {
        CURRENT.with(|current| current.set(self.before));
        if fork_count() != self.fork_count {
            #[cfg(not(any(loom, shuttle)))]
            become_outside();
        }
    }
}

/// Calls `run` with the current thread being no worker.
pub(crate) fn as_nobody<R>(run: impl FnOnce() -> R) -> R {
    #[cfg(not(any(loom, shuttle)))]
    let outside = &raw const OUTSIDE;
    #[cfg(any(loom, shuttle))]
    let outside = OUTSIDE.with(std::ptr::from_ref);
    let _leave = Leave::after(outside);
    run()
}

/// Makes the current thread one that is no worker, in a process that fork(2) has just made, until
/// the worker that it was has ended. A signal handler may do that.
#[cfg(not(any(loom, shuttle)))]
pub(super) extern "C" fn become_outside() {
    // A thread that is about to end may have lost the variable, and is no worker.
    let _ = CURRENT.try_with(|current| {
        let forks = current.replace(&raw const OUTSIDE);
        // SAFETY: the stack of the worker that this thread was, or `OUTSIDE`.
        let stack = unsafe { &(*forks).stack };
        // SAFETY: only this thread is left, and a worker does not answer in a child process.
        unsafe { stack.forget_raids() };
    });
}

/// Calls `run` with the current thread being `worker`.
pub(crate) fn as_worker<R>(worker: &Worker, run: impl FnOnce() -> R) -> R {
    let forks = worker.forks();
    forks
        .stack
        .allocate(SLOT_COUNT, || worker.shared().idle.anyone_sleeps());
    forks.worker.set(worker);
    // Both are borrowed until this function ends, and so does `Leave`.
    let _leave = Leave::after(forks);
    run()
}

/// The worker that the current thread is, if it is one. Same conditions as for [`current_forks`].
#[inline]
pub(super) fn worker_of(forks: &ForkStack) -> Option<&Worker> {
    // SAFETY: null, or set by `as_worker` for as long as this thread is that worker.
    unsafe { forks.worker.get().as_ref() }
}

/// The worker that the current thread is, for the length of a call.
#[inline]
pub(crate) fn with_worker<R>(call: impl FnOnce(Option<&Worker>) -> R) -> R {
    call(worker_of(current_forks()))
}

/// The worker that the current thread is. The caller keeps it on this thread, inside the running task.
#[inline]
pub(crate) fn current_worker<'a>() -> Option<&'a Worker> {
    worker_of(current_forks())
}
