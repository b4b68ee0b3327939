//! The end of a runtime: the count of unfinished calls, and how the last worker notices that it may
//! end.
//!
//! A worker ends when the runtime is stopping, no root task is unfinished, and the pool is empty. A
//! worker that is about to sleep must not miss the last of these events:
//!
//! | label | one side                           | other side                          |
//! |-------|------------------------------------|-------------------------------------|
//! | E1    | `stop` stores `stopping`,          | sleeper: sets its bit,              |
//! |       | fence(SeqCst), looks for sleepers  | fence(SeqCst), checks `stopping`    |
//! | E2    | `end_root` decrements `live`,      | `stop` as above; sleeper: as above, |
//! |       | fence(SeqCst), checks `stopping`   | then checks `live`                  |
//! | E3    | `stop` stores `stopping`           | `may_end` loads it, then `live`     |
//!
//! Suppose that a worker falls asleep although `stop` misses its bit and the last `end_root` misses
//! `stopping`. Then the fences are in the order `end_root`, `stop`, sleeper, and the sleeper sees
//! both stores.
//!
//! A resting compensating thread looks under the lock under which it is woken.

use raddle_sync::prim::{Acquire, AtomicBool, AtomicUsize, Mutex, Relaxed, Release, SeqCst, fence};

use super::{Shared, Waiter};

/// The state of the end of one runtime.
#[derive(Debug, Default)]
pub(super) struct Life {
    stopping: AtomicBool,
    /// Root tasks that are not finished.
    live: AtomicUsize,
    /// The root tasks among them that run on blocking threads, or will.
    calls: Mutex<Calls>,
    /// Worker threads that have not ended.
    threads: AtomicUsize,
    /// The thread that waits for the last of them.
    stopper: Mutex<Option<Waiter>>,
}

/// Calls on blocking threads that are not finished.
#[derive(Debug, Default)]
struct Calls {
    count: usize,
    /// The ending workers no longer wait for these calls: they do not count as root tasks.
    are_abandoned: bool,
}

impl Shared {
    /// Lets the workers end when the pool is empty and no root task is unfinished.
    pub(crate) fn stop(&self) {
        // ORDERING(E3): Release, every root task has been counted. ORDERING(E1): the fence is in
        // `wake_all`.
        self.life.stopping.store(true, Release);
        self.wake_all();
    }

    /// Returns true once [`stop`](Self::stop) was called. A hint.
    pub(crate) fn is_stopping(&self) -> bool {
        // Relaxed: a hint.
        self.life.stopping.load(Relaxed)
    }

    /// Returns true if a worker without work may end.
    pub(super) fn may_end(&self) -> bool {
        // ORDERING(E3): Acquire; with an outdated count the worker could end before a root task.
        self.life.stopping.load(Acquire)
            // Relaxed: a searching worker looks again; a sleeper looks after the fence of
            // `IdleSet::sleep` (E1, E2).
            && self.life.live.load(Relaxed) == 0
    }

    /// Counts a new root task.
    pub(crate) fn begin_root(&self) {
        // Relaxed: the task is put after it, and the thread that ends the task has got it from
        // there.
        self.life.live.fetch_add(1, Relaxed);
    }

    /// Counts the end of a root task, after the task has dropped everything.
    pub(crate) fn end_root(&self) {
        // Relaxed: ordered by the fence.
        if self.life.live.fetch_sub(1, Relaxed) == 1 {
            // ORDERING(E2): counted down before the look at `stopping`.
            fence(SeqCst);
            // Relaxed: ordered by the fence.
            if self.life.stopping.load(Relaxed) {
                self.wake_all();
            }
        }
    }

    /// Counts a new call for a blocking thread.
    pub(crate) fn begin_call(&self) {
        let mut calls = self.calls();
        calls.count += 1;
        if !calls.are_abandoned {
            self.begin_root();
        }
    }

    /// Counts the end of a call on a blocking thread, after the call has dropped everything.
    pub(crate) fn end_call(&self) {
        let are_abandoned = {
            let mut calls = self.calls();
            calls.count -= 1;
            calls.are_abandoned
        };
        if !are_abandoned {
            self.end_root();
        }
    }

    /// Lets the workers end although calls on blocking threads are not finished.
    pub(crate) fn abandon_calls(&self) {
        let count = {
            let mut calls = self.calls();
            let counted = if calls.are_abandoned { 0 } else { calls.count };
            calls.are_abandoned = true;
            counted
        };
        for _ in 0..count {
            self.end_root();
        }
    }

    /// Returns the numbers of root tasks and of calls on blocking threads that are not finished.
    pub(crate) fn unfinished(&self) -> (usize, usize) {
        let calls = self.calls();
        // Relaxed: a number for people.
        let live = self.life.live.load(Relaxed);
        let counted = if calls.are_abandoned { 0 } else { calls.count };
        (live.saturating_sub(counted), calls.count)
    }

    fn calls(&self) -> impl std::ops::DerefMut<Target = Calls> + '_ {
        self.life
            .calls
            .lock()
            .expect("nothing panics under this lock")
    }

    fn wake_all(&self) {
        self.idle.wake_all();
        self.wake_resting();
    }

    /// Sets the thread that the last worker thread notifies when it ends.
    pub(crate) fn set_stopper(&self, stopper: Waiter) {
        *self
            .life
            .stopper
            .lock()
            .expect("nothing panics under this lock") = Some(stopper);
    }

    /// Counts a worker thread that is about to be started.
    pub(super) fn begin_thread(&self) {
        // Relaxed: the thread's start orders it before its end.
        self.life.threads.fetch_add(1, Relaxed);
    }

    /// Counts the end of a worker thread. The last one closes the mailboxes and notifies the thread
    /// that waits for the end.
    pub(super) fn end_thread(&self) {
        // Relaxed: the lock orders it. The stopper registers under the lock, and then looks at the
        // count.
        if self.life.threads.fetch_sub(1, Relaxed) == 1 {
            self.close_post();
            self.placing.give_back();
            let stopper = self
                .life
                .stopper
                .lock()
                .expect("nothing panics under this lock")
                .take();
            if let Some(stopper) = stopper {
                stopper.notify();
            }
        }
    }

    /// Returns true when all worker threads have ended.
    pub(crate) fn have_threads_ended(&self) -> bool {
        // Relaxed: the lock of the stopper orders it, and the threads are joined afterwards.
        self.life.threads.load(Relaxed) == 0
    }
}
