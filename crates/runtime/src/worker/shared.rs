//! The state that all workers of one runtime share.
//!
//! The fields are private. Each concern has a type of its own, which owns its operations; an
//! operation of several concerns is a method of [`Shared`] here, or in the file of that operation:
//! [`end`](super::end), [`delivery`](super::delivery), [`moves`](super::moves) and
//! [`compensation`](super::compensation).

use std::fmt;
use std::sync::Arc;

use raddle_sync::CachePadded;
use raddle_sync::bits::AtomicBits;
use raddle_sync::idle::IdleSet;
use raddle_sync::prim::thread;
use raddle_trace::{Counters, Report, WorkerReport};

use super::Forks;
use super::attention::{self, Attention};
use super::crowd::Crowd;
use super::current::{is_on_bound_worker, reset_workers_in_children};
use super::front::Fronts;
use super::lent_places::Compensation;
use super::per_worker::PerWorker;
use super::shutdown_state::ShutdownState;
use super::stall_watch_state::StallWatch;
use super::standstill::{LOOK_TIME, StandsStill, StandstillReport};
use super::unfinished_futures::UnfinishedFutures;
use crate::blocking::BlockingThreads;
use crate::clock::Instant;
use crate::config::{IdlePolicy, TaskMemory};
use crate::mailbox::{MailboxKind, WorkerMailboxes};
use crate::network::Network;
use crate::origin::Origin;
use crate::panics::OnPanic;
use crate::placing::Placing;
use crate::pool::{Outside, Pool, PoolKind, Seat, Setup, Wanted};
use crate::task::memory::Memory;
use crate::task::{Task, TaskList};
use crate::threads::WorkerThreads;
use crate::traffic::Traffic;

/// The state that all workers of one runtime share.
pub(crate) struct Shared {
    /// The number of this runtime in the process, for recordings.
    number: u32,
    origin: Origin,
    pool: Box<dyn Pool>,
    fronts: Fronts,
    /// Tasks from threads that are no workers of this runtime.
    outside: Arc<Outside>,
    mailboxes: WorkerMailboxes,
    idle: IdleSet,
    network: Option<Arc<dyn Network>>,
    /// The fork stacks of all workers and compensating threads, by worker index.
    forks: PerWorker<Forks>,
    memory: Memory,
    stall_watch: StallWatch,
    standstill: StandstillReport,
    blocking: BlockingThreads,
    futures: UnfinishedFutures,
    /// Workers that sleep inside a task. A task that comes from outside may be below the frame that
    /// they wait for.
    helpers: AtomicBits,
    /// The counters of all workers and compensating threads, by worker index.
    counters: PerWorker<CachePadded<Counters>>,
    /// The marks for rare cases of all workers and compensating threads, by worker index.
    attention: PerWorker<attention::Place>,
    worker_count: usize,
    compensation: Compensation,
    policy: IdlePolicy,
    crowd: Crowd,
    placing: Placing,
    traffic: Traffic,
    shutdown: ShutdownState,
    started: Instant,
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

impl Shared {
    /// Creates a runtime. Its workers have not started yet.
    pub(crate) fn new(
        pool: PoolKind,
        setup: &Setup,
        policy: IdlePolicy,
        cpu_count: usize,
        task_memory: TaskMemory,
        mailbox: MailboxKind,
        threads: WorkerThreads,
    ) -> Self {
        let limit = setup.worker_limit();
        let origin = Origin::here();
        reset_workers_in_children();
        Self {
            number: next_number(),
            origin,
            mailboxes: WorkerMailboxes::new(mailbox, setup.worker_count(), limit),
            pool: pool.build(setup),
            fronts: Fronts::new(setup, pool == PoolKind::Auto),
            outside: Arc::clone(&setup.outside),
            idle: IdleSet::new(limit),
            network: None,
            forks: PerWorker::new(setup.worker_count(), limit, Forks::new),
            stall_watch: StallWatch::default(),
            standstill: StandstillReport::default(),
            blocking: BlockingThreads::new(&threads.name, is_on_bound_worker),
            futures: UnfinishedFutures::new(setup.worker_count()),
            memory: Memory::new(limit, task_memory),
            helpers: AtomicBits::new(limit),
            counters: PerWorker::new(setup.worker_count(), limit, counters_of_absent),
            attention: PerWorker::new(setup.worker_count(), limit, attention::place),
            worker_count: setup.worker_count(),
            compensation: Compensation::new(setup, threads),
            policy,
            crowd: Crowd::new(setup.worker_count(), cpu_count),
            placing: Placing::unbound(setup.worker_count()),
            traffic: Traffic::new(setup.worker_count()),
            shutdown: ShutdownState::default(),
            started: Instant::now(),
        }
    }

