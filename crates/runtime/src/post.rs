//! Sending work to a given worker.
//!
//! # The end
//! Messages that have not been run when a runtime ends are dropped, and so are calls that are put from outside when nobody is left to run them.
//! The last worker to end says so and drops what lies in the mailboxes; whoever sends later, or at the same time, drops it himself:
//!
//! | label | one side                                  | other side                                                     |
//! |-------|-------------------------------------------|----------------------------------------------------------------|
//! | E4    | puts a message, light fence, looks at `closed`; or puts a call, fence(SeqCst), looks | the last worker sets `closed`, heavy fence, looks into the mailboxes, and at calls from outside |

use std::mem;
use std::sync::Arc;

use raddle_sync::CachePadded;
use raddle_sync::prim::{AtomicBool, Relaxed, heavy_fence};
use raddle_topology::CpuId;
use raddle_trace::Moves;

use crate::config::MoveError;
use crate::fork::with_worker;
use crate::mailbox::{MailboxKind, Post as Mailboxes, Sender};
use crate::pool::Wanted;
use crate::task::{Arrivals, Task, TaskList};
use crate::traffic::message_bytes;
use crate::worker::{Shared, Worker};

/// Sends messages to the workers of a runtime: calls that one given worker runs, each to completion, in the order of each sender.
///
/// A worker runs its messages before any task of the pool, but not while it runs something else, or waits in a join, a scope or for a
/// handle. Panics of a message end it and go nowhere. A runtime that ends drops the messages that are left.
///
/// # Examples
/// ```
/// use std::sync::mpsc;
/// let runtime = raddle_runtime::Runtime::builder().workers(2).build()?;
/// let post = runtime.post();
/// let (reply, replies) = mpsc::channel();
/// for worker in 0..post.worker_count() {
///     let reply = reply.clone();
///     post.send(worker, move || reply.send(raddle_runtime::worker_index()).expect("somebody listens"));
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

    /// The number of workers to send to.
    pub fn worker_count(&self) -> usize {
        self.shared.worker_count()
    }

    /// True when messages of different senders, too, arrive in the order in which they were put into the mailbox.
    pub fn is_one_queue(&self) -> bool {
        self.shared.post.mailboxes.is_one_queue()
    }

    /// The index of the calling worker, if it is one of these.
    #[inline]
    pub fn own_index(&self) -> Option<usize> {
        self.with_own(|worker| Some(worker?.index()).filter(|&own| own < self.worker_count()))
    }

    /// True on a thread of this runtime that runs tasks: a worker, or a thread that stands in for
    /// one.
    pub fn is_own_thread(&self) -> bool {
        self.with_own(|worker| worker.is_some())
    }

    /// Sends a message to worker `to`. Cost: a task cell and what the mailbox costs; to the own worker, a task cell alone.
    ///
    /// Closures over 80 bytes also cost an allocation.
    ///
    /// # Panics
    /// When there is no such worker.
    #[inline]
    pub fn send(&self, to: usize, message: impl FnOnce() + Send + 'static) {
        assert!(
            to < self.worker_count(),
            "there is no worker {to}: there are {}",
            self.worker_count()
        );
        let closures = self.shared.memory.closures();
        self.with_own(|worker| {
            let cell = worker.map_or_else(|| self.shared.memory.take_outside(), Worker::take_cell);
            let bytes = message_bytes(&message);
            let message = Task::message(cell, closures, message);
            match worker {
                Some(worker) => worker.send(to, message, bytes),
                None => self.shared.send_outside(to, message),
            }
        });
    }

    /// As [`send`](Self::send), but the message runs before all that are not urgent and that the worker has not begun.
    ///
    /// # Panics
    /// When there is no such worker.
    pub fn send_urgent(&self, to: usize, message: impl FnOnce() + Send + 'static) {
        let closures = self.shared.memory.closures();
        self.with_own(|worker| {
            let cell = worker.map_or_else(|| self.shared.memory.take_outside(), Worker::take_cell);
            let bytes = message_bytes(&message);
            let message = Task::message(cell, closures, message);
            match worker {
                Some(worker) => worker.send_urgent(to, message, bytes),
                None => self.shared.send_urgent(to, message),
            }
        });
    }

    /// Sends workers to CPUs, as a program asks for it.
    ///
    /// # Errors
    /// [`MoveError`], and then nobody moves.
    pub(crate) fn move_workers(&self, cpus: &[Option<CpuId>]) -> Result<(), MoveError> {
        let go = |worker| self.send_away(worker);
        self.shared.move_workers("the program", cpus, false, go)?;
        Ok(())
    }

    /// Sends workers to CPUs that nobody else has; how many move, or none where nobody does.
    pub(crate) fn move_by_traffic(&self, cpus: &[Option<CpuId>]) -> Option<usize> {
        let go = |worker| self.send_away(worker);
        let moved = self.shared.move_workers("traffic", cpus, true, go);
        moved.ok().filter(|&count| count > 0)
    }

    /// Tells a worker that it shall be elsewhere.
    fn send_away(&self, worker: usize) {
        self.send_urgent(worker, || {
            with_worker(|worker| worker.map_or((), Worker::go));
        });
    }

    /// Notes for the runtime's report what was moved of the objects of some model of programs; `what` is what they are.
    pub fn note_moves(&self, what: &str, note: impl FnOnce(&mut Moves)) {
        self.shared.placing.note_moves(what, note);
    }

    /// The CPU that each worker is bound to.
    pub fn worker_cpus(&self) -> Vec<Option<CpuId>> {
        self.shared.placing.presents()
    }

    /// As [`send`](Self::send), but a message in the order of those that come from threads that are no workers.
    ///
    /// # Panics
    /// When there is no such worker.
    pub fn send_outside(&self, to: usize, message: impl FnOnce() + Send + 'static) {
        self.shared.call_outside(to, message);
    }

    /// Keeps a call in the calling worker's part of the pool, or where calls from outside wait; idle workers find it there.
    ///
    /// Whoever gets it runs it to completion. As with messages, panics go nowhere. A runtime does not wait for it when it ends,
    /// but runs what its pool holds; what comes later is dropped.
    #[inline]
    pub fn put(&self, call: impl FnOnce() + Send + 'static) {
        let closures = self.shared.memory.closures();
        self.with_own(|worker| match worker {
            Some(worker) => worker.put(Task::message(worker.take_cell(), closures, call)),
            None => {
                let cell = self.shared.memory.take_outside();
                self.shared
                    .put_call_outside(Task::message(cell, closures, call));
            }
        });
    }

    /// True when messages wait for the calling worker; false elsewhere.
    #[inline]
    pub fn has_own_mail(&self) -> bool {
        self.with_own(|worker| worker.is_some_and(Worker::has_any_mail))
    }

    /// True when the runtime is about to end, or has no workers in this process: messages that have not been run yet may
    /// never be.
    pub fn is_ending(&self) -> bool {
        // Relaxed: a hint.
        self.shared.stopping.load(Relaxed) || self.shared.origin.is_other_process()
    }

    /// True when the runtime has ended, or was started before the fork(2) that made this process: what is sent now is dropped.
    pub fn is_closed(&self) -> bool {
        // Relaxed: a thread that sees it late has its message dropped.
        self.shared.post.closed.load(Relaxed) || self.shared.origin.is_other_process()
    }

    /// Calls `call` with the calling worker, if it is one of this runtime.
    #[inline]
    fn with_own<R>(&self, call: impl FnOnce(Option<&Worker>) -> R) -> R {
        with_worker(|worker| {
            call(worker.filter(|worker| Arc::ptr_eq(worker.shared(), &self.shared)))
        })
    }
}

