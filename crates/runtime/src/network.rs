//! The interface through which the workers of a runtime receive from other nodes.
//!
//! Workers receive between messages and tasks, and while they search for work. The network wakes
//! them when they sleep.
//!
//! # Source
//! Mei, Zheng, Gioachin, Kalé: Optimizing a parallel runtime system for multicore clusters. 2010,
//! sect. 3: which thread makes progress on the network.

use std::fmt;

use raddle_sync::idle::IdleSet;

/// A source of messages from other nodes.
pub trait Network: fmt::Debug + Send + Sync {
    /// Returns the set in which the workers sleep. To wake workers, the network calls
    /// [`IdleSet::work_came`] on another view of the same set, which may be in another process.
    ///
    /// The set has capacity for all workers and 1,024 compensating threads.
    fn idle(&self) -> IdleSet;

    /// Receives what has arrived and delivers it as messages. Does nothing if another thread is
    /// receiving.
    ///
    /// A worker or a compensating thread calls it between two tasks.
    fn receive(&self);

    /// Returns true if there is something to receive, as far as can be seen without a system call,
    /// or if another thread is receiving.
    ///
    /// A worker that gets false may sleep, provided that it announced its sleep before.
    fn has_news(&self) -> bool;

    /// Announces that a worker is about to sleep. The network wakes it for anything that arrives
    /// from now on, or has arrived before.
    fn before_sleep(&self);

    /// Announces that the worker is awake again. Called once for each
    /// [`before_sleep`](Self::before_sleep), however the sleep has ended.
    fn after_sleep(&self);
}
