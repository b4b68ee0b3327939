//! The state of a running process, of its runtimes and of their workers, at one moment.

use serde::{Deserialize, Serialize};

use crate::WorkerReport;

/// A process at one moment.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[non_exhaustive]
pub struct ProcessSnapshot {
    /// The number of the process.
    pub process: u32,
    /// The name of its program, and its arguments.
    pub command: String,
    /// The number of the node that it is, and the number of nodes of its job.
    pub node: u32,
    /// See `node`.
    pub node_count: u32,
    /// The time since the socket was opened, in nanoseconds.
    pub age_ns: u64,
    /// The runtimes that live.
    pub runtimes: Vec<RuntimeSnapshot>,
}

/// A runtime at one moment.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
#[non_exhaustive]
pub struct RuntimeSnapshot {
    /// The number of the runtime in its process.
    pub number: u32,
    /// The pool from which its workers take tasks.
    pub pool: String,
    /// The number of tasks that wait in the pool, if the pool counts them.
    pub pool_tasks: Option<u64>,
    /// The number of tasks from other threads that wait.
    pub outside_tasks: u64,
    /// The number of messages to chares that were sent, but have not run to completion. `None` if
    /// there are no chares.
    pub messages_under_way: Option<u64>,
    /// The number of workers that exist from the start; the other entries of `workers` are
    /// compensating threads.
    pub worker_count: u32,
    /// The workers and compensating threads, by index.
    pub workers: Vec<WorkerSnapshot>,
}

/// A worker at one moment. The parts are read one after the other, so they may differ by the events
/// in between.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
#[non_exhaustive]
pub struct WorkerSnapshot {
    /// The CPU on which it is bound.
    pub cpu: Option<u32>,
    /// The activity of the worker.
    pub activity: Activity,
    /// The time for which it has had no work, in nanoseconds; 0 if it works.
    pub since_ns: u64,
    /// The counters so far.
    pub counters: WorkerReport,
}

/// The activity of a worker.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum Activity {
    /// It runs a task.
    #[default]
    Works,
    /// It waits for the other half of a join, and finds no other work.
    WaitsForJoin,
    /// It waits for the tasks of a scope, and finds no other work.
    WaitsForScope,
    /// It waits for a handle or a location, and finds no other work.
    WaitsForHandle,
    /// It searches for work, or sleeps until there is some.
    Idle,
    /// It is a thread that replaced a worker, and is not needed now.
    Rests,
}

impl RuntimeSnapshot {
    /// Creates a snapshot without workers and tasks.
    #[must_use]
    pub fn new(number: u32, pool: &str, worker_count: usize) -> Self {
        Self {
            number,
            pool: pool.to_owned(),
            worker_count: u32::try_from(worker_count).unwrap_or(u32::MAX),
            ..Self::default()
        }
    }

    /// Sets the numbers of tasks that wait, in the pool and from outside.
    #[must_use]
    pub fn with_tasks(mut self, pool: Option<usize>, outside: usize) -> Self {
        self.pool_tasks = pool.map(|tasks| tasks as u64);
        self.outside_tasks = outside as u64;
        self
    }

    /// Sets the number of messages that were sent, but have not run to completion.
    #[must_use]
    pub(crate) fn with_messages(mut self, under_way: Option<u64>) -> Self {
        self.messages_under_way = under_way;
        self
    }

    /// Sets the workers.
    #[must_use]
    pub fn with_workers(mut self, workers: Vec<WorkerSnapshot>) -> Self {
        self.workers = workers;
        self
    }
}

impl WorkerSnapshot {
    /// Creates the snapshot of a worker on this CPU that has had no work for `since_ns`.
    #[must_use]
    pub fn new(
        counters: WorkerReport,
        cpu: Option<usize>,
        activity: Activity,
        since_ns: u64,
    ) -> Self {
        Self {
            cpu: cpu.and_then(|cpu| u32::try_from(cpu).ok()),
            activity,
            since_ns,
            counters,
        }
    }
}
