//! Mailboxes with one queue per pair of workers.

use std::sync::Arc;

use raddle_sync::CachePadded;
use raddle_sync::lock::SimpleLock;
use raddle_sync::single_put::{Putter, Takers, single_put};

use super::each::Queue;
use super::producer_lock::ProducerLock;
use super::traits::{Mailboxes, RECEIVED_MAX, Receiver, Sender};
use crate::pool::Parts;
use crate::task::memory::CellSource;
use crate::task::{Task, TaskList};

/// The mailboxes of all workers, each with one queue per sender.
#[derive(Debug)]
pub(super) struct Pairs(Arc<Queues>);

/// Queues with one producer and one consumer each, and one more queue per worker for threads that
/// are no workers.
#[derive(Debug)]
struct Queues {
    /// For each sender, a queue to each worker.
    between: Parts<Box<[Takers<SimpleLock, Task>]>, PairsSender>,
    from_outside: Box<[CachePadded<ProducerLock>]>,
}

#[derive(Debug)]
struct PairsSender {
    to: Box<[Putter<SimpleLock, Task>]>,
}

/// The receiving ends of all queues to one worker.
#[derive(Debug)]
struct PairsReceiver {
    queues: Arc<Queues>,
    worker_index: usize,
}

impl Pairs {
    pub(super) fn new(worker_count: usize, sender_limit: usize) -> Self {
        let between = Parts::new(worker_count, sender_limit, move || {
            let (putters, takers): (Vec<_>, Vec<_>) =
                (0..worker_count).map(|_| single_put()).unzip();
            (takers.into(), PairsSender { to: putters.into() })
        });
        let from_outside = (0..worker_count).map(|_| CachePadded::default());
        Self(Arc::new(Queues {
            between,
            from_outside: from_outside.collect(),
        }))
    }
}

impl Mailboxes for Pairs {
    fn sender(&self, worker_index: usize) -> Box<dyn Sender> {
        Box::new(self.0.between.take(worker_index))
    }

    fn send_outside(&self, to: usize, message: Task) {
        self.0.from_outside[to].put(message);
    }

    fn is_one_queue(&self) -> bool {
        false
    }

    fn receiver(&self, worker_index: usize) -> Box<dyn Receiver> {
        Box::new(PairsReceiver {
            queues: Arc::clone(&self.0),
            worker_index,
        })
    }
}

impl Sender for PairsSender {
    fn send(&self, to: usize, message: Task) {
        self.to[to].put(message);
    }
}

impl Receiver for PairsReceiver {
    fn receive(&self, mail: &mut TaskList, _cells: CellSource<'_>) {
        let from_outside = &self.queues.from_outside[self.worker_index];
        let len = mail.len();
        // One message of each sender in turn.
        loop {
            let before = mail.len();
            let from = self.queues.between.iter().map(|to| &to[self.worker_index]);
            let oldest = from.filter_map(|takers| takers.take_where(|_| true));
            let oldest = oldest.chain(from_outside.take());
            oldest.for_each(|message| mail.put_last(message));
            if mail.len() == before || mail.len() - len >= RECEIVED_MAX {
                return;
            }
        }
    }

    fn has_mail(&self) -> bool {
        let mut from = self.queues.between.iter().map(|to| &to[self.worker_index]);
        let from_outside = &self.queues.from_outside[self.worker_index];
        from.any(|takers| !takers.is_empty()) || !from_outside.is_empty()
    }
}
