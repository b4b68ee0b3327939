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

use super::{Shared, Waiter};

impl Shared {
    /// Lets the workers end when the pool is empty and no root task is unfinished.
    pub(crate) fn stop(&self) {
        self.shutdown().stop();
        self.wake_all();
    }

    /// Returns true once [`stop`](Self::stop) was called. A hint.
    pub(crate) fn is_stopping(&self) -> bool {
        self.shutdown().is_stopping()
    }

    /// Returns true if a worker without work may end.
    pub(crate) fn may_end(&self) -> bool {
        self.shutdown().may_end()
    }

    /// Counts a new root task.
    pub(crate) fn begin_root(&self) {
        self.shutdown().begin_root();
    }

    /// Counts the end of a root task, after the task has dropped everything.
    pub(crate) fn end_root(&self) {
        self.wake_all_if(self.shutdown().end_root());
    }

    /// Counts a new call for a blocking thread.
    pub(crate) fn begin_call(&self) {
        self.shutdown().begin_call();
    }

    /// Counts the end of a call on a blocking thread, after the call has dropped everything.
    pub(crate) fn end_call(&self) {
        self.wake_all_if(self.shutdown().end_call());
    }

    /// Lets the workers end although calls on blocking threads are not finished.
    pub(crate) fn abandon_calls(&self) {
        self.wake_all_if(self.shutdown().abandon_calls());
    }

    /// Returns the numbers of root tasks and of calls on blocking threads that are not finished.
    pub(crate) fn unfinished(&self) -> (usize, usize) {
        self.shutdown().unfinished()
    }

    fn wake_all_if(&self, may_end: bool) {
        if may_end {
            self.wake_all();
        }
    }

    fn wake_all(&self) {
        self.idle().wake_all();
        self.wake_resting();
    }

    /// Sets the thread that the last worker thread notifies when it ends.
    pub(crate) fn set_stopper(&self, stopper: Waiter) {
        self.shutdown()
            .set_stopper(Box::new(move || stopper.notify()));
    }

    /// Counts the end of a worker thread. The last one closes the mailboxes, drops the unfinished
    /// futures and notifies the thread that waits for the end.
    pub(super) fn end_thread(&self) {
        if !self.shutdown().end_thread() {
            return;
        }
        self.close_mailboxes();
        self.futures().close();
        self.placing().give_back();
        if let Some(stopper) = self.shutdown().take_stopper() {
            stopper();
        }
    }

    /// Returns true when all worker threads have ended.
    pub(crate) fn have_threads_ended(&self) -> bool {
        self.shutdown().have_threads_ended()
    }
}