/// The mailboxes of a runtime, open until its last worker ends.
#[derive(Debug)]
pub(crate) struct PostOffice {
    pub(crate) kind: MailboxKind,
    mailboxes: Box<dyn Mailboxes>,
    /// What goes before all that is in the mailbox of the worker.
    urgent: Box<[CachePadded<Arrivals>]>,
    worker_count: usize,
    closed: AtomicBool,
}

impl PostOffice {
    pub(crate) fn new(kind: MailboxKind, worker_count: usize, sender_limit: usize) -> Self {
        Self {
            kind,
            mailboxes: kind.build(worker_count, sender_limit),
            urgent: (0..worker_count).map(|_| CachePadded::default()).collect(),
            worker_count,
            closed: AtomicBool::new(false),
        }
    }

    /// What a worker sends with; asked for once per worker.
    pub(crate) fn sender(&self, worker_index: usize) -> Box<dyn Sender> {
        self.mailboxes.sender(worker_index)
    }

    /// Puts a message that goes before all that are not urgent.
    pub(crate) fn put_urgent(&self, to: usize, message: Task) {
        self.urgent[to].put(message);
    }

    /// Adds what has arrived for a worker, or at least the oldest of it. For that worker alone, or after its end.
    ///
    /// The urgent ones last: what was sent before an ordinary message is there if that one is, and runs before it.
    #[inline]
    pub(crate) fn receive(&self, worker_index: usize, urgent: &mut TaskList, mail: &mut TaskList) {
        if self.mailboxes.has_mail(worker_index) {
            self.mailboxes.receive(worker_index, mail);
        }
        self.urgent[worker_index].take_all(urgent);
    }

