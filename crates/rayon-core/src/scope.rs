//! Scopes: tasks that may borrow from the stack of the caller, all of which end before the scope.
//!
//! # Memory ordering
//! | label | release side                  | acquire side                | what it publishes    |
//! |-------|-------------------------------|-----------------------------|----------------------|
//! | S1    | every `end_one` counts down   | `run` loads zero            | what the tasks wrote |
//!
//! # Invariants
//! 1. A scope stays where it is until its count is zero, so tasks reach it through a pointer.
//! 2. `end_one` takes what it needs to notify the waiter out of the scope before it counts down,
//!    because the scope may be gone afterwards.

use std::fmt;
use std::marker::PhantomData;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::sync::{Arc, Mutex, PoisonError};

use raddle_runtime::{Waiter, open};
use raddle_sync::prim::{AcqRel, Acquire, AtomicUsize, Relaxed, Release};

use crate::broadcast::BroadcastContext;
use crate::fifo::Fifo;
use crate::panics::{Payload, discard};
use crate::registry::{self, Registry};

/// A scope in which tasks can be spawned that borrow from outside the scope. Made by [`scope()`].
///
/// Of the tasks that one thread spawns, that thread runs the newest first.
pub struct Scope<'scope> {
    base: Base<'scope, Self>,
}

/// A scope as [`Scope`]. Of the tasks that one thread spawns, the oldest runs first.
pub struct ScopeFifo<'scope> {
    base: Base<'scope, Self>,
}

/// The part that both kinds of scopes have in common. `S` is the kind.
struct Base<'scope, S> {
    registry: Arc<Registry>,
    waiter: Waiter,
    /// The index of the waiting thread, if it belongs to the pool of the tasks.
    owner: Option<usize>,
    /// The tasks by the index of the thread that spawned them, if the oldest task of a thread runs
    /// first. Otherwise there are no queues.
    fifos: Box<[Fifo]>,
    /// The number of tasks that have not ended, plus one for the scope's own call.
    pending: AtomicUsize,
    panic: Mutex<Option<Payload>>,
    /// Invariant in `'scope`.
    bodies: PhantomData<Box<dyn FnOnce(&'scope S) -> &'scope mut &'scope () + Send + Sync>>,
}

