//! A queue of calls: each task of the pool that was put for one of them runs the oldest one.

use std::collections::VecDeque;
use std::sync::{Mutex, MutexGuard, PoisonError};

/// A call that was put into a queue.
pub(crate) type Call = Box<dyn FnOnce() + Send>;

/// A queue of calls that one thread puts and any thread takes.
#[derive(Default)]
pub(crate) struct Fifo(Mutex<VecDeque<Call>>);

impl Fifo {
    /// Creates `count` empty queues.
    pub(crate) fn many(count: usize) -> Box<[Self]> {
        (0..count).map(|_| Self::default()).collect()
    }

    pub(crate) fn put(&self, call: Call) {
        self.calls().push_back(call);
    }

    /// Runs the oldest call. There is one for each call of this function.
    pub(crate) fn run_oldest(&self) {
        let call = self.calls().pop_front();
        call.expect("a call was put for each task")();
    }

    fn calls(&self) -> MutexGuard<'_, VecDeque<Call>> {
        // Nothing panics under this lock.
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
