//! The worker: a thread that runs work to completion, and searches or sleeps when it has none.
//!
//! In its loop a worker takes a message from its mailbox; else what has arrived from other nodes
//! ([`crate::network`]); else a task from the pool; and runs it. Without any of these it searches
//! for a while, asking busy workers to publish their forks, and then sleeps until there is work.
//!
//! # Waiting
//! A worker waits inside a task for a stolen fork, its scope, a handle, or another runtime. All
//! these waits are [`Worker::wait_until`]. Meanwhile the worker runs only tasks from the subtree
//! that it waits for. Therefore unrelated work on the same stack never asks for a resource that the
//! task holds (a lock, a borrow, its place in an order), and no work is buried below a wait for
//! itself.
//!
//! No set of workers that wait in joins and scopes can block each other. To see this, order the
//! frames by lineage. The work of a waiting worker's subtree is in one of three states. It is
//! running. Or it is in the worker's own part of the pool, or came from outside, where the worker
//! finds it regardless of the other tasks there. Or it was put by another worker that was inside
//! the subtree at that time and returns to it after its own waits, which are deeper. So the deepest
//! waiting frames always make progress. Help by other workers speeds this up but is not needed.
//!
//! A wait for a handle or another runtime may depend on any work. There the worker lends its place
//! to a compensating thread ([`compensation`]), which runs any work.
//!
//! # The end
//! See [`end`].
//!
//! **Invariant:** a worker that waits runs no work from outside the subtree that it waits for.

mod attention;
mod compensation;
mod crowd;
mod current;
mod delivery;
mod end;
mod front;
mod future_polls;
mod gains;
mod helping;
mod lent_places;
mod mail;
mod moves;
mod per_worker;
mod raid;
mod recorded;
mod run;
mod search;
mod shared;
mod shutdown_state;
mod stall_watch;
mod stall_watch_state;
mod standstill;
mod tasks;
mod unfinished_futures;
mod unrequested_forks;
mod waiter;
mod waiting;

use std::cell::{Cell, RefCell};
use std::sync::Arc;

use raddle_sync::CachePadded;
use raddle_sync::wait::SpinBudget;
use raddle_trace::{Counters, record};

use crate::fork_stack::ForkStack;
use crate::mailbox::{Receiver, Sender};
use crate::placing::ROUNDS_PER_CLOCK;
use crate::pool::{Mark, Seat, Wanted};
use crate::task::memory::{CellSource, FreeList};
use crate::task::{Arrivals, Task, TaskCell, TaskList};
use front::Front;
use unrequested_forks::UnrequestedForks;

pub use attention::Attention;
pub(crate) use compensation::run as run_worker;
pub use current::as_outside_thread;
pub(crate) use current::{
    as_worker, become_worker, current_forks, current_worker, is_on_bound_worker, with_worker,
    worker_of,
};
pub(crate) use gains::{FEW_ITEMS, Gains, SPLIT_ASLEEP_NS};
pub(crate) use helping::{Helping, Lends};
pub(crate) use lent_places::COMPENSATING_MAX;
pub(crate) use shared::{Shared, ThreadCount};
pub(crate) use standstill::StandsStill;
pub(crate) use unfinished_futures::FutureId;
pub use waiter::Waiter;

/// The fork stack of a worker.
pub(crate) type Forks = ForkStack<Worker>;

/// A worker, on its own thread.
#[derive(Debug)]
pub(crate) struct Worker {
    index: usize,
    /// True for a compensating thread, which has no mailbox. It follows from the index, and is
    /// stored because every message asks for it.
    is_compensating: bool,
    shared: Arc<Shared>,
    /// The fork stack of this worker, which is also in `shared`.
    forks: Arc<Forks>,
    /// The counters of this worker, which are also in `shared`.
    counters: Arc<CachePadded<Counters>>,
    seat: Box<dyn Seat>,
    /// The newest tasks of this worker; `None` if all tasks go into the pool.
    front: Option<Front>,
    free: FreeList,
    waits: RefCell<SpinBudget>,
    gains: Gains,
    /// The number of raids when this worker last called for a stall watch.
    raids_seen: Cell<usize>,
    unrequested: UnrequestedForks,
    sender: Box<dyn Sender>,
    /// The receiving end of the mailbox. `None` for a compensating thread.
    receiver: Option<Box<dyn Receiver>>,
    /// Messages that have arrived, and those that this worker sent to itself.
    mail: RefCell<TaskList>,
    /// Messages that have arrived and run before those in `mail`.
    urgent: RefCell<TaskList>,
    /// The mailbox for urgent messages. For a compensating thread, one into which nothing is put.
    urgent_arrivals: Arc<CachePadded<Arrivals>>,
    /// Open tasks that only this worker runs, oldest first, and the place where they arrive.
    assigned: RefCell<TaskList>,
    assigned_arrivals: Arc<CachePadded<Arrivals>>,
    /// True if there are messages in `urgent`, or this worker runs no more messages.
    is_special: Cell<bool>,
    /// The number of messages that were run in a row.
    streak: Cell<u32>,
    /// The number of rounds until this worker reads the clock to see whether workers should move;
    /// `None` if the placement is never reviewed.
    until_clock: Cell<Option<u32>>,
    /// The number of rounds until this worker receives from the network although no news is
    /// visible.
    until_network: Cell<u32>,
    /// The age of the runtime when this worker last received from the network.
    received_ns: Cell<u64>,
    /// True if the runtime is ending, so that this worker runs no more messages.
    has_stopped_messages: Cell<bool>,
    /// The number of calls that this worker runs inside waits for them.
    nested: Cell<u32>,
    /// The number of polls that this worker has kept since one went into the queue from outside.
    polls_kept: Cell<u32>,
    attention: Attention,
}

