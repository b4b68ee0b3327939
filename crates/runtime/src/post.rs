//! The public way to send work to given workers: [`Post`].

use std::sync::Arc;

use raddle_topology::CpuId;
use raddle_trace::Moves;

use crate::task::{Message, Task};
use crate::worker::{Attention, Shared, Worker};

/// Sends messages to the workers of a runtime: calls that one given worker runs, each to
/// completion, in the order of each sender.
///
/// A worker runs its messages before any task of the pool, but not while it runs something else or
/// waits in a join, a scope or for a handle. A panic ends its message and is discarded. A runtime
/// that ends drops the messages that are left.
///
/// # Examples
/// ```
/// use std::sync::mpsc;
/// let runtime = raddle_runtime::Runtime::builder().workers(2).build()?;
/// let post = runtime.post();
/// let (reply, replies) = mpsc::channel();
/// for worker in 0..post.worker_count() {
///     let reply = reply.clone();
///     post.send(worker, move || {
///         reply.send(raddle_runtime::worker_index()).expect("the receiver is alive")
///     });
/// }
/// let mut from: Vec<_> = replies.iter().take(2).collect();
/// from.sort();
/// assert_eq!(from, [Some(0), Some(1)]);
/// # Ok::<(), raddle_runtime::BuildError>(())
/// ```
#[derive(Clone, Debug)]
pub struct Post {
    shared: Arc<Shared>,
}

impl Post {
    pub(crate) fn new(shared: &Arc<Shared>) -> Self {
        Self {
            shared: Arc::clone(shared),
        }
    }

    /// Returns the number of the runtime in this process, as recordings and monitors have it.
    pub fn runtime_number(&self) -> u32 {
        self.shared.number()
    }

    /// Returns the number of workers.
    pub fn worker_count(&self) -> usize {
        self.shared.worker_count()
    }

    /// Returns true if messages of different senders, too, arrive in the order in which they were
    /// put into the mailbox.
    pub fn is_one_queue(&self) -> bool {
        self.shared.mailboxes().is_one_queue()
    }

    /// Returns the index of the current worker if it is a worker of this runtime.
    #[inline]
    pub fn own_index(&self) -> Option<usize> {
        let worker = self.shared.own_worker()?;
        Some(worker.index()).filter(|&own| own < self.worker_count())
    }

    /// Returns the mark for the rare cases of the current worker, if it is one of this runtime. For
    /// the programming model of the runtime alone.
    #[doc(hidden)]
    pub fn own_attention(&self) -> Option<Attention> {
        let worker = self.shared.own_worker()?;
        Some(worker.attention().clone())
    }

    /// Returns true on a thread of this runtime that runs tasks: a worker or a compensating thread.
    pub fn is_own_thread(&self) -> bool {
        self.shared.own_worker().is_some()
    }

    /// Sends a message to worker `to`. Cost: the transfer of a cache line; for a message to the
    /// current worker, a task cell.
    ///
    /// To another worker, a closure of more than 48 bytes costs a task cell as well, which is two
    /// cache lines. A closure of more than 80 bytes also costs an allocation.
    ///
    /// # Panics
    /// If there is no such worker.
    #[inline(always)]
    pub fn send(&self, to: usize, message: impl Message + Send + 'static) {
        assert!(
            to < self.worker_count(),
            "there is no worker {to}: there are {}",
            self.worker_count()
        );
        match self.shared.own_worker() {
            Some(worker) => worker.send(to, message),
            None => self.send_outside(to, message),
        }
    }

    /// Sends a message as [`send`](Self::send) does, but the message runs before all messages that
    /// are not urgent and that the worker has not begun.
    ///
    /// # Panics
    /// If there is no such worker.
    pub fn send_urgent(&self, to: usize, message: impl FnOnce() + Send + 'static) {
        self.shared.send_urgent(to, message);
    }

    /// Sends a message as [`send`](Self::send) does, but in the order of the messages from threads
    /// that are not workers.
    ///
    /// # Panics
    /// If there is no such worker.
    #[inline(never)]
    pub fn send_outside(&self, to: usize, message: impl Message + Send + 'static) {
        self.shared.send_outside(to, message);
    }

    /// Puts a call into the current worker's part of the pool, or into the queue for calls from
    /// outside. Idle workers find it there.
    ///
    /// The worker that gets the call runs it to completion. A panic is discarded, as with messages.
    /// A runtime that ends does not wait for the call, but runs those that are in its pool; later
    /// calls are dropped.
    #[inline]
    pub fn put(&self, call: impl FnOnce() + Send + 'static) {
        let closures = self.shared.memory().closures();
        match self.shared.own_worker() {
            Some(worker) => worker.put(Task::call(worker.take_cell(), closures, call)),
            None => self.shared.put_call_outside(call),
        }
    }

    /// Returns true if messages wait for the current worker, and false on other threads.
    #[inline]
    pub fn has_own_mail(&self) -> bool {
        self.shared.own_worker().is_some_and(Worker::has_any_mail)
    }

    /// Returns true if the runtime is about to end, or has no workers in this process: messages
    /// that have not run yet may never run.
    pub fn is_ending(&self) -> bool {
        self.shared.is_stopping() || self.shared.is_other_process()
    }

    /// Returns true if the runtime has ended, or was started before the fork(2) that made this
    /// process: what is sent now is dropped.
    pub fn is_closed(&self) -> bool {
        // A thread that sees it late has its message dropped.
        self.shared.mailboxes().is_closed() || self.shared.is_other_process()
    }

    /// Records moves of some kind of objects for the runtime's report.
    pub fn note_moves(&self, kind: &str, note: impl FnOnce(&mut Moves)) {
        self.shared.placing().note_moves(kind, note);
    }

    /// Returns the CPU that each worker is bound to.
    pub fn worker_cpus(&self) -> Vec<Option<CpuId>> {
        self.shared.placing().present_cpus()
    }
}
