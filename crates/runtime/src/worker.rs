//! The worker: a thread that runs work to completion, and what it does when it has none.
//!
//! A worker's loop: take a message from its mailbox, or else what has come from other nodes ([`crate::network`]), or else a
//! task from the pool, and run it; without one, search for a while (asking busy workers to publish their forks), then sleep until somebody has work.
//!
//! # Waiting
//! A worker waits inside a task for a stolen fork, for its scope, for a handle, or for another runtime. All of it is
//! [`Worker::wait_until`]. Meanwhile it runs only tasks from the subtree that is waited for: whatever
//! the task holds (a lock, a borrow, its place in an order) is never asked for by foreign work on the same stack, and no work
//! is ever buried under what waits for it.
//!
//! No set of workers that wait in joins and scopes can block each other: order frames by lineage. A waiting worker's subtree
//! has work that runs; or lies in the waiting worker's own part of the pool, or came from outside, where it finds it
//! whatever else lies there; or was put by another worker that was inside the subtree then, and comes back to it after its own
//! waits, which are deeper. The deepest waiting frames therefore always move on. Help by others makes this faster and is
//! not needed for it.
//!
//! A handle or another runtime can wait for anything. There the worker lends its place to a substitute
//! ([`substitutes`]), which runs any work.
//!
//! # The end
//! A worker ends when the runtime is stopping, no root task lives, and the pool is empty. A worker that lies down must not
//! miss the last of these:
//!
//! | label | one side                                                      | other side                                             |
//! |-------|---------------------------------------------------------------|--------------------------------------------------------|
//! | E1    | `stop` says so, fence(SeqCst), looks for sleepers             | sleeper: sets its bit, fence(SeqCst), looks at `stopping` |
//! | E2    | `end_root` counts `live` down, fence(SeqCst), looks at `stopping` | `stop` as above; sleeper: as above, looks at `live` |
//! | E3    | `stop` stores `stopping`                                      | `may_end` loads it, then `live`                        |
//!
//! Let a sleeper lie down while `stop` misses its bit and the last `end_root` misses `stopping`. Then the fences come in the
//! order `end_root`, `stop`, sleeper, and the sleeper sees both.
//!
//! A substitute that rests looks under the lock under which it is woken.
//!
//! **Invariant:** while it waits, a worker runs no foreign work.

mod gifts;
mod mail;
mod raid;
mod search;
mod standstill;
mod substitutes;
mod waiting;
mod watch;

use gifts::Gifts;
pub(crate) use standstill::StandsStill;
use substitutes::Substitutes;
pub(crate) use substitutes::{SUBSTITUTES_MAX, WorkerThreads, run as run_worker, thread_name};
pub(crate) use waiting::{Helping, Lends};
use watch::WatchState;

use std::cell::{Cell, RefCell};
use std::fmt;
use std::sync::Arc;

use raddle_sync::CachePadded;
use raddle_sync::bits::AtomicBits;
use raddle_sync::idle::IdleSet;
use raddle_sync::prim::{
    Acquire, AtomicBool, AtomicUsize, Mutex, Relaxed, Release, SeqCst, fence, light_fence,
};
use raddle_sync::wait::SpinBudget;
use raddle_trace::{Report, Tally, WorkerReport};

use crate::blocking::BlockingThreads;
use crate::clock::Instant;
use crate::config::{IdlePolicy, TaskMemory};
use crate::fork::ForkStack;
use crate::fork::process::Origin;
use crate::loops::Gains;
use crate::mailbox::{MailboxKind, Sender};
use crate::network::Network;
use crate::placing::{Placing, ROUNDS_PER_CLOCK};
use crate::pool::{Look, Mark, Outside, Pool, PoolKind, Put, Seat, Setup, Wanted};
use crate::post::PostOffice;
use crate::task::memory::{FreeList, Memory};
use crate::task::{Task, TaskCell, TaskList, Waiter};
use crate::traffic::Traffic;

