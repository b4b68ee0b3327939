//! The interface of `rayon-core` 1.13 on Raddle's workers.
//!
//! A program that uses the crate `rayon` runs on Raddle if its manifest replaces `rayon-core` by
//! this crate. Nothing else changes:
//!
//! ```toml
//! [patch.crates-io]
//! rayon-core = { path = "…/raddle/crates/rayon-core" }
//! ```
//!
//! The global pool is Raddle's default runtime, so parallel iterators, chares and locations of one
//! program share one set of workers. [`ThreadPoolBuilder`] makes further runtimes.
//!
//! The documentation of the original describes all functions. This one says what is different:
//!
//! - A thread that waits runs any other work of rayon, as in the original, but of Raddle's own work
//!   only that below its wait.
//! - A worker has work that no thread has asked for on a private stack. [`yield_local`] and
//!   [`yield_now`] take the oldest of it, and not the newest, when they find nothing else.
//! - In a child process of fork(2) the global pool starts anew.

// The layers, from the lowest to the highest. A module uses only modules of lower layers and of its
// own:
//
// 1. fifo, panics, yielding
// 2. registry, start, thread_spawn
// 3. broadcast, scope
// 4. join, spawn
// 5. pool
// 6. builder, configuration

mod broadcast;
mod builder;
mod configuration;
mod fifo;
mod join;
mod panics;
mod pool;
mod registry;
mod scope;
mod spawn;
mod start;
#[cfg(all(test, rayon_suite))]
mod suite;
mod thread_spawn;
mod yielding;

#[cfg(all(test, rayon_suite))]
use suite::unwind;

use raddle_runtime::{WORKER_COUNT_MAX, open};

pub use broadcast::{BroadcastContext, broadcast, spawn_broadcast};
pub use builder::{ThreadPoolBuildError, ThreadPoolBuilder};
#[allow(deprecated, reason = "programs may still use the old names")]
pub use configuration::{Configuration, initialize};
pub use join::{FnContext, join, join_context};
pub use pool::ThreadPool;
pub use scope::{Scope, ScopeFifo, in_place_scope, in_place_scope_fifo, scope, scope_fifo};
pub use spawn::{spawn, spawn_fifo};
pub use thread_spawn::ThreadBuilder;
pub use yielding::{Yield, current_thread_has_pending_tasks, yield_local, yield_now};

/// Returns the largest number of threads of a pool. Larger numbers are reduced to it.
pub fn max_num_threads() -> usize {
    WORKER_COUNT_MAX
}

/// Returns the number of threads of the current thread's pool; on other threads, of the global
/// pool, which starts if necessary.
pub fn current_num_threads() -> usize {
    open::worker_count().unwrap_or_else(|| registry::global().worker_count())
}

/// Returns the index of the current thread in its pool, from 0; `None` on other threads.
///
/// A compensating thread of Raddle, which runs while a worker waits for something else, runs no
/// work of rayon and has no index.
#[inline]
pub fn current_thread_index() -> Option<usize> {
    open::worker_index()
}