    /// Sets where the workers are bound.
    pub(crate) fn with_placing(mut self, placing: Placing) -> Self {
        self.placing = placing;
        self
    }

    /// Sets the network from which the workers receive, if there is one.
    pub(crate) fn with_network(mut self, network: Option<Arc<dyn Network>>) -> Self {
        if let Some(network) = &network {
            let (idle, limit) = (network.idle(), self.idle.len());
            let capacity = idle.len();
            assert!(
                capacity >= limit,
                "the network has capacity for {capacity} workers; the runtime may have {limit}"
            );
            self.idle = idle;
        }
        self.network = network;
        self
    }

    /// Checks that the current process is the one in which this runtime was started.
    ///
    /// # Panics
    /// In a child process of that one.
    #[inline]
    #[track_caller]
    pub(crate) fn expect_here(&self) {
        self.origin.expect_here();
    }

    /// Returns true in a child process of the one in which this runtime was started.
    #[inline]
    pub(crate) fn is_other_process(&self) -> bool {
        self.origin.is_other_process()
    }

    /// Returns the process in which this runtime was started.
    pub(super) fn origin(&self) -> Origin {
        self.origin
    }

    /// Returns the name of the pool, as `--pool` takes it.
    pub(crate) fn pool_name(&self) -> &'static str {
        self.pool.name()
    }

    /// Returns about how many tasks wait in the pool, if it counts them.
    pub(super) fn pool_len_estimate(&self) -> Option<usize> {
        self.pool.len_estimate()
    }

    /// Returns about how many tasks from outside wait.
    pub(super) fn outside_len(&self) -> usize {
        self.outside.len()
    }

    /// Returns a worker's access to the pool. To be called once per worker.
    pub(super) fn seat(&self, worker_index: usize) -> Box<dyn Seat> {
        self.pool.seat(worker_index)
    }

    /// Returns the newest tasks of all workers.
    #[inline]
    pub(super) fn fronts(&self) -> &Fronts {
        &self.fronts
    }

    /// Returns the mailboxes of all workers.
    #[inline]
    pub(crate) fn mailboxes(&self) -> &WorkerMailboxes {
        &self.mailboxes
    }

    /// Returns the searching and sleeping workers, and the wait cells of all workers.
    #[inline]
    pub(crate) fn idle(&self) -> &IdleSet {
        &self.idle
    }

    /// Notifies the wait cell of a worker.
    #[inline]
    pub(crate) fn notify(&self, worker_index: usize) {
        let _ = self.idle.cell(worker_index).notify();
    }

    /// Returns the network from which the workers receive, if there is one.
    #[inline]
    pub(super) fn network(&self) -> Option<&dyn Network> {
        self.network.as_deref()
    }

    /// Returns the memory of the task cells.
    #[inline]
    pub(crate) fn memory(&self) -> &Memory {
        &self.memory
    }

    /// Returns the threads for calls that block.
    pub(crate) fn blocking(&self) -> &BlockingThreads {
        &self.blocking
    }

    /// Returns the spawned futures that are not finished.
    pub(crate) fn futures(&self) -> &UnfinishedFutures {
        &self.futures
    }

    /// Returns the CPUs of the workers.
    #[inline]
    pub(crate) fn placing(&self) -> &Placing {
        &self.placing
    }

    /// Returns the counts of what the workers exchange.
    #[inline]
    pub(crate) fn traffic(&self) -> &Traffic {
        &self.traffic
    }

    /// Returns the places that workers have lent, and the compensating threads.
    #[inline]
    pub(super) fn compensation(&self) -> &Compensation {
        &self.compensation
    }

    /// Returns the function that gets panics for which no thread waits.
    pub(crate) fn on_panic(&self) -> Option<OnPanic> {
        self.compensation.on_panic()
    }

    /// Takes the handles of all worker threads, to join them.
    pub(crate) fn take_thread_handles(&self) -> Vec<thread::JoinHandle<()>> {
        self.compensation.take_handles()
    }

    /// Returns the counts by which this runtime knows that it may end.
    #[inline]
    pub(super) fn shutdown(&self) -> &ShutdownState {
        &self.shutdown
    }