/// What the workers of a runtime share.
pub(crate) struct Shared {
    pub(crate) origin: Origin,
    pub(crate) pool: Box<dyn Pool>,
    pub(crate) outside: Arc<Outside>,
    pub(crate) post: PostOffice,
    pub(crate) idle: IdleSet,
    pub(crate) network: Option<Arc<dyn Network>>,
    pub(crate) forks: Box<[ForkStack]>,
    pub(crate) memory: Memory,
    /// Sleepers that look for stalled workers after a while.
    watch: WatchState,
    /// It was said that this runtime stands still.
    is_still: AtomicBool,
    pub(crate) blocking: BlockingThreads,
    /// Workers that sleep inside a task; a task that comes from outside may be below what they wait for.
    pub(crate) helpers: AtomicBits,
    pub(crate) tallies: Box<[CachePadded<Tally>]>,
    worker_count: usize,
    pub(crate) substitutes: Substitutes,
    pub(crate) policy: IdlePolicy,
    /// More workers than CPUs: spinning takes time from those who work.
    pub(crate) crowded: AtomicBool,
    pub(crate) placing: Placing,
    pub(crate) traffic: Traffic,
    pub(crate) stopping: AtomicBool,
    /// Root tasks that are not finished.
    pub(crate) live: AtomicUsize,
    /// Those of them that run on blocking threads, or will.
    calls: Mutex<Calls>,
    /// Worker threads that have not ended, and who waits for the last one.
    pub(crate) threads: AtomicUsize,
    pub(crate) stopper: Mutex<Option<Waiter>>,
    pub(crate) born: Instant,
}

/// Calls on blocking threads that are not finished.
#[derive(Debug, Default)]
struct Calls {
    count: usize,
    /// The workers do not wait for them any more when the runtime ends: they do not count as root tasks.
    are_abandoned: bool,
}

impl fmt::Debug for Shared {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter
            .debug_struct("Shared")
            .field("workers", &self.worker_count)
            .field("pool", &self.pool.name())
            .finish_non_exhaustive()
    }
}

/// One worker, on its own thread.
#[derive(Debug)]
pub(crate) struct Worker {
    index: usize,
    /// Runs in place of a worker that waits, and has no mailbox. It follows from the index, and is
    /// kept because it is asked for each message.
    is_substitute: bool,
    shared: Arc<Shared>,
    seat: Box<dyn Seat>,
    free: FreeList,
    waits: RefCell<SpinBudget>,
    gains: Gains,
    /// The number of raids when this worker last called for a watch.
    raids_seen: Cell<usize>,
    gifts: Gifts,
    sender: Box<dyn Sender>,
    /// Messages that have arrived, and those that this worker sent to itself.
    mail: RefCell<TaskList>,
    /// Those among them that go first.
    urgent: RefCell<TaskList>,
    /// Messages that were run in a row.
    streak: Cell<u32>,
    /// Rows of messages, and tasks, until this worker looks at the clock whether workers should move; none where nobody ever looks.
    until_clock: Cell<Option<u32>>,
    /// Rounds until this worker looks at the network though nothing is to be seen of news.
    until_network: Cell<u32>,
    /// The runtime ends, and no message is run any more.
    is_deaf: Cell<bool>,
    /// Calls that this worker runs inside waits for them.
    nested: Cell<u32>,
}

impl Shared {
    /// A runtime of which no worker runs yet.
    pub(crate) fn new(
        pool: PoolKind,
        setup: &Setup,
        policy: IdlePolicy,
        crowded: bool,
        task_memory: TaskMemory,
        mailbox: MailboxKind,
        threads: WorkerThreads,
    ) -> Self {
        let limit = setup.worker_limit();
        Self {
            origin: Origin::here(),
            post: PostOffice::new(mailbox, setup.worker_count(), limit),
            pool: pool.build(setup),
            outside: Arc::clone(&setup.outside),
            idle: IdleSet::new(limit),
            network: None,
            forks: (0..limit).map(|_| ForkStack::new()).collect(),
            watch: WatchState::default(),
            is_still: AtomicBool::new(false),
            blocking: BlockingThreads::new(&threads.name),
            memory: Memory::new(limit, task_memory),
            helpers: AtomicBits::new(limit),
            tallies: (0..limit).map(|_| Default::default()).collect(),
            worker_count: setup.worker_count(),
            substitutes: Substitutes::new(setup, threads),
            policy,
            crowded: AtomicBool::new(crowded),
            placing: Placing::nowhere(setup.worker_count()),
            traffic: Traffic::new(setup.worker_count()),
            stopping: AtomicBool::new(false),
            live: AtomicUsize::new(0),
            calls: Mutex::default(),
            threads: AtomicUsize::new(0),
            stopper: Mutex::new(None),
            born: Instant::now(),
        }
    }

