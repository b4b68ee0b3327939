//! A queue with one consumer, and a lock among its producers.

use raddle_sync::lock::{Locked, PthreadLock, SimpleLock};
use raddle_sync::single_put::{Putter, Takers, single_put};

use super::each::Queue;
use crate::task::Task;

/// A queue with a lock at its sending end. The receiving end has its own lock, which a producer
/// takes only to enlarge the queue.
#[derive(Debug)]
pub(super) struct ProducerLock {
    putter: Locked<PthreadLock, Putter<SimpleLock, Task>>,
    takers: Takers<SimpleLock, Task>,
}

impl Default for ProducerLock {
    fn default() -> Self {
        let (putter, takers) = single_put();
        Self {
            putter: Locked::new(putter),
            takers,
        }
    }
}

impl Queue for ProducerLock {
    fn put(&self, message: Task) {
        self.putter.with(|putter| putter.put(message));
    }

    fn take(&self) -> Option<Task> {
        self.takers.take_where(|_| true)
    }

    fn is_empty(&self) -> bool {
        self.takers.is_empty()
    }
}
