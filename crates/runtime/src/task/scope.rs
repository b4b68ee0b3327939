//! Scopes: tasks that may borrow, and that have all ended when the scope ends.
//!
//! # Memory ordering
//! | label | release side                       | acquire side             | what it publishes    |
//! |-------|------------------------------------|--------------------------|----------------------|
//! | S1    | every `finish_one` counts down     | `scope_in` loads zero    | what the tasks wrote |

use std::any::Any;
use std::marker::PhantomData;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::sync::Arc;

use raddle_sync::prim::{Acquire, AtomicUsize, Mutex, Relaxed, Release};

use super::{Task, TaskCell};
use crate::fork::{current_worker, with_worker};
use crate::worker::{Helping, Lends, Shared, Worker};

/// A place to spawn tasks from that may borrow what outlives the scope. Made by [`scope`].
#[derive(Debug)]
pub struct Scope<'scope, 'env: 'scope> {
    frame: &'static TaskCell,
    shared: Arc<Shared>,
    owner: usize,
    /// Tasks that have not ended, plus one for the scope's own closure.
    pending: AtomicUsize,
    panic: Mutex<Option<Box<dyn Any + Send>>>,
    scope: PhantomData<&'scope mut &'scope ()>,
    env: PhantomData<&'env mut &'env ()>,
}

/// Calls `body` with a scope, waits for all tasks spawned there, and returns what `body` returned.
///
/// On a thread that is no worker the whole moves to the default runtime. While it waits, the worker runs only tasks
/// of this scope and what is below them.
///
/// # Panics
/// With the panic of `body`, else with the first panic of a task; in both cases after all tasks have ended.
///
/// # Examples
/// ```
/// let mut halves = [0, 0];
/// let [left, right] = &mut halves;
/// raddle_runtime::scope(|scope| {
///     scope.spawn(|| *left = (1..=50).sum());
///     scope.spawn(|| *right = (51..=100).sum());
/// });
/// assert_eq!(halves.iter().sum::<i32>(), 5050);
/// ```
pub fn scope<'env, F, R>(body: F) -> R
where
    F: for<'scope> FnOnce(&'scope Scope<'scope, 'env>) -> R + Send,
    R: Send,
{
    match current_worker() {
        Some(worker) => scope_in(worker, body),
        None => crate::global::default_runtime().scope(body),
    }
}

/// As [`scope`], on a given worker: the one that this thread is.
pub(crate) fn scope_in<'env, F, R>(worker: &Worker, body: F) -> R
where
    F: for<'scope> FnOnce(&'scope Scope<'scope, 'env>) -> R,
{
    let mark = worker.mark();
    let frame = worker.take_cell();
    frame.make_frame(worker.frame());
    let scope = Scope {
        frame,
        shared: Arc::clone(worker.shared()),
        owner: worker.index(),
        pending: AtomicUsize::new(1),
        panic: Mutex::new(None),
        scope: PhantomData,
        env: PhantomData,
    };
    let result = catch_unwind(AssertUnwindSafe(|| body(&scope)));
    scope.finish_one();
    let helping = Helping {
        frame,
        mark,
        lends: Lends::Late,
        gives_up: None,
    };
    // ORDERING(S1): Acquire, what the tasks wrote is seen by what follows the scope.
    worker.wait_until(helping, || None, || scope.pending.load(Acquire) == 0);
    worker.give_back(frame);
    let panic = scope
        .panic
        .lock()
        .expect("nothing panics under this lock")
        .take();
    match (result, panic) {
        (Ok(result), None) => result,
        (Err(panic), other) => {
            // Not while unwinding: its own destructor may panic, and a second panic would end the process.
            super::discard(other);
            resume_unwind(panic)
        }
        (Ok(result), Some(panic)) => {
            super::discard(result);
            resume_unwind(panic)
        }
    }
}

impl<'scope, 'env> Scope<'scope, 'env> {
    /// Puts a task into the pool, to be run by some worker before the scope ends.
    ///
    /// May be called from tasks of the scope too, and from any thread that can reach the scope. Cost: a task cell, the
    /// pool's put, and a fence; closures over 80 bytes also cost an allocation.
    pub fn spawn<F>(&'scope self, task: F)
    where
        F: FnOnce() + Send + 'scope,
    {
        // Relaxed: the caller holds the scope open; the count reaches nobody before the task does.
        self.pending.fetch_add(1, Relaxed);
        let closure = move || {
            if let Err(panic) = catch_unwind(AssertUnwindSafe(task)) {
                self.keep_first(panic);
            }
            self.finish_one();
        };
        let put = |cell: &'static TaskCell| {
            // SAFETY: `scope_in` does not return before `pending` is zero, and `'scope` lasts until it returns.
            unsafe { cell.make_closure(Some(self.frame), self.shared.memory.closures(), closure) };
            Task::new(cell)
        };
        with_worker(|worker| match worker {
            Some(worker) if Arc::ptr_eq(worker.shared(), &self.shared) => {
                worker.put(put(worker.take_cell()));
            }
            _ => {
                self.shared.origin.expect_here();
                self.shared
                    .put_outside(put(self.shared.memory.take_outside()));
            }
        });
    }

    fn keep_first(&self, panic: Box<dyn Any + Send>) {
        let mut first = self.panic.lock().expect("nothing panics under this lock");
        if first.is_none() {
            *first = Some(panic);
        } else {
            drop(first);
            super::discard(panic);
        }
    }

    /// One task, or the scope's own closure, has ended. The scope may be gone when this returns.
    fn finish_one(&self) {
        let owner = self.owner;
        // ORDERING(S1): Release, what the task wrote; the changes of the count are one release sequence, so that who sees
        // the last one sees what all wrote.
        if self.pending.fetch_sub(1, Release) == 1 {
            // Tasks of a scope run on workers of its runtime; in a process that a worker has forked there is none, and none waits.
            if let Some(worker) = current_worker() {
                let _ = worker.shared().idle.cell(owner).notify();
            }
        }
    }
}