    /// False when nothing was there at some moment during the call.
    #[inline]
    pub(crate) fn has_mail(&self, worker_index: usize) -> bool {
        !self.urgent[worker_index].is_empty() || self.mailboxes.has_mail(worker_index)
    }
}

impl Shared {
    /// Wakes `worker_index`, which has been sent something, if it sleeps; true when it did.
    #[inline]
    pub(crate) fn tell_of_message(&self, worker_index: usize) -> bool {
        let is_woken = self.idle.work_came_for(worker_index);
        // ORDERING(E4): the fence is in `work_came_for`.
        self.drop_if_closed();
        is_woken
    }

    /// Drops what was put after the last worker had ended.
    #[inline]
    pub(crate) fn drop_if_closed(&self) {
        // Relaxed: ordered by the fence of whoever calls it (E4).
        if self.post.closed.load(Relaxed) {
            self.drop_left();
        }
    }

    /// Keeps a call from a thread that is no worker.
    fn put_call_outside(&self, call: Task) {
        if self.origin.is_other_process() {
            return self.drop_call(call);
        }
        self.put_outside(call);
    }

    fn call_outside(&self, to: usize, message: impl FnOnce() + Send + 'static) {
        let cell = self.memory.take_outside();
        self.send_outside(to, Task::message(cell, self.memory.closures(), message));
    }

    fn send_outside(&self, to: usize, message: Task) {
        if self.origin.is_other_process() {
            return self.drop_call(message);
        }
        self.post.mailboxes.send_outside(to, message);
        self.tell_of_message(to);
    }

    fn send_urgent(&self, to: usize, message: Task) {
        if self.origin.is_other_process() {
            return self.drop_call(message);
        }
        self.post.put_urgent(to, message);
        self.tell_of_message(to);
    }

    /// Drops a message or a call that no worker will run.
    fn drop_call(&self, call: Task) {
        call.drop_message(|cell| self.memory.give_back(cell));
    }

    /// Drops all messages and calls, since nobody runs them any more.
    #[cold]
    pub(crate) fn close_post(&self) {
        // Relaxed: ordered by the fence.
        self.post.closed.store(true, Relaxed);
        // ORDERING(E4): closed before the look into the mailboxes, and at what came from outside.
        heavy_fence();
        self.drop_left();
    }

    #[cold]
    fn drop_left(&self) {
        // Nobody waits for any of it, or there would be workers.
        while let Some(call) = self.outside.take_oldest(Wanted::Any) {
            self.drop_call(call);
        }
        let (mut urgent, mut mail) = (TaskList::default(), TaskList::default());
        for worker_index in 0..self.post.worker_count {
            while self.post.has_mail(worker_index) {
                self.post.receive(worker_index, &mut urgent, &mut mail);
                mail.append(mem::take(&mut urgent));
                while let Some(message) = mail.take_first() {
                    self.drop_call(message);
                }
            }
        }
    }
}
