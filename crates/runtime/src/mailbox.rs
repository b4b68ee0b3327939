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
mod traits;
mod worker_mailboxes;

use raddle_sync::lock::PthreadLock;

use self::blocks::Blocks;
use self::each::Each;
use self::pairs::Pairs;
use self::producer_lock::ProducerLock;
use crate::config::choice;
use crate::pool::{Fifo, List};

pub(crate) use self::traits::{Mailboxes, Receiver, Sender};
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
