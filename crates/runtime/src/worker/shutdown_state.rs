//! The counts by which a runtime knows that it may end ([`super::end`]).

use std::mem;
use std::ops::DerefMut;

use raddle_sync::prim::{Acquire, AtomicBool, AtomicUsize, Mutex, Relaxed, Release, SeqCst, fence};

/// The state of the end of one runtime. Methods that return true ask the caller to wake all
/// workers.
#[derive(Default)]
pub(super) struct ShutdownState {
    stopping: AtomicBool,
    /// The number of root tasks that are not finished.
    live: AtomicUsize,
    /// The root tasks among them that run on blocking threads, or will.
    calls: Mutex<Calls>,
    /// The number of worker threads that have not ended.
    threads: AtomicUsize,
    /// The function that the last worker thread calls when it ends.
    stopper: Mutex<Option<Stopper>>,
}

/// A function that notifies the thread that waits for the end of the worker threads.
type Stopper = Box<dyn FnOnce() + Send>;

/// Calls on blocking threads that are not finished.
#[derive(Debug, Default)]
struct Calls {
    count: usize,
    /// True if the ending workers no longer wait for these calls, which then do not count as root
    /// tasks.
    are_abandoned: bool,
}

impl ShutdownState {
    /// Lets workers end. The caller wakes all of them.
    pub(super) fn stop(&self) {
        // ORDERING(E3): Release, every root task has been counted. ORDERING(E1): the fence is in
        // `Shared::wake_all`.
        self.stopping.store(true, Release);
    }

    /// Returns true once [`stop`](Self::stop) was called. A hint.
    pub(super) fn is_stopping(&self) -> bool {
        // Relaxed: a hint.
        self.stopping.load(Relaxed)
    }

    /// Returns true if a worker without work may end.
    #[inline]
    pub(super) fn may_end(&self) -> bool {
        // ORDERING(E3): Acquire; with an outdated count the worker could end before a root task.
        self.stopping.load(Acquire)
            // Relaxed: a searching worker looks again; a sleeper looks after the fence of
            // `IdleSet::sleep` (E1, E2).
            && self.live.load(Relaxed) == 0
    }

    /// Counts a new root task.
    pub(super) fn begin_root(&self) {
        // Relaxed: the task is put after it, and the thread that ends the task has got it from
        // there.
        self.live.fetch_add(1, Relaxed);
    }

    /// Counts the end of a root task, after the task has dropped everything.
    #[must_use]
    pub(super) fn end_root(&self) -> bool {
        // Relaxed: ordered by the fence.
        if self.live.fetch_sub(1, Relaxed) > 1 {
            return false;
        }
        // ORDERING(E2): counted down before the look at `stopping`.
        fence(SeqCst);
        // Relaxed: ordered by the fence.
        self.stopping.load(Relaxed)
    }

    /// Counts a new call for a blocking thread.
    pub(super) fn begin_call(&self) {
        let mut calls = self.calls();
        calls.count += 1;
        if !calls.are_abandoned {
            self.begin_root();
        }
    }

    /// Counts the end of a call on a blocking thread, after the call has dropped everything.
    #[must_use]
    pub(super) fn end_call(&self) -> bool {
        let are_abandoned = {
            let mut calls = self.calls();
            calls.count -= 1;
            calls.are_abandoned
        };
        !are_abandoned && self.end_root()
    }

    /// Lets the workers end although calls on blocking threads are not finished.
    #[must_use]
    pub(super) fn abandon_calls(&self) -> bool {
        let count = {
            let mut calls = self.calls();
            match mem::replace(&mut calls.are_abandoned, true) {
                true => 0,
                false => calls.count,
            }
        };
        (0..count).fold(false, |is_last, _| self.end_root() || is_last)
    }

    /// Returns the numbers of root tasks and of calls on blocking threads that are not finished.
    pub(super) fn unfinished(&self) -> (usize, usize) {
        let calls = self.calls();
        // Relaxed: a number for people.
        let live = self.live.load(Relaxed);
        let counted = if calls.are_abandoned { 0 } else { calls.count };
        (live.saturating_sub(counted), calls.count)
    }

    fn calls(&self) -> impl DerefMut<Target = Calls> + '_ {
        self.calls.lock().expect("nothing panics under this lock")
    }

    /// Sets what the last worker thread calls when it ends.
    pub(super) fn set_stopper(&self, stopper: Stopper) {
        *self.stopper() = Some(stopper);
    }

    /// Takes what the last worker thread calls.
    pub(super) fn take_stopper(&self) -> Option<Stopper> {
        self.stopper().take()
    }

    fn stopper(&self) -> impl DerefMut<Target = Option<Stopper>> + '_ {
        self.stopper.lock().expect("nothing panics under this lock")
    }

    /// Counts a worker thread that is about to be started.
    pub(super) fn begin_thread(&self) {
        // Relaxed: the thread's start orders it before its end.
        self.threads.fetch_add(1, Relaxed);
    }

    /// Counts the end of a worker thread. Returns true for the last one.
    pub(super) fn end_thread(&self) -> bool {
        // Relaxed: the lock orders it. The stopper registers under the lock, and then looks at the
        // count.
        self.threads.fetch_sub(1, Relaxed) == 1
    }

    /// Returns true when all worker threads have ended.
    pub(super) fn have_threads_ended(&self) -> bool {
        // Relaxed: the lock of the stopper orders it, and the threads are joined afterwards.
        self.threads.load(Relaxed) == 0
    }
}
