//! What models and seeded schedules need of the runtime besides its public interface.

#[cfg(shuttle)]
pub mod explore;

use std::sync::Arc;

use raddle_sync::prim::thread;

use crate::config::{Placed, Settled};
use crate::fork::as_worker;
use crate::pool::Setup;
use crate::worker::{SUBSTITUTES_MAX, Shared, Worker, WorkerThreads};
use crate::{
    BlockShape, IdlePolicy, MailboxKind, Network, PoolKind, Runtime, SeedPolicy, TaskMemory,
};

/// A runtime whose workers are bound nowhere: a model asks neither the machine nor the environment.
///
/// # Panics
/// When a worker cannot be started, which in a model does not happen.
#[must_use]
pub fn runtime(
    worker_count: usize,
    pool: PoolKind,
    mailbox: MailboxKind,
    idle: IdlePolicy,
    crowded: bool,
    seeds: SeedPolicy,
) -> Runtime {
    runtime_on(worker_count, pool, mailbox, idle, crowded, seeds, None)
}

/// As [`runtime`], whose workers hear of other nodes by a network, if there is one.
///
/// # Panics
/// As [`runtime`].
#[must_use]
pub fn runtime_on(
    worker_count: usize,
    pool: PoolKind,
    mailbox: MailboxKind,
    idle: IdlePolicy,
    crowded: bool,
    seeds: SeedPolicy,
    network: Option<Arc<dyn Network>>,
) -> Runtime {
    Runtime::start(Settled {
        placed: Placed::nowhere(worker_count),
        pool,
        pool_setup: Setup::new(worker_count, SUBSTITUTES_MAX, BlockShape::default()),
        idle,
        crowded,
        task_memory: TaskMemory::default(),
        mailbox,
        seeds,
        threads: WorkerThreads::default(),
        network,
    })
    .expect("workers that are bound nowhere start")
}

/// Calls `call` on this thread as the first of `worker_count` workers with the default pool, and ends the others after it.
///
/// A model has one thread less than with [`runtime`], where nobody but the workers is looked at.
///
/// # Panics
/// When a worker panics, which none does.
pub fn as_first_worker<R>(worker_count: usize, call: impl FnOnce() -> R) -> R {
    let shared = Arc::new(Shared::new(
        PoolKind::Deque,
        &Setup::new(worker_count, 0, BlockShape::default()),
        IdlePolicy::Park,
        false,
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
