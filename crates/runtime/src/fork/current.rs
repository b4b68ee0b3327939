//! The worker that the current thread is, found in one load.
//!
//! Every thread points to a fork stack: a worker to its own, all others to one without room, on which every fork
//! goes the slow way. So `join` tests for "am I a worker" only where it is slow anyway.

use std::cell::Cell;

use super::ForkStack;
use crate::worker::Worker;

static OUTSIDE: ForkStack = ForkStack::outside();

thread_local! {
    static CURRENT: Cell<*const ForkStack> = const { Cell::new(&raw const OUTSIDE) };
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

/// Calls `run` with the current thread being `worker`.
pub(crate) fn as_worker<R>(worker: &Worker, run: impl FnOnce() -> R) -> R {
    struct Leave;
    impl Drop for Leave {
        fn drop(&mut self) {
            CURRENT.set(&raw const OUTSIDE);
        }
    }
    let forks = worker.forks();
    forks.private.worker.set(worker);
    // Both are borrowed until this function ends, and so does `Leave`.
    CURRENT.set(forks);
    let _leave = Leave;
    run()
}

/// The worker that the current thread is, if it is one. Same conditions as for [`current_forks`].
#[inline]
pub(super) fn worker_of(forks: &ForkStack) -> Option<&Worker> {
    // SAFETY: null, or set by `as_worker` for as long as this thread is that worker.
    unsafe { forks.private.worker.get().as_ref() }
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
