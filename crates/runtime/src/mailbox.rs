//! Mailboxes: queues of messages that are addressed to one worker. The worker looks there before
//! anywhere else.
//!
//! A message is a task ([`crate::task`]). In the lock-free mailboxes a small closure is stored in
//! the slot, and its cell is one of the receiver; otherwise sending moves the pointer to a cell.
//! Messages of one sender arrive in the order in which they were sent. A message that a worker
//! sends to itself goes through no mailbox.
//!
//! | kind | producers | consumer |
//! |---|---|---|
//! | [`LockFree`](MailboxKind::LockFree) | one compare-and-swap | reads its slots, no update |
//! | [`Locked`](MailboxKind::Locked) | the lock of the queue | the same lock |
//! | [`ProducerLock`](MailboxKind::ProducerLock) | a lock among producers | a lock of its own |
//! | [`Pairs`](MailboxKind::Pairs) | a queue to each worker, without a lock | all its queues |
//!
//! # Source
//! Mei, Zheng, Gioachin, Kalé: Optimizing a parallel runtime system for multicore clusters. 2010,
//! sect. 3.2.3, has the last three, one after the other, and rejects the first as too costly.

mod blocks;
mod each;
mod pairs;
mod producer_lock;
mod worker_mailboxes;

use std::fmt;

use raddle_sync::lock::PthreadLock;
use raddle_sync::mpsc::Claimed;
use raddle_sync::prim::LIGHT;

use self::blocks::Blocks;
use self::each::Each;
use self::pairs::Pairs;
use self::producer_lock::ProducerLock;
use crate::config::choice;
use crate::pool::{Fifo, List};
use crate::task::memory::CellSource;
use crate::task::{EnvelopeSlot, Task, TaskList};

pub(crate) use self::worker_mailboxes::WorkerMailboxes;

/// The kind of the workers' mailboxes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum MailboxKind {
    /// Any number of producers and one consumer, without a lock.
    #[default]
    LockFree,
    /// A queue under a Pthreads mutex.
    Locked,
    /// One consumer, and a Pthreads mutex among producers.
    ProducerLock,
    /// A queue for each pair of workers. Memory grows with the square of their number.
    Pairs,
}

choice! {
    MailboxKind is "mailbox", named by "`--mailbox` and `RADDLE_MAILBOX`":
    LockFree "lock-free", Locked "locked", ProducerLock "producer-lock", Pairs "pairs";
    expected "lock-free, locked, producer-lock or pairs", else UnknownMailbox
}

/// The largest number of messages that are received at once, so that a worker runs its messages
/// even if others send as fast as it receives.
const RECEIVED_MAX: usize = if LIGHT { 2 } else { 64 };

/// The mailboxes of all workers of a runtime.
pub(crate) trait Mailboxes: fmt::Debug + Send + Sync {
    /// Returns the sending end of a worker. To be called once per worker.
    fn sender(&self, worker_index: usize) -> Box<dyn Sender>;

    /// Puts a message of a thread that is no worker into a mailbox.
    fn send_outside(&self, to: usize, message: Task);

    /// Returns true if messages of different senders arrive in the order in which they were put.
    fn is_one_queue(&self) -> bool;

    /// Returns the receiving end of a mailbox. To be called once per worker.
    fn receiver(&self, worker_index: usize) -> Box<dyn Receiver>;
}

/// The receiving end of one mailbox. One thread at a time has it.
pub(crate) trait Receiver: fmt::Debug + Send {
    /// Appends what has arrived, up to about [`RECEIVED_MAX`] messages, to `mail`.
    /// Messages without a cell get one of `cells`, which are those of the worker.
    fn receive(&self, mail: &mut TaskList, cells: CellSource<'_>);

    /// Receives as [`receive`](Self::receive) does, with an empty `mail`, and returns the oldest
    /// message.
    fn receive_first(&self, mail: &mut TaskList, cells: CellSource<'_>) -> Option<Task> {
        self.receive(mail, cells);
        mail.take_first()
    }

    /// Returns false if the mailbox was empty at some moment during the call.
    fn has_mail(&self) -> bool;
}

/// One worker's sending end of the mailboxes.
pub(crate) trait Sender: fmt::Debug + Send {
    /// Puts a message into a mailbox.
    fn send(&self, to: usize, message: Task);

    /// Returns a slot of a mailbox for a message without a cell, if this kind has such slots.
    fn claim(&self, _to: usize) -> Option<Claimed<'_, EnvelopeSlot>> {
        None
    }
}

impl MailboxKind {
    /// Creates empty mailboxes for `worker_count` workers; `sender_limit` workers and compensating
    /// threads may send to them.
    pub(crate) fn build(self, worker_count: usize, sender_limit: usize) -> Box<dyn Mailboxes> {
        match self {
            Self::LockFree => Box::new(Blocks::new(worker_count)),
            Self::Locked => Box::new(Each::<List<PthreadLock, Fifo>>::new(worker_count)),
            Self::ProducerLock => Box::new(Each::<ProducerLock>::new(worker_count)),
            Self::Pairs => Box::new(Pairs::new(worker_count, sender_limit)),
        }
    }
}
