//! The state that all workers of one runtime share.

use std::fmt;
use std::sync::Arc;

use raddle_sync::CachePadded;
use raddle_sync::bits::AtomicBits;
use raddle_sync::idle::IdleSet;
use raddle_sync::prim::{AtomicBool, Relaxed};
use raddle_trace::{Counters, Report, WorkerReport};

use super::Forks;
use super::current::{is_on_bound_worker, reset_workers_in_children};
use super::lent_places::Compensation;
use super::life::Life;
use super::watch_state::WatchState;
use crate::blocking::BlockingThreads;
use crate::clock::Instant;
use crate::config::{IdlePolicy, TaskMemory};
use crate::mailbox::{MailboxKind, PostOffice};
use crate::network::Network;
use crate::origin::Origin;
use crate::placing::Placing;
use crate::pool::{Outside, Pool, PoolKind, Setup};
use crate::task::Task;
use crate::task::memory::Memory;
use crate::threads::WorkerThreads;
use crate::traffic::Traffic;

/// The state that all workers of one runtime share.
pub(crate) struct Shared {
    pub(crate) origin: Origin,
    pub(crate) pool: Box<dyn Pool>,
    /// Tasks from threads that are no workers of this runtime.
    pub(crate) outside: Arc<Outside>,
    pub(crate) post: PostOffice,
    pub(crate) idle: IdleSet,
    pub(crate) network: Option<Arc<dyn Network>>,
    pub(crate) forks: Box<[Arc<Forks>]>,
    pub(crate) memory: Memory,
    /// Sleepers that look for stalled workers after a while.
    pub(super) watch: WatchState,
    /// True once a standstill of this runtime has been reported.
    pub(super) is_still: AtomicBool,
    pub(crate) blocking: BlockingThreads,
    /// Workers that sleep inside a task. A task that comes from outside may be below the frame that
    /// they wait for.
    pub(crate) helpers: AtomicBits,
    pub(crate) counters: Box<[Arc<CachePadded<Counters>>]>,
    worker_count: usize,
    pub(crate) compensation: Compensation,
    pub(crate) policy: IdlePolicy,
    /// There are more workers than CPUs: spinning takes time from workers that have work.
    pub(crate) oversubscribed: AtomicBool,
    pub(crate) placing: Placing,
    pub(crate) traffic: Traffic,
    pub(super) life: Life,
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
        oversubscribed: bool,
        task_memory: TaskMemory,
        mailbox: MailboxKind,
        threads: WorkerThreads,
    ) -> Self {
        let limit = setup.worker_limit();
        let origin = Origin::here();
        reset_workers_in_children();
        Self {
            origin,
            post: PostOffice::new(mailbox, setup.worker_count(), limit),
            pool: pool.build(setup),
            outside: Arc::clone(&setup.outside),
            idle: IdleSet::new(limit),
            network: None,
            forks: (0..limit).map(|_| Arc::new(Forks::new())).collect(),
            watch: WatchState::default(),
            is_still: AtomicBool::new(false),
            blocking: BlockingThreads::new(&threads.name, is_on_bound_worker),
            memory: Memory::new(limit, task_memory),
            helpers: AtomicBits::new(limit),
            counters: (0..limit).map(|_| counters_of_absent()).collect(),
            worker_count: setup.worker_count(),
            compensation: Compensation::new(setup, threads),
            policy,
            oversubscribed: AtomicBool::new(oversubscribed),
            placing: Placing::nowhere(setup.worker_count()),
            traffic: Traffic::new(setup.worker_count()),
            life: Life::default(),
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

    /// Returns true if there are more workers than CPUs for them.
    pub(crate) fn is_oversubscribed(&self) -> bool {
        // Relaxed: a hint.
        self.oversubscribed.load(Relaxed)
    }

    /// Keeps a task of a thread that is no worker here, and wakes a worker for it.
    pub(crate) fn put_outside(&self, task: Task) {
        let is_root = task.is_root();
        self.outside.put(task);
        self.idle.work_piled_up(0, self.outside.len());
        // ORDERING(E4): the fence is in `work_piled_up`.
        self.drop_if_closed();
        if is_root {
            // It is below no frame, so no worker waits for it inside a task.
            return;
        }
        // `work_piled_up` has put a fence between the task and this look: see
        // `Worker::sleep_until_notified`.
        while let Some(helper) = self.helpers.take_any(0) {
            let _ = self.idle.cell(helper).notify();
        }
    }

    /// Returns the number of workers that exist from the start.
    pub(crate) fn worker_count(&self) -> usize {
        self.worker_count
    }

    /// Returns the number of those workers and of all compensating threads started so far.
    pub(crate) fn present(&self) -> usize {
        self.compensation.present()
    }

    /// Returns the fork stacks of all present workers with their indices.
    pub(super) fn present_forks(&self) -> impl Iterator<Item = (usize, &Forks)> {
        let forks = self.forks.iter().map(|forks| &**forks);
        forks.enumerate().take(self.present())
    }

    /// Returns true if there is work that is not private to one worker.
    pub(super) fn has_work(&self) -> bool {
        !self.outside.is_empty() || self.pool.has_work() || self.has_news()
    }

    /// Returns true if something has arrived from other nodes.
    fn has_news(&self) -> bool {
        let network = self.network.as_ref();
        network.is_some_and(|network| network.has_news())
    }

    /// Returns the nanoseconds since the runtime was created: the clock of its counters.
    pub(crate) fn age_ns(&self) -> u64 {
        u64::try_from(self.started.elapsed().as_nanos()).unwrap_or(u64::MAX)
    }

    /// Reads all counters.
    pub(crate) fn report(&self) -> Report {
        let age_ns = self.age_ns();
        let workers = self
            .counters
            .iter()
            .zip(&self.forks)
            .take(self.present())
            .map(|(counters, forks)| WorkerReport::read(counters, forks.inline_count(), age_ns))
            .collect();
        Report::new(self.pool.name(), workers)
            .with_choice(self.pool.choice())
            .with_moves(self.placing.moves())
    }
}

/// Creates the counters of a thread that has not begun.
fn counters_of_absent() -> Arc<CachePadded<Counters>> {
    let counters = Arc::<CachePadded<Counters>>::default();
    counters.absent.begin(0);
    counters
}