impl Worker {
    pub(crate) fn new(index: usize, shared: Arc<Shared>) -> Self {
        let (seat, front) = (shared.seat(index), shared.fronts().take(index));
        let sender = shared.mailboxes().sender(index);
        let free = shared.memory().free_list(index);
        let is_compensating = index >= shared.worker_count();
        let receiver = (!is_compensating).then(|| shared.mailboxes().take_receiver(index));
        let urgent_arrivals = match is_compensating {
            true => Arc::default(),
            false => shared.mailboxes().urgent(index),
        };
        let assigned_arrivals = match is_compensating {
            true => Arc::default(),
            false => shared.mailboxes().assigned(index),
        };
        let attention = shared.attention_of(index);
        let is_reviewed = shared.placing().is_reviewed();
        Self {
            index,
            is_compensating,
            forks: Arc::clone(shared.forks_of(index)),
            counters: Arc::clone(shared.counters_of(index)),
            shared,
            seat,
            front,
            sender,
            receiver,
            mail: RefCell::default(),
            urgent: RefCell::default(),
            urgent_arrivals,
            assigned: RefCell::default(),
            assigned_arrivals,
            is_special: Cell::new(false),
            streak: Cell::new(0),
            until_clock: Cell::new(is_reviewed.then_some(ROUNDS_PER_CLOCK)),
            until_network: Cell::new(0),
            received_ns: Cell::new(0),
            has_stopped_messages: Cell::new(false),
            free,
            waits: RefCell::new(SpinBudget::of_price(helping::WAKES_PER_SLEEP)),
            gains: Gains::default(),
            raids_seen: Cell::new(0),
            unrequested: UnrequestedForks::default(),
            nested: Cell::new(0),
            polls_kept: Cell::new(0),
            attention,
        }
    }

    #[inline]
    pub(crate) fn index(&self) -> usize {
        self.index
    }

    #[inline]
    pub(crate) fn shared(&self) -> &Arc<Shared> {
        &self.shared
    }

    #[inline]
    pub(crate) fn forks(&self) -> &Forks {
        &self.forks
    }

    /// Returns true if there is no other worker, and no compensating thread.
    #[inline]
    pub(crate) fn is_alone(&self) -> bool {
        self.shared.present() == 1
    }

    /// Returns the mark for the rare cases of this worker.
    pub(crate) fn attention(&self) -> &Attention {
        &self.attention
    }

    /// Returns what this worker has learnt about splitting short loops.
    pub(crate) fn gains(&self) -> &Gains {
        &self.gains
    }

    #[inline]
    pub(crate) fn counters(&self) -> &Counters {
        &self.counters
    }

