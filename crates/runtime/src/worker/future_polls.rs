//! The place where the polls of spawned futures wait for a worker.
//!
//! A worker keeps a future that it has woken in its own part of the pool, newest first, because its
//! data are in that worker's cache. Two kinds of polls go behind all others instead, into the queue
//! from outside, so that futures which wake each other all the time do not hold up the rest: the
//! poll of a future that was woken while it ran, and every [`OWN_MAX`]th poll of a worker.

use std::sync::Arc;

use raddle_sync::prim::LIGHT;

use super::{Shared, Worker};
use crate::task::Task;

/// The number of polls that a worker keeps for itself before it puts one into the queue from
/// outside.
const OWN_MAX: u32 = if LIGHT { 2 } else { 32 };

impl Shared {
    /// Puts a poll of a future into the pool, from any thread. `is_yield` says that the future was
    /// woken while it ran.
    ///
    /// After the end of the runtime, and in a child process, the poll is dropped.
    pub(crate) fn put_poll(self: &Arc<Self>, is_yield: bool, poll: impl FnOnce() + Send + 'static) {
        match self.own_worker() {
            Some(worker) if !is_yield && worker.may_keep_poll() => {
                let closures = self.memory().closures();
                worker.put(Task::call(worker.take_cell(), closures, poll));
            }
            _ => self.put_call_outside(poll),
        }
    }
}

impl Worker {
    /// Counts a poll that this worker puts. Returns false for every [`OWN_MAX`]th.
    fn may_keep_poll(&self) -> bool {
        let count = (self.polls_kept.get() + 1) % OWN_MAX;
        self.polls_kept.set(count);
        count > 0
    }
}