    /// Returns the sleepers that look for stalled workers.
    #[inline]
    pub(super) fn stall_watch(&self) -> &StallWatch {
        &self.stall_watch
    }

    /// Returns the behaviour of workers without work.
    #[inline]
    pub(super) fn idle_policy(&self) -> IdlePolicy {
        self.policy
    }

    /// Returns the share of the CPUs that the workers take.
    #[inline]
    pub(crate) fn crowd(&self) -> &Crowd {
        &self.crowd
    }

    /// Adds a worker that is about to sleep inside a task: a task from outside wakes it.
    pub(super) fn add_helper(&self, worker_index: usize) {
        self.helpers.insert(worker_index);
    }

    /// Removes a worker that no longer sleeps inside a task.
    pub(super) fn remove_helper(&self, worker_index: usize) {
        self.helpers.remove(worker_index);
    }

    /// Keeps a task of a thread that is no worker here, and wakes a worker for it.
    pub(crate) fn put_outside(&self, task: Task) {
        self.put_outside_near(task, 0, |_| ());
    }

    /// Puts the call of a thread outside that waits for its end at once. If a worker has to be
    /// woken while all others sleep, it is woken on the caller's CPU: it needs no other CPU to wake
    /// up, and the data of the call may be in the caches of this one.
    pub(crate) fn put_call(&self, task: Task) {
        let hand_over = |worker_index| {
            // A worker that is awake and does not search has just ended the last call, and waits
            // for the CPU of the caller, which that call woke there. With a third thread on this
            // CPU, another CPU would have none.
            let others_sleep = self.idle.sleeping() + 1 >= self.worker_count;
            if self.crowd.is_full() && others_sleep {
                self.placing.hand_over(worker_index);
            }
        };
        self.put_outside_near(task, self.placing.worker_here().unwrap_or(0), hand_over);
    }

    fn put_outside_near(&self, task: Task, near: usize, before_wake: impl FnOnce(usize)) {
        let is_wanted_by_none = task.is_root() && !task.is_open();
        self.outside.put(task);
        self.idle
            .work_piled_up(near, self.outside.len(), before_wake);
        // ORDERING(E4): the fence is in `work_piled_up`.
        self.drop_if_closed();
        if is_wanted_by_none {
            // It is below no frame, so no worker waits for it inside a task.
            return;
        }
        // `work_piled_up` has put a fence between the task and this look: see
        // `Worker::sleep_until_notified`.
        while let Some(helper) = self.helpers.take_any(0) {
            self.notify(helper);
        }
    }

    /// Gives an open task to worker `to`, which may sleep, or wait inside a task.
    ///
    /// # Panics
    /// If there is no such worker.
    pub(crate) fn assign(&self, to: usize, task: Task) {
        self.mailboxes.put_assigned(to, task);
        // This puts a fence between the task and the look at the helpers: see
        // `Worker::sleep_until_notified`.
        self.wake_for_message(to);
        if self.helpers.contains(to) {
            self.notify(to);
        }
    }

    /// Takes the oldest task from outside, of any kind.
    pub(super) fn take_outside(&self) -> Option<Task> {
        self.outside.take_oldest(Wanted::Any)
    }

    /// Counts a root task that was started while it was in the queue of tasks from outside. If many
    /// were, removes all empty tasks and returns them.
    pub(crate) fn count_begun(&self) -> TaskList {
        self.outside.count_begun()
    }

    /// Returns the number of this runtime in the process.
    pub(crate) fn number(&self) -> u32 {
        self.number
    }

    /// Returns the number of workers that exist from the start.
    pub(crate) fn worker_count(&self) -> usize {
        self.worker_count
    }

    /// Returns the number of those workers and of all compensating threads started so far.
    pub(crate) fn present(&self) -> usize {
        self.compensation.present()
    }

    /// Returns the largest number of workers and compensating threads that may exist.
    pub(crate) fn worker_limit(&self) -> usize {
        self.forks.limit()
    }

    /// Returns the fork stack of a worker.
    #[inline]
    pub(super) fn forks_of(&self, worker_index: usize) -> &Arc<Forks> {
        self.forks.of(worker_index)
    }

    /// Returns the counters of a worker.
    pub(super) fn counters_of(&self, worker_index: usize) -> &Arc<CachePadded<Counters>> {
        self.counters.of(worker_index)
    }

    /// Returns the mark for the rare cases of a worker.
    pub(super) fn attention_of(&self, worker_index: usize) -> Attention {
        Attention::new(self.attention.of(worker_index))
    }

