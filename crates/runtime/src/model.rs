//! The parts of the runtime that loom models and seeded schedules use besides its public interface.

#[cfg(shuttle)]
pub mod explore;

use std::sync::Arc;

use raddle_sync::prim::thread;
use raddle_topology::Claims;

use crate::config::Settings;
use crate::placing::{Machine, Placed};
use crate::pool::Setup;
use crate::runtime::ResolvedSettings;
use crate::threads::WorkerThreads;
use crate::worker::{COMPENSATING_MAX, Shared, Worker, as_worker};
use crate::{BlockShape, IdlePolicy, MailboxKind, Network, PoolKind, Runtime, TaskMemory};

/// The number of CPUs, compared with the number of workers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Crowding {
    /// There is one CPU more.
    Room,
    /// Each worker has a CPU, and no other thread has one.
    Full,
    /// There is one CPU less.
    Over,
}

/// Starts a runtime with unbound workers, which leave a CPU to other threads: a model reads neither
/// the machine nor the environment.
///
/// # Panics
/// If a worker cannot be started, which does not happen in a model.
#[must_use]
pub fn runtime(
    worker_count: usize,
    pool: PoolKind,
    mailbox: MailboxKind,
    idle: IdlePolicy,
) -> Runtime {
    runtime_on(worker_count, pool, mailbox, idle, Crowding::Room, None)
}

/// Starts a runtime as [`runtime`] does, with workers that receive from `network`, if there is one.
///
/// # Panics
/// As for [`runtime`].
#[must_use]
pub fn runtime_on(
    worker_count: usize,
    pool: PoolKind,
    mailbox: MailboxKind,
    idle: IdlePolicy,
    crowding: Crowding,
    network: Option<Arc<dyn Network>>,
) -> Runtime {
    Runtime::start(
        ResolvedSettings {
            placed: Placed::unbound(worker_count, Machine::None, Claims::default()),
            pool,
            pool_setup: Setup::new(worker_count, COMPENSATING_MAX, BlockShape::default()),
            idle,
            cpu_count: match crowding {
                Crowding::Room => worker_count + 1,
                Crowding::Full => worker_count,
                Crowding::Over => worker_count - 1,
            },
            task_memory: TaskMemory::default(),
            mailbox,
            settings: Settings::default(),
            threads: WorkerThreads::default(),
            network,
            uses_current_thread: false,
        },
        None,
    )
    .expect("workers that are bound nowhere start")
}

/// Calls `call` on this thread as the first of `worker_count` workers, and ends the other workers
/// afterwards.
///
/// A model needs one thread less than with [`runtime`].
///
/// # Panics
/// If a worker panics, which none does.
pub fn as_first_worker<R>(worker_count: usize, call: impl FnOnce() -> R) -> R {
    let shared = Arc::new(Shared::new(
        PoolKind::Deque,
        &Setup::new(worker_count, 0, BlockShape::default()),
        IdlePolicy::Park,
        // One CPU is left, as in `runtime`.
        worker_count + 1,
        TaskMemory::default(),
        MailboxKind::default(),
        WorkerThreads::default(),
    ));
    let work = |shared: Arc<Shared>, index| {
        let worker = Worker::new(index, shared);
        as_worker(&worker, || worker.run_to_the_end());
    };
    let others: Vec<_> = (1..worker_count)
        .map(|index| {
            let shared = Arc::clone(&shared);
            thread::spawn(move || work(shared, index))
        })
        .collect();
    let first = Worker::new(0, Arc::clone(&shared));
    let result = as_worker(&first, call);
    shared.stop();
    for other in others {
        other
            .join()
            .expect("workers catch every panic of their tasks");
    }
    result
}
