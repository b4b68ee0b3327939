//! The interface of mailboxes: what each kind implements.

use std::fmt;

use raddle_sync::mpsc::Claimed;
use raddle_sync::prim::LIGHT;

use crate::task::memory::CellSource;
use crate::task::{EnvelopeSlot, Task, TaskList};

/// The largest number of messages that are received at once, so that a worker runs its messages
/// even if others send as fast as it receives.
pub(super) const RECEIVED_MAX: usize = if LIGHT { 2 } else { 64 };

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
