//! Calls that run on every thread of a pool.

use std::fmt;
use std::marker::PhantomData;
use std::sync::{Arc, Mutex};

use crate::registry::{self, Registry};
use crate::scope::in_place_scope_of;

/// The thread on which a broadcast runs.
pub struct BroadcastContext<'a> {
    index: usize,
    worker_count: usize,
    /// Neither `Send` nor `Sync`.
    thread: PhantomData<&'a mut *mut ()>,
}

impl BroadcastContext<'_> {
    pub(crate) fn new(index: usize, worker_count: usize) -> Self {
        Self {
            index,
            worker_count,
            thread: PhantomData,
        }
    }

    /// Returns the index of the thread in its pool.
    #[inline]
    pub fn index(&self) -> usize {
        self.index
    }

    /// Returns the number of threads of the pool.
    #[inline]
    pub fn num_threads(&self) -> usize {
        self.worker_count
    }
}

impl fmt::Debug for BroadcastContext<'_> {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter
            .debug_struct("BroadcastContext")
            .field("index", &self.index)
            .field("num_threads", &self.worker_count)
            .finish_non_exhaustive()
    }
}

/// Calls `op` on every thread of the current thread's pool, or else of the global one, and returns
/// all results by the index of the thread.
///
/// A thread runs it when it has no other tasks of its own, before it takes one from another thread.
///
/// # Panics
/// With the first panic of a call, after all of them have ended.
pub fn broadcast<OP, R>(op: OP) -> Vec<R>
where
    OP: Fn(BroadcastContext<'_>) -> R + Sync,
    R: Send,
{
    broadcast_in(&registry::current_or_global(), op)
}

/// Calls `op` as [`broadcast`] does, without waiting.
pub fn spawn_broadcast<OP>(op: OP)
where
    OP: Fn(BroadcastContext<'_>) + Send + Sync + 'static,
{
    spawn_broadcast_in(&registry::current_or_global(), op);
}

pub(crate) fn broadcast_in<OP, R>(registry: &Arc<Registry>, op: OP) -> Vec<R>
where
    OP: Fn(BroadcastContext<'_>) -> R + Sync,
    R: Send,
{
    let results: Vec<Mutex<Option<R>>> = (0..registry.worker_count())
        .map(|_| Mutex::new(None))
        .collect();
    in_place_scope_of(registry, |scope| {
        scope.spawn_broadcast(|_, context| {
            let index = context.index();
            let result = op(context);
            *results[index].lock().expect("each thread locks its own") = Some(result);
        });
    });
    let results = results.into_iter().map(|result| {
        let result = result.into_inner().expect("each thread locks its own");
        result.expect("the scope has ended")
    });
    results.collect()
}

pub(crate) fn spawn_broadcast_in<OP>(registry: &Arc<Registry>, op: OP)
where
    OP: Fn(BroadcastContext<'_>) + Send + Sync + 'static,
{
    let worker_count = registry.worker_count();
    registry.spawn_broadcast(move |index| op(BroadcastContext::new(index, worker_count)));
}
