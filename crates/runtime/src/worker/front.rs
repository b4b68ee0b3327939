//! The front of a worker: its newest tasks, which cost it no fence.
//!
//! A worker puts its tasks into its private front, and takes the newest one from there
//! ([`tasks`](super::tasks)). It makes half of the tasks public when a worker asks for work or has
//! taken a public task, and all of them when it may be about to wait. So nearly all tasks of a tree
//! are put and taken by the same worker without a fence.
//!
//! Other workers ask by closing the [gates](raddle_sync::gates), as they ask for forks. A worker
//! that is about to sleep takes tasks from the fronts of others. So a worker that stands still in
//! the middle of a task does not withhold its other tasks for ever.
//!
//! Only the pool that chooses itself (`auto`) has fronts before it: with any other pool, all tasks
//! go into that pool.
//!
//! # Memory ordering
//! A worker puts a task into its front, executes a light fence, and looks for sleepers. A worker
//! that is about to sleep sets its bit, executes a heavy fence, and looks into the fronts (I1 of
//! [`raddle_sync::idle`]).
//!
//! # Source
//! Dinan, Larkins, Sadayappan, Krishnamoorthy, Nieplocha: Scalable work stealing. SC 2009 (queues
//! split into a private and a shared part). Acar, Charguéraud, Rainwater: Scheduling parallel
//! programs by work stealing with private deques. PPoPP 2013 (requests).

use std::collections::VecDeque;

use crate::pool::hidden::{Hidden, Own, Place, hidden};
use crate::pool::{Parts, Setup, Wanted};
use crate::task::Task;

/// The largest number of tasks that become public, or change their worker, at a time.
const BATCH_MAX: usize = 16;

/// The fronts of all workers.
#[derive(Debug)]
pub(super) struct Fronts(Option<Parts<Hidden<Tasks>, Own<Tasks>>>);

/// The front of a worker, for that worker.
#[derive(Debug)]
pub(super) struct Front(Own<Tasks>);

/// Private tasks, newest last.
#[derive(Debug, Default)]
struct Tasks(VecDeque<Task>);

impl Place for Tasks {
    #[inline]
    fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
}

impl Tasks {
    /// Returns the number of tasks that are for others if they need some.
    fn batch_len(&self) -> usize {
        self.0.len().div_ceil(2).min(BATCH_MAX)
    }

    /// Takes the newest task that is wanted.
    #[inline]
    fn take_newest(&mut self, wanted: &Wanted<'_>) -> Option<Task> {
        if let Some(task) = self.0.pop_back_if(|task| wanted.accepts(task)) {
            return Some(task);
        }
        let index = self.0.iter().rposition(|task| wanted.accepts(task))?;
        self.0.remove(index)
    }

    /// Takes the oldest task that is wanted, for another worker. If that worker wants any task,
    /// takes a batch.
    fn take_for_other(&mut self, wanted: Wanted<'_>) -> VecDeque<Task> {
        if let Wanted::Any = wanted {
            return self.0.drain(..self.batch_len()).collect();
        }
        let index = self.0.iter().position(|task| wanted.accepts(task));
        let task = index.and_then(|index| self.0.remove(index));
        task.into_iter().collect()
    }
}

impl Fronts {
    /// Creates empty fronts, or none.
    pub(super) fn new(setup: &Setup, has_fronts: bool) -> Self {
        Self(has_fronts.then(|| setup.parts(hidden)))
    }

    /// Takes the front of a worker. To be called once per worker.
    pub(super) fn take(&self, worker_index: usize) -> Option<Front> {
        let parts = self.0.as_ref()?;
        Some(Front(parts.take(worker_index)))
    }

    /// Returns true if there is a task in some front. The caller has executed a heavy fence.
    pub(super) fn have_tasks(&self) -> bool {
        let parts = self.0.as_ref();
        parts.is_some_and(|parts| parts.iter().any(Hidden::holds))
    }

    /// Takes tasks from the front of another worker.
    pub(super) fn raid(&self, victim: usize, wanted: Wanted<'_>) -> Option<VecDeque<Task>> {
        self.0.as_ref()?.get(victim)?.raid(|tasks| {
            let taken = tasks.take_for_other(wanted);
            (!taken.is_empty()).then_some(taken)
        })
    }
}

impl Front {
    #[inline]
    pub(super) fn put(&self, task: Task) {
        self.0.with(|tasks| tasks.0.push_back(task));
    }

    /// Takes the newest task that is wanted.
    #[inline]
    pub(super) fn take_newest(&self, wanted: &Wanted<'_>) -> Option<Task> {
        self.0.with(|tasks| tasks.take_newest(wanted))
    }

    pub(super) fn take_oldest(&self) -> Option<Task> {
        self.0.with(|tasks| tasks.0.pop_front())
    }

    /// Returns the number of tasks that are for others if they need some.
    pub(super) fn batch_len(&self) -> usize {
        self.0.with(|tasks| tasks.batch_len())
    }

    #[inline]
    pub(super) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
}