    /// Sets the marks of all present workers.
    pub(super) fn need_attention(&self) {
        (0..self.present()).for_each(|index| self.attention_of(index).set());
    }

    /// Returns the fork stacks of all present workers with their indices.
    pub(super) fn present_forks(&self) -> impl Iterator<Item = (usize, &Forks)> {
        self.forks.first(self.present()).enumerate()
    }

    /// Returns a number that changes only while some worker makes forks or offers.
    pub(super) fn fork_activity(&self) -> u64 {
        self.present_forks()
            .fold(0, |sum, (_, forks)| sum.wrapping_add(forks.activity()))
    }

    /// Returns true if there is work that another worker can take.
    pub(super) fn has_work(&self) -> bool {
        !self.outside.is_empty()
            || self.pool.has_work()
            || self.fronts.have_tasks()
            || self.has_news()
    }

    /// Returns true if something has arrived from other nodes.
    fn has_news(&self) -> bool {
        let network = self.network.as_ref();
        network.is_some_and(|network| network.has_news())
    }

    /// Returns the state of a runtime in which every worker has waited inside a task for
    /// [`LOOK_TIME`] although there is work. Returns `None` if the runtime does not stand still.
    pub(super) fn stands_still(&self) -> Option<StandsStill> {
        let idle = &self.idle;
        let has_work = self.has_work() || self.blocking.has_calls();
        if !has_work || self.blocking.is_busy() || idle.anyone_sleeps() || idle.anyone_searches() {
            return None;
        }
        let now_ns = self.age_ns();
        let present = self.present();
        let waits = self
            .counters
            .first(present)
            .filter(|counters| u128::from(counters.idle.open(now_ns)) >= LOOK_TIME.as_nanos())
            .count();
        // A thread that was notified goes on as soon as the system runs it.
        if (0..present).any(|worker_index| idle.cell(worker_index).is_notified()) {
            return None;
        }
        (waits + self.compensation.absent_count() >= present).then(|| StandsStill {
            worker_count: self.worker_count(),
            compensating_count: waits.saturating_sub(self.worker_count()),
            compensating_max: self.worker_limit() - self.worker_count(),
            is_certain: !self.compensation.any_foreign(),
        })
    }

    /// Reports that this runtime stands still, unless it was reported before.
    pub(super) fn report_standstill(&self, state: &StandsStill) {
        self.standstill.report_once(state);
    }

    /// Returns the nanoseconds since the runtime was created: the clock of its counters.
    pub(crate) fn age_ns(&self) -> u64 {
        u64::try_from(self.started.elapsed().as_nanos()).unwrap_or(u64::MAX)
    }

    /// Reads all counters.
    pub(crate) fn report(&self) -> Report {
        let age_ns = self.age_ns();
        let present = self.present();
        let workers = self
            .counters
            .first(present)
            .zip(self.forks.first(present))
            .map(|(counters, forks)| WorkerReport::read(counters, forks.inline_count(), age_ns))
            .collect();
        Report::new(self.pool.name(), workers)
            .with_choice(self.pool.choice())
            .with_moves(self.placing.moves())
    }
}

/// Counts a thread of a worker, from before its start until this is dropped.
#[derive(Debug)]
pub(crate) struct ThreadCount(Arc<Shared>);

impl ThreadCount {
    /// Counts a thread that is about to be started.
    pub(crate) fn begin(shared: &Arc<Shared>) -> Self {
        shared.shutdown().begin_thread();
        Self(Arc::clone(shared))
    }

    /// Returns the state of the runtime.
    pub(crate) fn shared(&self) -> &Arc<Shared> {
        &self.0
    }
}

impl Drop for ThreadCount {
    fn drop(&mut self) {
        self.0.end_thread();
    }
}

/// Returns a number for each runtime, from 0.
#[cfg(not(any(loom, shuttle)))]
fn next_number() -> u32 {
    use raddle_sync::prim::{AtomicU32, Relaxed};

    static NEXT: AtomicU32 = AtomicU32::new(0);
    // Relaxed: only a number.
    NEXT.fetch_add(1, Relaxed)
}

/// Returns 0: models record nothing.
#[cfg(any(loom, shuttle))]
fn next_number() -> u32 {
    0
}

/// Creates the counters of a thread that has not begun.
fn counters_of_absent() -> CachePadded<Counters> {
    let counters = CachePadded::<Counters>::default();
    counters.absent.begin(0);
    counters
}