/// Calls `op` with a scope on a thread of the current pool, or else of the global one. Waits for
/// all tasks of the scope, and returns the result of `op`.
///
/// # Panics
/// With the first panic of `op` or of a task, after all tasks have ended.
///
/// # Examples
/// ```
/// let mut halves = [0, 0];
/// let [left, right] = &mut halves;
/// rayon_core::scope(|scope| {
///     scope.spawn(|_| *left = (1..=50).sum());
///     scope.spawn(|_| *right = (51..=100).sum());
/// });
/// assert_eq!(halves.iter().sum::<i32>(), 5050);
/// ```
pub fn scope<'scope, OP, R>(op: OP) -> R
where
    OP: FnOnce(&Scope<'scope>) -> R + Send,
    R: Send,
{
    in_pool(|registry| in_place_scope_of(registry, op))
}

/// Calls `op` as [`scope()`] does, with a [`ScopeFifo`].
pub fn scope_fifo<'scope, OP, R>(op: OP) -> R
where
    OP: FnOnce(&ScopeFifo<'scope>) -> R + Send,
    R: Send,
{
    in_pool(|registry| in_place_scope_fifo_of(registry, op))
}

/// Calls `op` as [`scope()`] does, but on the current thread. Only the tasks run in the pool.
pub fn in_place_scope<'scope, OP, R>(op: OP) -> R
where
    OP: FnOnce(&Scope<'scope>) -> R,
{
    in_place_scope_of(&registry::current_or_global(), op)
}

/// Calls `op` as [`in_place_scope`] does, with a [`ScopeFifo`].
pub fn in_place_scope_fifo<'scope, OP, R>(op: OP) -> R
where
    OP: FnOnce(&ScopeFifo<'scope>) -> R,
{
    in_place_scope_fifo_of(&registry::current_or_global(), op)
}

/// Calls `call` on a thread of the current pool, or else of the global one.
fn in_pool<R: Send>(call: impl FnOnce(&Arc<Registry>) -> R + Send) -> R {
    let registry = registry::current_or_global();
    registry.tasks().install(|_| call(&registry))
}

pub(crate) fn in_place_scope_of<'scope, OP, R>(registry: &Arc<Registry>, op: OP) -> R
where
    OP: FnOnce(&Scope<'scope>) -> R,
{
    let scope = Scope {
        base: Base::new(registry, registry.is_breadth_first()),
    };
    scope.base.run(|| op(&scope))
}

pub(crate) fn in_place_scope_fifo_of<'scope, OP, R>(registry: &Arc<Registry>, op: OP) -> R
where
    OP: FnOnce(&ScopeFifo<'scope>) -> R,
{
    let scope = ScopeFifo {
        base: Base::new(registry, true),
    };
    scope.base.run(|| op(&scope))
}

impl<'scope> Scope<'scope> {
    /// Puts a task into the pool. It ends before the scope.
    pub fn spawn<BODY>(&self, body: BODY)
    where
        BODY: FnOnce(&Self) + Send + 'scope,
    {
        self.base.put(self.base.task(self, body));
    }

    /// Puts a task for each thread of the pool.
    pub fn spawn_broadcast<BODY>(&self, body: BODY)
    where
        BODY: Fn(&Self, BroadcastContext<'_>) + Send + Sync + 'scope,
    {
        self.base.spawn_broadcast(self, body);
    }
}

impl<'scope> ScopeFifo<'scope> {
    /// Puts a task into the pool. It ends before the scope.
    pub fn spawn_fifo<BODY>(&self, body: BODY)
    where
        BODY: FnOnce(&Self) + Send + 'scope,
    {
        self.base.put(self.base.task(self, body));
    }

    /// Puts a task for each thread of the pool.
    pub fn spawn_broadcast<BODY>(&self, body: BODY)
    where
        BODY: Fn(&Self, BroadcastContext<'_>) + Send + Sync + 'scope,
    {
        self.base.spawn_broadcast(self, body);
    }
}

impl<'scope, S: Sync> Base<'scope, S> {
    fn new(registry: &Arc<Registry>, is_fifo: bool) -> Self {
        Self {
            registry: Arc::clone(registry),
            waiter: Waiter::current(),
            owner: registry.tasks().own_index(),
            fifos: match is_fifo {
                true => Fifo::many(registry.worker_count()),
                false => Fifo::many(0),
            },
            pending: AtomicUsize::new(1),
            panic: Mutex::new(None),
            bodies: PhantomData,
        }
    }

    /// Runs the scope's own call, waits for all tasks, and returns the result of the call.
    fn run<R>(&self, call: impl FnOnce() -> R) -> R {
        let result = self.catch(call);
        self.end_one();
        // ORDERING(S1): Acquire; code after the scope sees what the tasks wrote.
        let done = || self.pending.load(Acquire) == 0;
        self.registry.tasks().wait_until(&self.waiter, done);
        let panic = self.panic().take();
        match (result, panic) {
            (Some(result), None) => result,
            (result, panic) => {
                discard(result);
                resume_unwind(panic.expect("a call without a result has panicked"))
            }
        }
    }

    /// Counts a task and returns the call that runs it.
    fn task<'a>(
        &'a self,
        scope: &'a S,
        body: impl FnOnce(&S) + Send + 'scope,
    ) -> impl FnOnce() + Send {
        // Relaxed: the caller keeps the scope open.
        self.pending.fetch_add(1, Relaxed);
        move || {
            self.catch(|| body(scope));
            self.end_one();
        }
    }

    /// Puts a task of this scope into the pool.
    fn put(&self, task: impl FnOnce() + Send) {
        let tasks = self.registry.tasks();
        let fifo = match self.fifos.is_empty() {
            true => None,
            false => tasks.own_index().map(|index| &self.fifos[index]),
        };
        let Some(fifo) = fifo else {
            // The newest task of a thread runs first, or the tasks from other threads are in a
            // queue already.
            // SAFETY: the scope waits for it.
            return unsafe { tasks.put(task) };
        };
        let task: Box<dyn FnOnce() + Send + '_> = Box::new(task);
        // SAFETY: only the lifetime changes, and the scope waits for the task.
        let task = unsafe {
            std::mem::transmute::<Box<dyn FnOnce() + Send + '_>, Box<dyn FnOnce() + Send>>(task)
        };
        fifo.put(task);
        // SAFETY: the scope waits for as many tasks as it has put.
        unsafe { tasks.put(|| fifo.run_oldest()) };
    }

    fn spawn_broadcast(
        &self,
        scope: &S,
        body: impl Fn(&S, BroadcastContext<'_>) + Send + Sync + 'scope,
    ) {
        let body = Arc::new(body);
        let worker_count = self.registry.worker_count();
        for index in 0..worker_count {
            let body = Arc::clone(&body);
            let task = self.task(scope, move |scope| {
                body(scope, BroadcastContext::new(index, worker_count));
            });
            // SAFETY: the scope waits for it.
            unsafe { self.registry.tasks().put_for(index, task) };
        }
    }

    /// Calls `call`. Keeps its panic if it is the first one of the scope.
    fn catch<R>(&self, call: impl FnOnce() -> R) -> Option<R> {
        catch_unwind(AssertUnwindSafe(call))
            .map_err(|payload| {
                let mut first = self.panic();
                if first.is_none() {
                    *first = Some(payload);
                } else {
                    drop(first);
                    discard(payload);
                }
            })
            .ok()
    }

    fn panic(&self) -> std::sync::MutexGuard<'_, Option<Payload>> {
        // Nothing panics under this lock.
        self.panic.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Counts the end of a task or of the scope's own call. The scope may be gone when this
    /// returns.
    fn end_one(&self) {
        if let Some(owner) = self.owner {
            // ORDERING(S1): Release, what the task wrote. All changes of the count are one release
            // sequence, so a thread that sees the last one sees what all tasks wrote.
            if self.pending.fetch_sub(1, Release) == 1 {
                open::notify(owner);
            }
            return;
        }
        // Relaxed: the exchange below decides.
        let mut pending = self.pending.load(Relaxed);
        loop {
            let waiter = (pending == 1).then(|| self.waiter.clone());
            // ORDERING(S1): Release, what the task wrote. Acquire too, so that the last one has
            // seen the end of all others.
            let counted = self
                .pending
                .compare_exchange_weak(pending, pending - 1, AcqRel, Relaxed);
            match counted {
                Ok(_) => return waiter.iter().for_each(Waiter::notify),
                Err(now) => pending = now,
            }
        }
    }
}

impl fmt::Debug for Scope<'_> {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.base.fmt("Scope", formatter)
    }
}

impl fmt::Debug for ScopeFifo<'_> {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.base.fmt("ScopeFifo", formatter)
    }
}

impl<S> Base<'_, S> {
    fn fmt(&self, name: &str, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter
            .debug_struct(name)
            .field("registry", &self.registry)
            .field("pending", &self.pending.load(Relaxed))
            .finish_non_exhaustive()
    }
}
