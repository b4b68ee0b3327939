//! Where a runtime's workers hear of other nodes: between messages and tasks, and while they look for work; asleep, they are woken from there.
//!
//! # Source
//! Mei, Zheng, Gioachin, Kalé, Optimizing a parallel runtime system for multicore clusters, section 3: who makes progress on the network.

use std::fmt;

use raddle_sync::idle::IdleSet;

use crate::fork::as_nobody;

/// What comes to a runtime from other nodes.
pub trait Network: fmt::Debug + Send + Sync {
    /// Where the workers sleep: whoever has something for them calls [`IdleSet::work_came`] on another view of the same set, which may be in another
    /// process. It has room for all workers and for 1,024 more that stand in for those that wait.
    fn idle(&self) -> IdleSet;

    /// Takes what has come, and hands it to those whom it is for by messages; nothing when another thread does so already.
    ///
    /// A worker calls it, or a stand-in, between two tasks.
    fn receive(&self);

    /// True when there is something to be taken, as far as can be seen without a call of the system, and while another thread receives: a worker that
    /// finds neither may sleep, if it was seen to lie down before.
    fn has_news(&self) -> bool;

    /// A worker is about to sleep, and is told of what comes from now on as well as of what came before.
    fn before_sleep(&self);

    /// That worker is awake again; once for each [`before_sleep`](Self::before_sleep), however the
    /// sleep has ended.
    fn after_sleep(&self);
}

/// Calls `call` with the calling thread being no worker of any runtime: what it sends goes as from outside.
pub fn apart<R>(call: impl FnOnce() -> R) -> R {
    as_nobody(call)
}
