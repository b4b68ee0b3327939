//! The mailboxes of one runtime, with a second set for urgent messages.

use raddle_sync::CachePadded;
use raddle_sync::prim::{AtomicBool, Relaxed};

use super::{MailboxKind, Post, Sender};
use crate::task::{Arrivals, Task, TaskList};

/// The mailboxes of a runtime. They are open until its last worker ends.
#[derive(Debug)]
pub(crate) struct PostOffice {
    pub(crate) kind: MailboxKind,
    mailboxes: Box<dyn Post>,
    /// Messages that run before all messages in the worker's mailbox.
    urgent: Box<[CachePadded<Arrivals>]>,
    worker_count: usize,
    closed: AtomicBool,
}

impl PostOffice {
    /// Creates empty mailboxes for `worker_count` workers; `sender_limit` workers and compensating
    /// threads may send to them.
    pub(crate) fn new(kind: MailboxKind, worker_count: usize, sender_limit: usize) -> Self {
        Self {
            kind,
            mailboxes: kind.build(worker_count, sender_limit),
            urgent: (0..worker_count).map(|_| CachePadded::default()).collect(),
            worker_count,
            closed: AtomicBool::new(false),
        }
    }

    /// Returns the number of mailboxes.
    pub(crate) fn worker_count(&self) -> usize {
        self.worker_count
    }

    /// Returns true if messages of different senders arrive in the order in which they were put.
    pub(crate) fn is_one_queue(&self) -> bool {
        self.mailboxes.is_one_queue()
    }

    /// Returns the sending end of a worker. To be called once per worker.
    pub(crate) fn sender(&self, worker_index: usize) -> Box<dyn Sender> {
        self.mailboxes.sender(worker_index)
    }

    /// Puts a message of a thread that is no worker.
    pub(crate) fn put_outside(&self, to: usize, message: Task) {
        self.mailboxes.send_outside(to, message);
    }

    /// Puts a message that runs before all messages that are not urgent.
    pub(crate) fn put_urgent(&self, to: usize, message: Task) {
        self.urgent[to].put(message);
    }

    /// Receives what has arrived for a worker, or at least the oldest message. To be called by that
    /// worker, or after its end.
    ///
    /// Urgent messages are received last. So an urgent message that was sent before an ordinary one
    /// is here if the ordinary one is, and runs before it.
    #[inline]
    pub(crate) fn receive(&self, worker_index: usize, urgent: &mut TaskList, mail: &mut TaskList) {
        if self.mailboxes.has_mail(worker_index) {
            self.mailboxes.receive(worker_index, mail);
        }
        self.urgent[worker_index].take_all(urgent);
    }

    /// Returns false if the mailbox was empty at some moment during the call.
    #[inline]
    pub(crate) fn has_mail(&self, worker_index: usize) -> bool {
        !self.urgent[worker_index].is_empty() || self.mailboxes.has_mail(worker_index)
    }

    /// Returns true once the mailboxes are closed.
    #[inline]
    pub(crate) fn is_closed(&self) -> bool {
        // Relaxed: the caller provides the ordering.
        self.closed.load(Relaxed)
    }

    /// Closes the mailboxes: messages that are put from now on are dropped by their senders.
    pub(crate) fn close(&self) {
        // Relaxed: the caller provides the ordering.
        self.closed.store(true, Relaxed);
    }
}
