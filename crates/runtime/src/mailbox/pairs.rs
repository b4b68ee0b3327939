//! Mailboxes with one queue per pair of workers.

use raddle_sync::CachePadded;
use raddle_sync::lock::SimpleLock;
use raddle_sync::single_put::{Putter, Takers, single_put};

use super::each::Queue;
use super::producer_lock::ProducerLock;
use super::{Post, Sender};
use crate::pool::Parts;
use crate::task::{Task, TaskList};

/// Queues with one producer and one consumer each, and one more queue per worker for threads that
/// are no workers.
#[derive(Debug)]
pub(super) struct Pairs {
    /// For each sender, a queue to each worker.
    queues: Parts<Box<[Takers<SimpleLock, Task>]>, PairsSender>,
    from_outside: Box<[CachePadded<ProducerLock>]>,
}

#[derive(Debug)]
struct PairsSender {
    to: Box<[Putter<SimpleLock, Task>]>,
}

impl Pairs {
    pub(super) fn new(worker_count: usize, sender_limit: usize) -> Self {
        let queues = Parts::new(worker_count, sender_limit, move || {
            let (putters, takers): (Vec<_>, Vec<_>) =
                (0..worker_count).map(|_| single_put()).unzip();
            (takers.into(), PairsSender { to: putters.into() })
        });
        let from_outside = (0..worker_count).map(|_| CachePadded::default());
        Self {
            queues,
            from_outside: from_outside.collect(),
        }
    }
}

impl Post for Pairs {
    fn sender(&self, worker_index: usize) -> Box<dyn Sender> {
        Box::new(self.queues.take(worker_index))
    }

    fn send_outside(&self, to: usize, message: Task) {
        self.from_outside[to].put(message);
    }

    fn is_one_queue(&self) -> bool {
        false
    }

    fn receive(&self, worker_index: usize, mail: &mut TaskList) {
        let from = self.queues.iter().map(|to| &to[worker_index]);
        let oldest = from.filter_map(|takers| takers.take_where(|_| true));
        oldest.for_each(|message| mail.put_last(message));
        self.from_outside[worker_index].receive(mail);
    }

    fn has_mail(&self, worker_index: usize) -> bool {
        let mut from = self.queues.iter().map(|to| &to[worker_index]);
        from.any(|takers| !takers.is_empty()) || !self.from_outside[worker_index].is_empty()
    }
}

impl Sender for PairsSender {
    fn send(&self, to: usize, message: Task) {
        self.to[to].put(message);
    }
}