    /// The same, with workers that are bound.
    pub(crate) fn with_placing(mut self, placing: Placing) -> Self {
        self.placing = placing;
        self
    }

    /// The same, with workers that hear of other nodes, if there are any.
    pub(crate) fn with_network(mut self, network: Option<Arc<dyn Network>>) -> Self {
        if let Some(network) = &network {
            let (idle, limit) = (network.idle(), self.idle.len());
            let room = idle.len();
            assert!(room >= limit, "a network has room for {room} of {limit}");
            self.idle = idle;
        }
        self.network = network;
        self
    }

    /// True when there are more workers than CPUs for them.
    pub(crate) fn is_crowded(&self) -> bool {
        // Relaxed: a hint.
        self.crowded.load(Relaxed)
    }

    /// Keeps a task from a thread that is no worker here, and sees to it that it is found.
    pub(crate) fn put_outside(&self, task: Task) {
        let is_root = task.is_root();
        self.outside.put(task);
        self.idle.work_piled_up(0, self.outside.len());
        // ORDERING(E4): the fence is in `work_piled_up`.
        self.drop_if_closed();
        if is_root {
            // Below nothing that anybody waits for in a task.
            return;
        }
        // `work_piled_up` has put a fence between the task and this look: see
        // `Worker::sleep_until_told`.
        while let Some(helper) = self.helpers.take_any(0) {
            let _ = self.idle.cell(helper).notify();
        }
    }

    /// The workers that there are from the start.
    pub(crate) fn worker_count(&self) -> usize {
        self.worker_count
    }

    /// Those, and all substitutes that were ever needed.
    pub(crate) fn present(&self) -> usize {
        self.substitutes.present()
    }

    /// The fork stacks of those, with the index of each.
    fn present_forks(&self) -> impl Iterator<Item = (usize, &ForkStack)> {
        self.forks.iter().enumerate().take(self.present())
    }

    /// True when somebody but a worker would find work.
    fn has_work(&self) -> bool {
        !self.outside.is_empty() || self.pool.has_work() || self.has_news()
    }

    /// True when something has come from other nodes.
    fn has_news(&self) -> bool {
        let network = self.network.as_ref();
        network.is_some_and(|network| network.has_news())
    }

    /// Nanoseconds since the runtime came up: the clock of its counters.
    pub(crate) fn age_ns(&self) -> u64 {
        u64::try_from(self.born.elapsed().as_nanos()).unwrap_or(u64::MAX)
    }

    /// Reads all counters.
    pub(crate) fn report(&self) -> Report {
        let age_ns = self.age_ns();
        let workers = self
            .tallies
            .iter()
            .zip(&self.forks)
            .take(self.present())
            .map(|(tally, forks)| WorkerReport::read(tally, forks.inline_count(), age_ns))
            .collect();
        Report::new(self.pool.name(), workers)
            .with_choice(self.pool.choice())
            .with_moves(self.placing.moves())
    }

    /// Lets the workers end when the pool is empty and no root task runs.
    pub(crate) fn stop(&self) {
        // ORDERING(E3): Release, every root task has been counted. ORDERING(E1): the fence is in `wake_all`.
        self.stopping.store(true, Release);
        self.wake_all();
    }

    /// A root task begins to count.
    pub(crate) fn begin_root(&self) {
        // Relaxed: the task is put after it, and who ends the task has got it from whoever put it.
        self.live.fetch_add(1, Relaxed);
    }

    /// A root task has ended, with all that it dropped.
    pub(crate) fn end_root(&self) {
        // Relaxed: ordered by the fence.
        if self.live.fetch_sub(1, Relaxed) == 1 {
            // ORDERING(E2): counted down before the look at `stopping`.
            fence(SeqCst);
            // Relaxed: ordered by the fence.
            if self.stopping.load(Relaxed) {
                self.wake_all();
            }
        }
    }

