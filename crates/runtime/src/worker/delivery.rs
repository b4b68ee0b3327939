//! Delivery of messages and calls to the workers of a runtime, and what happens to them at its end.
//!
//! # The end
//! Messages that have not run when a runtime ends are dropped. So are calls that are put from
//! outside when no worker is left to run them. The last worker to end closes the mailboxes and
//! drops what is in them. A thread that sends later, or at the same time, drops its own message:
//!
//! | label | one side                           | other side                          |
//! |-------|------------------------------------|-------------------------------------|
//! | E4    | puts a message, light fence,       | the last worker sets `closed`,      |
//! |       | checks `closed`; or puts a call,   | heavy fence, looks into mailboxes   |
//! |       | fence(SeqCst), checks `closed`     | and at calls from outside           |

use std::sync::Arc;

use raddle_sync::prim::heavy_fence;

use super::{Shared, Worker, current_worker};
use crate::config::TaskMemory;
use crate::panics::discard;
use crate::task::{Message, Task, TaskCell};
use crate::traffic::message_bytes;

impl Shared {
    /// Returns the current worker if it is a worker of this runtime. The caller keeps the reference
    /// on this thread and inside the running task.
    #[inline(always)]
    pub(crate) fn own_worker(self: &Arc<Self>) -> Option<&Worker> {
        current_worker().filter(|worker| Arc::ptr_eq(worker.shared(), self))
    }

    /// Wakes worker `worker_index`, to which a message was sent, if it sleeps. Returns true if it
    /// did.
    #[inline]
    pub(super) fn wake_for_message(&self, worker_index: usize) -> bool {
        let is_woken = self.idle().work_came_for(worker_index);
        // ORDERING(E4): the fence is in `work_came_for`.
        self.drop_if_closed();
        is_woken
    }

    /// Sends a message from the current thread that runs before all messages that are not urgent.
    pub(crate) fn send_urgent(
        self: &Arc<Self>,
        to: usize,
        message: impl FnOnce() + Send + 'static,
    ) {
        if let Some(worker) = self.own_worker() {
            let (bytes, closures) = (message_bytes(&message), self.memory().closures());
            let message = Task::message(worker.take_cell(), closures, message);
            worker.send_urgent(to, message, bytes);
        } else if let Some(message) = self.message_outside(message, Task::message) {
            self.mailboxes().put_urgent(to, message);
            self.wake_for_message(to);
        }
    }

    /// Sends a message of a thread that is no worker.
    pub(crate) fn send_outside(&self, to: usize, message: impl Message + Send + 'static) {
        if let Some(message) = self.message_outside(message, Task::message) {
            self.mailboxes().put_outside(to, message);
            self.wake_for_message(to);
        }
    }

    /// Keeps a call of a thread that is no worker.
    pub(crate) fn put_call_outside(&self, call: impl Message + Send + 'static) {
        if let Some(call) = self.message_outside(call, Task::call) {
            self.put_outside(call);
        }
    }

    /// Puts a message or call of a thread that is no worker into a cell with `task`. In a child
    /// process, drops it and returns `None`: a thread that does not exist there may have had the
    /// lock of the cells.
    fn message_outside<M: Message + Send + 'static>(
        &self,
        message: M,
        task: impl FnOnce(&'static TaskCell, TaskMemory, M) -> Task,
    ) -> Option<Task> {
        if self.is_other_process() {
            discard(message);
            return None;
        }
        let cell = self.memory().take_outside();
        Some(task(cell, self.memory().closures(), message))
    }

    /// Drops what was put after the last worker had ended.
    #[inline]
    pub(super) fn drop_if_closed(&self) {
        // Ordered by the caller's fence (E4).
        if self.mailboxes().is_closed() {
            self.drop_left();
        }
    }

    /// Closes the mailboxes and drops all messages and calls, because no worker is left.
    #[cold]
    pub(super) fn close_mailboxes(&self) {
        self.mailboxes().close();
        // ORDERING(E4): closed before the look into the mailboxes and at calls from outside.
        heavy_fence();
        self.drop_left();
    }

    /// Drops a message or a call that no worker will run.
    fn drop_call(&self, call: Task) {
        call.drop_message(|cell| self.memory().give_back(cell));
    }

    #[cold]
    fn drop_left(&self) {
        // No thread waits for any of this: otherwise the workers would not have ended.
        while let Some(call) = self.take_outside() {
            self.drop_call(call);
        }
        let mut left = self
            .memory()
            .with_outside(|cells| self.mailboxes().take_left(cells));
        while let Some(message) = left.take_first() {
            self.drop_call(message);
        }
    }
}
