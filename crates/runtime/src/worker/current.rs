//! Finds the worker of the current thread in one load.
//!
//! Every thread points to a fork stack. A worker points to its own; all other threads point to one
//! without capacity, on which every fork takes the slow path. So `join` tests whether the thread is
//! a worker only on the slow path.

use std::cell::Cell;

use raddle_sync::prim::fork_count;

use super::{Forks, Worker};

#[cfg(not(any(loom, shuttle)))]
static OUTSIDE: Forks = Forks::new();

#[cfg(not(any(loom, shuttle)))]
thread_local! {
    static CURRENT: Cell<*const Forks> = const { Cell::new(&raw const OUTSIDE) };
}

// In a model nothing may be left from one execution to the next, so each of its threads has its own
// stack without capacity.
#[cfg(any(loom, shuttle))]
raddle_sync::prim::thread_local! {
    static OUTSIDE: Forks = Forks::new();
    static CURRENT: Cell<*const Forks> = Cell::new(OUTSIDE.with(std::ptr::from_ref));
}

/// Returns the fork stack of the current thread.
///
/// The reference must not leave the thread and must not outlive the worker's run; both hold for
/// callers inside a task.
#[inline]
pub(crate) fn current_forks<'a>() -> &'a Forks {
    let forks = CURRENT.with(Cell::get);
    // SAFETY: `OUTSIDE`, or the stack of the worker of this thread, which outlives all that runs on
    // it.
    unsafe { &*forks }
}

/// Restores the former worker of the current thread, unless fork(2) has meanwhile made it the
/// thread of a child process.
struct RestoreForks {
    before: *const Forks,
    fork_count: u64,
}

impl RestoreForks {
    /// Makes `forks` the stack of the current thread until the guard is dropped.
    fn after_setting(forks: *const Forks) -> Self {
        Self {
            before: CURRENT.with(|current| current.replace(forks)),
            fork_count: fork_count(),
        }
    }
}

impl Drop for RestoreForks {
    fn drop(&mut self) {
        CURRENT.with(|current| current.set(self.before));
        if fork_count() != self.fork_count {
            #[cfg(not(any(loom, shuttle)))]
            become_outside();
        }
    }
}

/// Calls `call` while the current thread counts as a thread outside all runtimes, even if it is a
/// worker. Its messages are sent as those of any other such thread.
pub fn as_outside_thread<R>(call: impl FnOnce() -> R) -> R {
    #[cfg(not(any(loom, shuttle)))]
    let outside = &raw const OUTSIDE;
    #[cfg(any(loom, shuttle))]
    let outside = OUTSIDE.with(std::ptr::from_ref);
    let _restore = RestoreForks::after_setting(outside);
    call()
}

/// Arranges that every child process that fork(2) makes calls [`become_outside`].
#[cfg(not(any(loom, shuttle)))]
pub(super) fn reset_workers_in_children() {
    use raddle_sync::prim::{AtomicBool, Relaxed, call_in_children};

    static IS_REGISTERED: AtomicBool = AtomicBool::new(false);
    // Relaxed: registering twice does no harm.
    if !IS_REGISTERED.load(Relaxed) {
        // SAFETY: it sets a thread-local variable that has no destructor.
        unsafe { call_in_children(become_outside) };
        // Relaxed: as above.
        IS_REGISTERED.store(true, Relaxed);
    }
}

/// Does nothing, because a model has no processes.
#[cfg(any(loom, shuttle))]
pub(super) fn reset_workers_in_children() {}

/// Makes the current thread count as no worker, in a process that fork(2) has just made, until its
/// former worker has ended. May be called in a signal handler.
#[cfg(not(any(loom, shuttle)))]
extern "C" fn become_outside() {
    // A thread that is about to end may have lost the variable, and is no worker.
    let _ = CURRENT.try_with(|current| {
        let forks = current.replace(&raw const OUTSIDE);
        // SAFETY: the stack of the former worker of this thread, or `OUTSIDE`.
        let forks = unsafe { &*forks };
        // SAFETY: only this thread is left, and a worker does not answer in a child process.
        unsafe { forks.slots().forget_raids() };
    });
}

/// Calls `run` while the current thread is `worker`.
pub(crate) fn as_worker<R>(worker: &Worker, run: impl FnOnce() -> R) -> R {
    let forks = worker.forks();
    start_forks(worker);
    worker.label_recording();
    // `_restore` lives until this function ends, as do both borrows.
    let _restore = RestoreForks::after_setting(forks);
    run()
}

fn start_forks(worker: &Worker) {
    worker.forks().start(worker, !worker.is_compensating, || {
        worker.shared().idle().anyone_sleeps()
    });
}

/// Makes the current thread a worker for the rest of its life. It runs tasks only while it waits.
///
/// The worker is leaked: a thread that ends in this state is never missed, because its work is
/// public while it waits, and private only while it runs.
pub(crate) fn become_worker(worker: Box<Worker>) {
    let worker: &'static Worker = Box::leak(worker);
    start_forks(worker);
    worker.label_recording();
    CURRENT.with(|current| current.set(worker.forks()));
}

/// Returns the worker of the current thread, if it is one.
///
/// `forks` is from [`current_forks`]. The conditions of that function hold here as well.
#[inline]
pub(crate) fn worker_of(forks: &Forks) -> Option<&Worker> {
    // SAFETY: set by `as_worker` for as long as this thread is that worker.
    unsafe { forks.worker() }
}

/// Calls `call` with the worker of the current thread.
#[inline]
pub(crate) fn with_worker<R>(call: impl FnOnce(Option<&Worker>) -> R) -> R {
    call(worker_of(current_forks()))
}

/// Returns the worker of the current thread. The caller keeps the reference on this thread and
/// inside the running task.
#[inline]
pub(crate) fn current_worker<'a>() -> Option<&'a Worker> {
    worker_of(current_forks())
}

/// Returns true if threads that the current thread starts inherit the binding of a worker.
pub(crate) fn is_on_bound_worker() -> bool {
    current_worker().is_some_and(|worker| worker.shared().placing().binds())
}