    /// A call for a blocking thread begins to count.
    pub(crate) fn begin_call(&self) {
        let mut calls = self.calls.lock().expect("nothing panics under this lock");
        calls.count += 1;
        if !calls.are_abandoned {
            self.begin_root();
        }
    }

    /// A call for a blocking thread has ended, with all that it dropped.
    pub(crate) fn end_call(&self) {
        let are_abandoned = {
            let mut calls = self.calls.lock().expect("nothing panics under this lock");
            calls.count -= 1;
            calls.are_abandoned
        };
        if !are_abandoned {
            self.end_root();
        }
    }

    /// Lets the workers end while calls on blocking threads are not finished.
    pub(crate) fn abandon_calls(&self) {
        let count = {
            let mut calls = self.calls.lock().expect("nothing panics under this lock");
            let counted = if calls.are_abandoned { 0 } else { calls.count };
            calls.are_abandoned = true;
            counted
        };
        for _ in 0..count {
            self.end_root();
        }
    }

    /// The numbers of root tasks and of calls on blocking threads that are not finished.
    pub(crate) fn unfinished(&self) -> (usize, usize) {
        let calls = self.calls.lock().expect("nothing panics under this lock");
        // Relaxed: a number for people.
        let live = self.live.load(Relaxed);
        let counted = if calls.are_abandoned { 0 } else { calls.count };
        (live.saturating_sub(counted), calls.count)
    }

    fn wake_all(&self) {
        self.idle.wake_all();
        self.wake_resting();
    }

    /// A worker's thread has ended; the last one tells who waits for it.
    pub(crate) fn end_thread(&self) {
        // Relaxed: the lock orders it; the stopper says under it who it is, and looks at the count after that.
        if self.threads.fetch_sub(1, Relaxed) == 1 {
            self.close_post();
            self.placing.give_back();
            let stopper = self
                .stopper
                .lock()
                .expect("nothing panics under this lock")
                .take();
            if let Some(stopper) = stopper {
                stopper.notify();
            }
        }
    }

    fn may_end(&self) -> bool {
        // ORDERING(E3): Acquire, a count that is older than some root task would end the worker before it.
        self.stopping.load(Acquire)
            // Relaxed: a searcher looks again; a sleeper looks after the fence of `IdleSet::sleep` (E1, E2).
            && self.live.load(Relaxed) == 0
    }
}

impl Worker {
    pub(crate) fn new(index: usize, shared: Arc<Shared>) -> Self {
        let seat = shared.pool.seat(index);
        let sender = shared.post.sender(index);
        let is_watched = shared.placing.is_watched();
        Self {
            index,
            is_substitute: index >= shared.worker_count(),
            shared,
            seat,
            sender,
            mail: RefCell::default(),
            urgent: RefCell::default(),
            streak: Cell::new(0),
            until_clock: Cell::new(is_watched.then_some(ROUNDS_PER_CLOCK)),
            until_network: Cell::new(0),
            is_deaf: Cell::new(false),
            free: FreeList::new(index),
            waits: RefCell::new(SpinBudget::of_price(waiting::WAKES_PER_SLEEP)),
            gains: Gains::default(),
            raids_seen: Cell::new(0),
            gifts: Gifts::default(),
            nested: Cell::new(0),
        }
    }

    pub(crate) fn index(&self) -> usize {
        self.index
    }

    pub(crate) fn shared(&self) -> &Arc<Shared> {
        &self.shared
    }

    pub(crate) fn forks(&self) -> &ForkStack {
        &self.shared.forks[self.index]
    }

    /// Returns true when there is no other worker, now or as a substitute.
    #[inline]
    pub(crate) fn is_alone(&self) -> bool {
        self.shared.present() == 1
    }

    /// What splitting short loops has brought this worker.
    pub(crate) fn gains(&self) -> &Gains {
        &self.gains
    }

    pub(crate) fn tally(&self) -> &Tally {
        &self.shared.tallies[self.index]
    }

