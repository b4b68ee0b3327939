//! Mailboxes with one queue per worker, into which all senders put.

use std::fmt;
use std::sync::Arc;

use raddle_sync::CachePadded;
use raddle_sync::lock::PthreadLock;

use super::traits::{Mailboxes, RECEIVED_MAX, Receiver, Sender};
use crate::pool::{Fifo, List, Wanted};
use crate::task::memory::CellSource;
use crate::task::{Task, TaskList};

/// A queue in which messages of many threads wait for one thread.
pub(super) trait Queue: Default + fmt::Debug + Send + Sync + 'static {
    /// Puts a message.
    fn put(&self, message: Task);

    /// Takes the oldest message.
    fn take(&self) -> Option<Task>;

    /// Returns true if the queue was empty at some moment during the call.
    fn is_empty(&self) -> bool;
}

/// One queue per worker.
#[derive(Debug)]
pub(super) struct Each<Q>(Arc<[CachePadded<Q>]>);

impl<Q: Queue> Each<Q> {
    pub(super) fn new(worker_count: usize) -> Self {
        Self((0..worker_count).map(|_| CachePadded::default()).collect())
    }
}

impl<Q: Queue> Mailboxes for Each<Q> {
    fn sender(&self, _worker_index: usize) -> Box<dyn Sender> {
        Box::new(Self(Arc::clone(&self.0)))
    }

    fn send_outside(&self, to: usize, message: Task) {
        self.0[to].put(message);
    }

    fn is_one_queue(&self) -> bool {
        true
    }

    fn receiver(&self, worker_index: usize) -> Box<dyn Receiver> {
        Box::new(EachReceiver {
            queues: Arc::clone(&self.0),
            worker_index,
        })
    }
}

/// The receiving end of one of the queues.
#[derive(Debug)]
struct EachReceiver<Q> {
    queues: Arc<[CachePadded<Q>]>,
    worker_index: usize,
}

impl<Q: Queue> Receiver for EachReceiver<Q> {
    fn receive(&self, mail: &mut TaskList, _cells: CellSource<'_>) {
        let queue = &self.queues[self.worker_index];
        for _ in 0..RECEIVED_MAX {
            let Some(message) = queue.take() else { return };
            mail.put_last(message);
        }
    }

    fn has_mail(&self) -> bool {
        !self.queues[self.worker_index].is_empty()
    }
}

impl<Q: Queue> Sender for Each<Q> {
    fn send(&self, to: usize, message: Task) {
        self.0[to].put(message);
    }
}

impl Queue for List<PthreadLock, Fifo> {
    fn put(&self, message: Task) {
        Self::put(self, message);
    }

    fn take(&self) -> Option<Task> {
        Self::take(self, Wanted::Any)
    }

    fn is_empty(&self) -> bool {
        Self::is_empty(self)
    }
}