    /// Returns the innermost frame on this stack.
    #[inline]
    pub(crate) fn frame(&self) -> Option<&'static TaskCell> {
        self.forks().frame()
    }

    /// Calls `inside` with `frame` as the innermost frame.
    pub(crate) fn in_frame<R>(&self, frame: &'static TaskCell, inside: impl FnOnce() -> R) -> R {
        struct ExitFrame<'a>(&'a Forks);
        impl Drop for ExitFrame<'_> {
            fn drop(&mut self) {
                self.0.exit_frame();
            }
        }
        let forks = self.forks();
        forks.enter_frame(frame);
        let _exit = ExitFrame(forks);
        inside()
    }

    #[inline(always)]
    fn cells(&self) -> CellSource<'_> {
        self.free.of(self.shared.memory())
    }

    #[inline(always)]
    pub(crate) fn take_cell(&self) -> &'static TaskCell {
        self.cells().take()
    }

    #[inline(always)]
    pub(crate) fn give_back(&self, cell: &'static TaskCell) {
        self.cells().give_back(cell);
    }

    /// Returns a position below all tasks that this worker puts from now on.
    pub(crate) fn mark(&self) -> Mark {
        self.seat.mark()
    }

    /// Wakes a sleeper, and all sleeping askers, because this worker has put a task or made one
    /// visible again.
    fn announce_work(&self) {
        if self.shared.idle().work_came(self.index).is_some() {
            self.counters().wakes.add(1);
        }
        self.notify_askers(self.forks().gates().take_askers());
    }

    /// Publishes the oldest private fork, because a worker asked for it or will; returns false if
    /// there is none.
    pub(crate) fn answer(&self) -> bool {
        // No worker asks in a child process, and a raid may have left the fork half published.
        if self.shared.is_other_process() {
            return false;
        }
        self.follow_recording();
        let publish = |job, frame, depth| {
            let cell = self.take_cell();
            cell.make_fork(frame, self.index, job);
            record::publish(cell.trace_id(), self.index, depth);
            self.seat.share(Task::new(cell));
            cell
        };
        let Some(askers) = self.forks().answer(publish) else {
            return false;
        };
        self.counters().forks_published.add(1);
        // Also if a worker is searching: it may be about to sleep, and another worker may wait for
        // the fork.
        let woken = match self.take_unrequested() {
            true => self.shared.idle().wake_for_work_near(self.index),
            false => self.shared.idle().work_came_near(self.index),
        };
        if woken.is_some() {
            self.counters().wakes.add(1);
        }
        self.notify_askers(askers);
        true
    }

    /// Begins unrequested publication, because this worker has found work after a search.
    fn begin_unrequested(&self) {
        if self.unrequested.begin(self.shared.idle().anyone_sleeps()) {
            // The worker closes its own gates, so that it publishes its next fork at once.
            self.forks().gates().close();
        }
    }

    /// Counts a published fork as unrequested, if unrequested publication goes on. Returns true in
    /// that case: a sleeper is to be woken for the fork, and the next fork is published as well.
    fn take_unrequested(&self) -> bool {
        match self.unrequested.take(|| self.shared.idle().anyone_sleeps()) {
            None => return false,
            Some(0) => {}
            Some(_) => self.forks().gates().close(),
        }
        true
    }

    /// Notifies sleeping askers, one bit each, that there is work which they may take.
    fn notify_askers(&self, mut askers: u64) {
        while askers != 0 {
            let asker = askers.trailing_zeros() as usize;
            for index in (asker..self.shared.present()).step_by(64) {
                self.shared.notify(index);
            }
            askers &= askers - 1;
        }
    }

    /// Returns true unless this is a compensating thread.
    pub(crate) fn runs_open_tasks(&self) -> bool {
        !self.is_compensating
    }

    /// Returns the tasks that this worker runs while it does not wait.
    fn wanted(&self) -> Wanted<'static> {
        match self.is_compensating {
            true => Wanted::NotOpen,
            false => Wanted::Any,
        }
    }

    /// Takes a task that is assigned to this worker, unless the worker has tasks of its own or
    /// `wanted` excludes open tasks; otherwise takes a wanted task from the pool.
    #[inline]
    fn get_assigned_or(&self, wanted: Wanted<'_>) -> Option<Task> {
        let may_be_open = matches!(wanted, Wanted::Any | Wanted::OpenOr(_));
        if may_be_open && self.has_assigned() {
            return match self.has_put_tasks() {
                true => self.get(wanted).or_else(|| self.take_assigned()),
                false => self.take_assigned(),
            };
        }
        self.get(wanted)
    }

    /// Returns true if this worker has tasks that no other worker has taken yet.
    pub(crate) fn has_own_tasks(&self) -> bool {
        self.has_put_tasks() || self.forks().progress().is_some()
    }

    /// Returns true if there are tasks in the front of this worker, or in its own part of the pool.
    fn has_put_tasks(&self) -> bool {
        let has_private = self.front.as_ref().is_some_and(|front| !front.is_empty());
        has_private || self.seat.has_own()
    }

    /// Takes an open task: one of this worker, or of any worker. If there is none, publishes the
    /// oldest private fork of this worker and takes it.
    pub(crate) fn take_open(&self, only_own: bool) -> Option<Task> {
        let wanted = Wanted::OpenOr(&|_| false);
        let take = || match only_own && !self.has_put_tasks() {
            true => None,
            false => self.get_assigned_or(wanted),
        };
        take().or_else(|| self.answer_now().then(take).flatten())
    }

    /// Publishes the oldest private fork although no worker has asked for it. Returns false if
    /// there is none.
    fn answer_now(&self) -> bool {
        self.forks().gates().close();
        self.answer()
    }

    /// Takes a published fork back and returns false, or waits until its thief has run it and
    /// returns true.
    pub(crate) fn reclaim_or_wait(&self, cell: &'static TaskCell) -> bool {
        if cell.offer().try_reclaim() {
            self.counters().forks_reclaimed.add(1);
            return false;
        }
        let helping = Helping {
            frame: cell,
            mark: self.mark(),
            is_open: cell.is_open(),
            lends: match cell.is_open() {
                true => Lends::Never,
                false => Lends::Late,
            },
            gives_up: None,
        };
        self.wait_until(helping, || cell.thief(), || cell.offer().is_done());
        self.give_back(cell);
        true
    }
}
