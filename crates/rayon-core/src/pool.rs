//! A pool of threads, which is a runtime of its own.

use std::fmt;
use std::sync::Arc;

use raddle_runtime::Runtime;
use raddle_runtime::open;

use crate::broadcast::{BroadcastContext, broadcast_in, spawn_broadcast_in};
use crate::registry::Registry;
use crate::scope::{Scope, ScopeFifo, in_place_scope_fifo_of, in_place_scope_of};
use crate::{Yield, join, scope, scope_fifo, yield_local, yield_now};

/// A pool of threads. Its threads end when it is dropped and all its work is done; dropping it does
/// not wait for them.
pub struct ThreadPool {
    pub(crate) registry: Arc<Registry>,
    /// Ended without waiting when it is dropped. `None` only during the drop.
    runtime: Option<Runtime>,
}

impl ThreadPool {
    pub(crate) fn new_of(registry: Arc<Registry>, runtime: Runtime) -> Self {
        Self {
            registry,
            runtime: Some(runtime),
        }
    }

    /// Calls `op` on a thread of this pool and returns its result. A thread of another pool runs
    /// other work of that pool meanwhile.
    ///
    /// # Panics
    /// With the panic of `op`.
    pub fn install<OP, R>(&self, op: OP) -> R
    where
        OP: FnOnce() -> R + Send,
        R: Send,
    {
        self.registry.tasks().install(|_| op())
    }

    /// Calls `op` on every thread of this pool, as [`broadcast`](crate::broadcast()) does.
    pub fn broadcast<OP, R>(&self, op: OP) -> Vec<R>
    where
        OP: Fn(BroadcastContext<'_>) -> R + Sync,
        R: Send,
    {
        broadcast_in(&self.registry, op)
    }

    /// Returns the number of threads of this pool.
    #[inline]
    pub fn current_num_threads(&self) -> usize {
        self.registry.worker_count()
    }

    /// Returns the index of the current thread in this pool; `None` on other threads.
    #[inline]
    pub fn current_thread_index(&self) -> Option<usize> {
        self.registry.tasks().own_index()
    }

    /// Returns true if the current thread has tasks that no thread has begun; `None` if it is not
    /// of this pool.
    #[inline]
    pub fn current_thread_has_pending_tasks(&self) -> Option<bool> {
        self.current_thread_index()?;
        open::has_own_tasks()
    }

    /// Runs two closures as [`join`](crate::join()) does, in this pool.
    pub fn join<A, B, RA, RB>(&self, a: A, b: B) -> (RA, RB)
    where
        A: FnOnce() -> RA + Send,
        B: FnOnce() -> RB + Send,
        RA: Send,
        RB: Send,
    {
        self.install(|| join(a, b))
    }

    /// Calls `op` with a scope as [`scope`](crate::scope()) does, in this pool.
    pub fn scope<'scope, OP, R>(&self, op: OP) -> R
    where
        OP: FnOnce(&Scope<'scope>) -> R + Send,
        R: Send,
    {
        self.install(|| scope(op))
    }

    /// Calls `op` with a scope as [`scope_fifo`](crate::scope_fifo()) does, in this pool.
    pub fn scope_fifo<'scope, OP, R>(&self, op: OP) -> R
    where
        OP: FnOnce(&ScopeFifo<'scope>) -> R + Send,
        R: Send,
    {
        self.install(|| scope_fifo(op))
    }

    /// Calls `op` with a scope as [`in_place_scope`](crate::in_place_scope()) does. The tasks run
    /// in this pool.
    pub fn in_place_scope<'scope, OP, R>(&self, op: OP) -> R
    where
        OP: FnOnce(&Scope<'scope>) -> R,
    {
        in_place_scope_of(&self.registry, op)
    }

    /// Calls `op` with a scope as [`in_place_scope_fifo`](crate::in_place_scope_fifo()) does. The
    /// tasks run in this pool.
    pub fn in_place_scope_fifo<'scope, OP, R>(&self, op: OP) -> R
    where
        OP: FnOnce(&ScopeFifo<'scope>) -> R,
    {
        in_place_scope_fifo_of(&self.registry, op)
    }

    /// Puts a call into this pool, as [`spawn`](crate::spawn()) does.
    pub fn spawn<OP>(&self, op: OP)
    where
        OP: FnOnce() + Send + 'static,
    {
        self.registry.spawn(op);
    }

    /// Puts a call into this pool, as [`spawn_fifo`](crate::spawn_fifo()) does.
    pub fn spawn_fifo<OP>(&self, op: OP)
    where
        OP: FnOnce() + Send + 'static,
    {
        self.registry.spawn_fifo(op);
    }

    /// Calls `op` on every thread of this pool, without waiting.
    pub fn spawn_broadcast<OP>(&self, op: OP)
    where
        OP: Fn(BroadcastContext<'_>) + Send + Sync + 'static,
    {
        spawn_broadcast_in(&self.registry, op);
    }

    /// Runs one other task of this pool, as [`yield_now`](crate::yield_now()) does; `None` if the
    /// current thread is not of this pool.
    pub fn yield_now(&self) -> Option<Yield> {
        self.current_thread_index()?;
        yield_now()
    }

    /// Runs one task of the current thread, as [`yield_local`](crate::yield_local()) does; `None`
    /// if the current thread is not of this pool.
    pub fn yield_local(&self) -> Option<Yield> {
        self.current_thread_index()?;
        yield_local()
    }
}

impl Drop for ThreadPool {
    fn drop(&mut self) {
        if let Some(runtime) = self.runtime.take() {
            runtime.shutdown_background();
        }
    }
}

impl fmt::Debug for ThreadPool {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter
            .debug_struct("ThreadPool")
            .field("num_threads", &self.current_num_threads())
            .finish_non_exhaustive()
    }
}
