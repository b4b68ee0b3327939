//! The mailboxes of one runtime, with a second set for urgent messages.

use std::sync::Arc;

use raddle_sync::CachePadded;
use raddle_sync::prim::{AtomicBool, Mutex, Relaxed};

use super::MailboxKind;
use super::traits::{Mailboxes, Receiver, Sender};
use crate::task::memory::CellSource;
use crate::task::{Arrivals, Task, TaskList};

/// The receiving end of a mailbox while no worker has it.
type Kept = Mutex<Option<Box<dyn Receiver>>>;

/// The mailboxes of a runtime. They are open until its last worker ends.
#[derive(Debug)]
pub(crate) struct WorkerMailboxes {
    kind: MailboxKind,
    mailboxes: Box<dyn Mailboxes>,
    /// Messages that run before all messages in the worker's mailbox.
    urgent: Box<[Arc<CachePadded<Arrivals>>]>,
    /// Open tasks that only one worker runs ([`crate::open`]).
    assigned: Box<[Arc<CachePadded<Arrivals>>]>,
    /// The receiving ends that no worker has at the moment.
    receivers: Box<[Kept]>,
    closed: AtomicBool,
}

impl WorkerMailboxes {
    /// Creates empty mailboxes for `worker_count` workers; `sender_limit` workers and compensating
    /// threads may send to them.
    pub(crate) fn new(kind: MailboxKind, worker_count: usize, sender_limit: usize) -> Self {
        let mailboxes = kind.build(worker_count, sender_limit);
        let receivers =
            (0..worker_count).map(|worker| Mutex::new(Some(mailboxes.receiver(worker))));
        Self {
            kind,
            receivers: receivers.collect(),
            mailboxes,
            urgent: (0..worker_count).map(|_| Arc::default()).collect(),
            assigned: (0..worker_count).map(|_| Arc::default()).collect(),
            closed: AtomicBool::new(false),
        }
    }

    /// Returns the kind of the mailboxes.
    pub(crate) fn kind(&self) -> MailboxKind {
        self.kind
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

    /// Puts an open task that only worker `to` runs.
    pub(crate) fn put_assigned(&self, to: usize, task: Task) {
        self.assigned[to].put(task);
    }

    /// Takes the receiving end of a worker's mailbox, which the worker keeps until it ends.
    ///
    /// # Panics
    /// If it was taken before.
    pub(crate) fn take_receiver(&self, worker_index: usize) -> Box<dyn Receiver> {
        let receiver = self.receiver(worker_index).take();
        receiver.expect("a mailbox has one receiver")
    }

    /// Gives the receiving end back at the end of the worker.
    pub(crate) fn give_back(&self, worker_index: usize, receiver: Box<dyn Receiver>) {
        *self.receiver(worker_index) = Some(receiver);
    }

    fn receiver(
        &self,
        worker_index: usize,
    ) -> impl std::ops::DerefMut<Target = Option<Box<dyn Receiver>>> + '_ {
        self.receivers[worker_index]
            .lock()
            .expect("nothing panics under this lock")
    }

    /// Returns the place where the urgent messages for a worker arrive.
    pub(crate) fn urgent(&self, worker_index: usize) -> Arc<CachePadded<Arrivals>> {
        Arc::clone(&self.urgent[worker_index])
    }

    /// Returns the place where the open tasks of one worker arrive.
    pub(crate) fn assigned(&self, worker_index: usize) -> Arc<CachePadded<Arrivals>> {
        Arc::clone(&self.assigned[worker_index])
    }

    /// Takes all messages of workers that have ended.
    pub(crate) fn take_left(&self, cells: CellSource<'_>) -> TaskList {
        let (mut urgent, mut mail) = (TaskList::default(), TaskList::default());
        for worker_index in 0..self.receivers.len() {
            // A worker that has not ended has its receiver.
            let receiver = self.receiver(worker_index);
            let Some(receiver) = receiver.as_deref() else {
                continue;
            };
            while receiver.has_mail() {
                receiver.receive(&mut mail, cells);
            }
            self.urgent[worker_index].take_all(&mut urgent);
            self.assigned[worker_index].take_all(&mut urgent);
        }
        urgent.append(mail);
        urgent
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

impl Drop for WorkerMailboxes {
    /// Drops the receiving ends. A thread that found the mailboxes closed may have used them
    /// before, under their locks. The owner's `Arc` orders that, too, but models do not know it.
    fn drop(&mut self) {
        for worker_index in 0..self.receivers.len() {
            drop(self.receiver(worker_index).take());
        }
    }
}