    /// The innermost frame on this stack.
    pub(crate) fn frame(&self) -> Option<&'static TaskCell> {
        self.forks().frame()
    }

    /// Calls `inside` with `frame` as the innermost frame.
    pub(crate) fn in_frame<R>(&self, frame: &'static TaskCell, inside: impl FnOnce() -> R) -> R {
        struct Leave<'a>(&'a ForkStack);
        impl Drop for Leave<'_> {
            fn drop(&mut self) {
                self.0.leave();
            }
        }
        let forks = self.forks();
        forks.enter(frame);
        let _leave = Leave(forks);
        inside()
    }

    pub(crate) fn take_cell(&self) -> &'static TaskCell {
        self.free.take(&self.shared.memory)
    }

    pub(crate) fn give_back(&self, cell: &'static TaskCell) {
        self.free.give_back(cell, &self.shared.memory);
    }

    /// Keeps a task in the pool and sees to it that it is found.
    pub(crate) fn put(&self, task: Task) {
        if self.seat.put(task) == Put::Private {
            // The partner is the heavy fence of those who go to sleep, which look at what is private after it.
            light_fence();
            if !self.shared.idle.anyone_sleeps() && !self.forks().gates().has_askers() {
                return;
            }
            self.seat.share_all();
        }
        self.tell_of_work();
    }

    /// A position below all tasks that this worker puts from now on.
    pub(crate) fn mark(&self) -> Mark {
        self.seat.mark()
    }

    /// Tells those who sleep of tasks that this worker has put, be it for the first time or again.
    fn tell_of_work(&self) {
        if self.shared.idle.work_came(self.index).is_some() {
            self.tally().wakes.add(1);
        }
        self.tell(self.forks().gates().take_askers());
    }

    /// Publishes the oldest private fork, because somebody asked or will; false without one.
    pub(crate) fn answer(&self) -> bool {
        // Nobody asks there, and a raid may have left the fork half published.
        if self.shared.origin.is_other_process() {
            return false;
        }
        let publish = |job, frame| {
            let cell = self.take_cell();
            cell.make_fork(frame, self.index, job);
            self.seat.share(Task::new(cell));
            cell
        };
        let Some(askers) = self.forks().answer(publish) else {
            return false;
        };
        self.tally().forks_published.add(1);
        // Also where a worker searches: it may just be going to sleep, and the fork may be waited
        // for.
        let woken = match self.take_gift() {
            true => self.shared.idle.wake_for_work_near(self.index),
            false => self.shared.idle.work_came_near(self.index),
        };
        if woken.is_some() {
            self.tally().wakes.add(1);
        }
        self.tell(askers);
        true
    }

    /// Notifies sleeping askers, a bit each, that there is work which may be theirs.
    fn tell(&self, mut askers: u64) {
        while askers != 0 {
            let asker = askers.trailing_zeros() as usize;
            for index in (asker..self.shared.present()).step_by(64) {
                let _ = self.shared.idle.cell(index).notify();
            }
            askers &= askers - 1;
        }
    }

    /// A task that is wanted, from wherever the pool has one.
    fn get(&self, wanted: Wanted<'_>) -> Option<Task> {
        self.get_with(wanted, Look::default())
    }

    /// As [`get`](Self::get), and from what other workers keep for themselves: for who is about to sleep.
    fn get_last(&self, wanted: Wanted<'_>) -> Option<Task> {
        let look = Look {
            is_last: true,
            ..Look::default()
        };
        self.get_with(wanted, look)
    }

    #[inline]
    fn get_with(&self, wanted: Wanted<'_>, mut look: Look) -> Option<Task> {
        let found = self.seat.get(wanted, &mut look);
        if look.steals_tried > 0 {
            self.tally().steals_tried.add(look.steals_tried);
        }
        if look.hid {
            self.tell_of_work();
        }
        let found = found?;
        if let Some(victim) = found.stolen_from {
            self.tally().steals_done.add(1);
            self.shared.traffic.takes(self.index, victim);
        }
        Some(found.task)
    }

    /// Takes a published fork back, or waits until its thief has run it; true in the second case.
    pub(crate) fn reclaim_or_wait(&self, cell: &'static TaskCell) -> bool {
        if cell.offer().try_reclaim() {
            self.tally().forks_reclaimed.add(1);
            return false;
        }
        let helping = Helping {
            frame: cell,
            mark: self.mark(),
            lends: Lends::Late,
            gives_up: None,
        };
        self.wait_until(helping, || cell.thief(), || cell.offer().is_done());
        self.give_back(cell);
        true
    }
}
