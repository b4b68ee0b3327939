//! Scopes: tasks that may borrow from the stack of the caller. All of them have ended when the
//! scope ends.
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

use crate::panics::discard;
use crate::runtime::{Runtime, default_runtime};
use crate::task::{ForWhom, Task, TaskCell};
use crate::worker::{Helping, Lends, Shared, Worker, current_worker, with_worker};

/// A scope in which tasks can be spawned that borrow from outside the scope. Made by [`scope`].
#[derive(Debug)]
pub struct Scope<'scope, 'env: 'scope> {
    frame: &'static TaskCell,
    shared: Arc<Shared>,
    owner: usize,
    /// The number of tasks that have not ended, plus one for the scope's own closure.
    pending: AtomicUsize,
    panic: Mutex<Option<Box<dyn Any + Send>>>,
    scope: PhantomData<&'scope mut &'scope ()>,
    env: PhantomData<&'env mut &'env ()>,
}

/// Calls `body` with a scope, waits for all tasks spawned there, and returns what `body` returned.
///
/// On a thread that is no worker, the call moves to the default runtime. While it waits, the worker
/// runs only tasks of this scope and tasks below them.
///
/// # Panics
/// With the panic of `body`, otherwise with the first panic of a task; in both cases after all
/// tasks have ended.
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
        None => default_runtime().scope(body),
    }
}

impl Runtime {
    /// Calls `body` with a scope as [`crate::scope()`] does, on this runtime.
    pub fn scope<'env, F, R>(&self, body: F) -> R
    where
        F: for<'scope> FnOnce(&'scope Scope<'scope, 'env>) -> R + Send,
        R: Send,
    {
        self.install(|| {
            let worker = current_worker().expect("`install` calls on a worker");
            scope_in(worker, body)
        })
    }
}

/// Calls `body` with a scope as [`scope`] does, on `worker`, which is the current thread.
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
        is_open: false,
        lends: Lends::Late,
        gives_up: None,
    };
    // ORDERING(S1): Acquire; code after the scope sees what the tasks wrote.
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
            // Dropped before unwinding: its destructor may panic, and a second panic would end the
            // process.
            discard(other);
            resume_unwind(panic)
        }
        (Ok(result), Some(panic)) => {
            discard(result);
            resume_unwind(panic)
        }
    }
}

impl<'scope, 'env> Scope<'scope, 'env> {
    /// Puts a task into the pool. Some worker runs it before the scope ends.
    ///
    /// May also be called from tasks of the scope, and from any thread that can reach the scope.
    /// Cost: a task cell, the pool's put, and a fence; a closure of more than 80 bytes also costs
    /// an allocation.
    pub fn spawn<F>(&'scope self, task: F)
    where
        F: FnOnce() + Send + 'scope,
    {
        // Relaxed: the caller keeps the scope open, and no thread needs the count before it gets
        // the task.
        self.pending.fetch_add(1, Relaxed);
        let closure = move || {
            if let Err(panic) = catch_unwind(AssertUnwindSafe(task)) {
                self.keep_first(panic);
            }
            self.finish_one();
        };
        let name = std::any::type_name::<F>();
        let put = |cell: &'static TaskCell| {
            cell.record_put(name);
            let closures = self.shared.memory().closures();
            // SAFETY: `scope_in` does not return before `pending` is zero, and `'scope` lasts until
            // it returns.
            unsafe { cell.make_closure(ForWhom::AnyWorker, Some(self.frame), closures, closure) };
            Task::new(cell)
        };
        with_worker(|worker| match worker {
            Some(worker) if Arc::ptr_eq(worker.shared(), &self.shared) => {
                worker.put(put(worker.take_cell()));
            }
            _ => {
                self.shared.expect_here();
                self.shared
                    .put_outside(put(self.shared.memory().take_outside()));
            }
        });
    }

    fn keep_first(&self, panic: Box<dyn Any + Send>) {
        let mut first = self.panic.lock().expect("nothing panics under this lock");
        if first.is_none() {
            *first = Some(panic);
        } else {
            drop(first);
            discard(panic);
        }
    }

    /// Counts the end of a task or of the scope's own closure. The scope may be gone when this
    /// returns.
    fn finish_one(&self) {
        let owner = self.owner;
        // ORDERING(S1): Release, what the task wrote. The changes of the count are one release
        // sequence, so a thread that sees the last one sees what all tasks wrote.
        if self.pending.fetch_sub(1, Release) == 1 {
            // Tasks of a scope run on workers of its runtime. In a child process of fork(2) there
            // is no worker, and none waits.
            if let Some(worker) = current_worker() {
                worker.shared().notify(owner);
            }
        }
    }
}
