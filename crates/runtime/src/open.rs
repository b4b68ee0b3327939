//! Open tasks: work that every worker of a runtime may run, even while it waits for something else.
//!
//! The crate `rayon-core` of this project is built on them, because programs for rayon rely on its
//! rule: a thread that waits for a part of its work runs any other work meanwhile. All other tasks
//! of the runtime are *closed*: a waiting worker runs only work from below its own wait. Both kinds
//! are in the same pools.
//!
//! | task   | free worker | open wait           | other wait           | compensating thread |
//! |--------|-------------|---------------------|----------------------|---------------------|
//! | open   | yes         | yes                 | from below it; all   | no                  |
//! |        |             |                     | if its place is lent |                     |
//! | closed | yes         | from below the wait | from below it        | yes                 |
//!
//! A compensating thread runs no open task, so the index of the worker that runs one is always
//! below the number of workers, and no two open tasks run at once with the same index.
//!
//! Open waits are those of an open join, of [`OpenTasks::install`] and of
//! [`OpenTasks::wait_until`]. A worker in such a wait also runs the tasks that are given to it
//! ([`OpenTasks::put_for`]). It does not lend its place.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;

use crate::enter::ResultSlot;
pub use crate::fork::Ran;
use crate::fork::{call_both, join_by};
use crate::runtime::{Runtime, WorkerThread};
use crate::task::{ForWhom, Task, TaskCell};
use crate::worker::{Shared, Waiter, Worker, current_forks, current_worker};

/// Returns true if the current thread may run open tasks: it is a worker, and not a compensating
/// thread. Cost: two loads.
#[inline]
pub fn is_worker() -> bool {
    current_forks().is_open()
}

/// Returns the index of the current thread if it may run open tasks.
#[inline]
pub fn worker_index() -> Option<usize> {
    open_worker().map(Worker::index)
}

/// Returns the number of workers of the current thread's runtime if the current thread may run open
/// tasks.
#[inline]
pub fn worker_count() -> Option<usize> {
    open_worker().map(|worker| worker.shared().worker_count())
}

/// Returns true if the current worker has tasks that no other worker has taken yet; `None` if it
/// may not run open tasks.
pub fn has_own_tasks() -> Option<bool> {
    open_worker().map(Worker::has_own_tasks)
}

/// Runs both closures as [`crate::join`] does, but `b` is an open task, and the wait for it is
/// open. `b` gets the place where it runs. On a thread that may not run open tasks, calls `a` and
/// then `b`.
///
/// # Panics
/// As [`crate::join`].
#[inline]
pub fn join<A, B, RA, RB>(a: A, b: B) -> (RA, RB)
where
    A: FnOnce() -> RA + Send,
    B: FnOnce(Ran) -> RB + Send,
    RA: Send,
    RB: Send,
{
    join_by::<true, _, _, _, _>(a, b, is_worker(), call_both)
}

/// The place from which [`run_one`] takes a task.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum From {
    /// The tasks of the current worker.
    Own,
    /// All tasks that the current worker may run.
    Anywhere,
}

/// Runs one open task on the current worker, if there is one. Returns true if it ran one; `None` if
/// the current thread may not run open tasks.
pub fn run_one(from: From) -> Option<bool> {
    let worker = open_worker()?;
    let task = worker.take_open(from == From::Own);
    let has_task = task.is_some();
    task.into_iter().for_each(|task| worker.run(task));
    Some(has_task)
}

#[inline]
fn open_worker<'a>() -> Option<&'a Worker> {
    current_worker().filter(|_| is_worker())
}

/// Puts open tasks into one runtime, and waits for them.
///
/// For libraries that build a programming model on the runtime.
///
/// # Examples
/// ```
/// use std::sync::mpsc;
/// let runtime = raddle_runtime::Runtime::builder().workers(2).build()?;
/// let (sender, receiver) = mpsc::channel();
/// runtime.open_tasks().spawn(move || sender.send(6 * 7).expect("the receiver is alive"));
/// assert_eq!(receiver.recv()?, 42);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug)]
pub struct OpenTasks {
    shared: Arc<Shared>,
}

impl Runtime {
    /// Returns the way to put open tasks into this runtime.
    pub fn open_tasks(&self) -> OpenTasks {
        OpenTasks {
            shared: Arc::clone(self.shared()),
        }
    }
}

impl WorkerThread {
    /// Returns the way to put open tasks into the runtime of this worker.
    pub fn open_tasks(&self) -> OpenTasks {
        OpenTasks {
            shared: Arc::clone(self.shared()),
        }
    }
}

impl OpenTasks {
    /// Returns the runtime of the current thread, if it may run open tasks.
    pub fn current() -> Option<Self> {
        open_worker().map(|worker| Self {
            shared: Arc::clone(worker.shared()),
        })
    }

    /// Returns the number of workers.
    pub fn worker_count(&self) -> usize {
        self.shared.worker_count()
    }

    /// Returns the index of the current thread if it may run open tasks of this runtime.
    #[inline]
    pub fn own_index(&self) -> Option<usize> {
        self.own_worker().map(Worker::index)
    }

    #[inline]
    fn own_worker(&self) -> Option<&Worker> {
        open_worker().filter(|worker| Arc::ptr_eq(worker.shared(), &self.shared))
    }

    /// Returns true if both are of the same runtime.
    pub fn is_same(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.shared, &other.shared)
    }

    /// Returns false in a child process of the one in which the runtime was started.
    pub fn is_here(&self) -> bool {
        !self.shared.is_other_process()
    }

    /// Returns true when all threads of the runtime have ended.
    pub fn have_threads_ended(&self) -> bool {
        self.shared.have_threads_ended()
    }

    /// Puts an open task into the pool: the newest one of the current worker, or the last one from
    /// outside. The runtime does not end before the task.
    ///
    /// # Panics
    /// In a process that fork(2) made after the runtime was started. A panic of the task is
    /// discarded.
    pub fn spawn(&self, call: impl FnOnce() + Send + 'static) {
        let call = self.counted(call);
        // SAFETY: the call borrows nothing that ends.
        unsafe { self.put(call) };
    }

    /// Gives an open task to worker `to`, as [`spawn`](Self::spawn) does. The worker runs it when
    /// it has no tasks of its own, before it takes one from another worker.
    ///
    /// # Panics
    /// If there is no such worker, and as `spawn`.
    pub fn spawn_for(&self, to: usize, call: impl FnOnce() + Send + 'static) {
        let call = self.counted(call);
        // SAFETY: the call borrows nothing that ends.
        unsafe { self.put_for(to, call) };
    }

    /// Counts `call` as work that the runtime waits for at its end.
    fn counted(&self, call: impl FnOnce() + Send + 'static) -> impl FnOnce() + Send + 'static {
        self.shared.expect_here();
        self.shared.begin_root();
        let end = EndRoot(Arc::clone(&self.shared));
        move || {
            // Dropped last, also after a panic.
            let _end = end;
            call();
        }
    }

    /// Puts an open task into the pool as [`spawn`](Self::spawn) does, but the runtime may end
    /// before the task has begun, and drops it then.
    ///
    /// # Safety
    /// The call is run, or the process ends, before anything that the call borrows ends.
    pub unsafe fn put<'a>(&self, call: impl FnOnce() + Send + 'a) {
        match self.own_worker() {
            Some(worker) => {
                let (cell, frame) = (worker.take_cell(), worker.frame());
                // SAFETY: the caller's promise.
                worker.put(unsafe { self.make(cell, frame, call) });
            }
            // SAFETY: the caller's promise.
            None => self.shared.put_outside(unsafe { self.make_outside(call) }),
        }
    }

    /// Makes an open task on a thread that is no worker which runs open tasks.
    ///
    /// # Safety
    /// As for [`put`](Self::put).
    unsafe fn make_outside<'a>(&self, call: impl FnOnce() + Send + 'a) -> Task {
        self.shared.expect_here();
        self.shared.crowd().note_caller();
        let cell = self.shared.memory().take_outside();
        // A compensating thread of this runtime puts it below its own task.
        let frame = self.shared.own_worker().and_then(Worker::frame);
        // SAFETY: the caller's promise.
        unsafe { self.make(cell, frame, call) }
    }

    /// Gives an open task to worker `to` as [`spawn_for`](Self::spawn_for) does, but the runtime
    /// may end before the task has begun, and drops it then.
    ///
    /// # Safety
    /// As for [`put`](Self::put).
    ///
    /// # Panics
    /// If there is no such worker.
    pub unsafe fn put_for<'a>(&self, to: usize, call: impl FnOnce() + Send + 'a) {
        self.shared.expect_here();
        let cell = self.shared.memory().take_outside();
        let worker = self.own_worker();
        if worker.is_none() {
            self.shared.crowd().note_caller();
        }
        let frame = worker.and_then(Worker::frame);
        // SAFETY: the caller's promise.
        let task = unsafe { self.make(cell, frame, call) };
        self.shared.assign(to, task);
    }

    /// Makes an open task.
    ///
    /// # Safety
    /// As for [`put`](Self::put).
    unsafe fn make<'a, F: FnOnce() + Send + 'a>(
        &self,
        cell: &'static TaskCell,
        frame: Option<&'static TaskCell>,
        call: F,
    ) -> Task {
        cell.record_put(std::any::type_name::<F>());
        // SAFETY: the caller's promise.
        unsafe {
            cell.make_closure(
                ForWhom::AnyWorker,
                frame,
                self.shared.memory().closures(),
                call,
            )
        };
        cell.set_open();
        Task::new(cell)
    }

    /// Calls `call` on a worker of this runtime and returns its result; on such a worker, at once.
    /// `call` gets the place where it runs. A worker of another runtime runs open tasks of its own
    /// runtime meanwhile.
    ///
    /// # Panics
    /// With the panic of `call`; in a process that fork(2) made after the runtime was started.
    pub fn install<R: Send>(&self, call: impl FnOnce(Ran) -> R + Send) -> R {
        if self.own_worker().is_some() {
            return call(Ran::Here);
        }
        let waiter = Waiter::current();
        let slot = ResultSlot::new();
        let begun = waiter.begin_call(&self.shared);
        let closure = || {
            let result = catch_unwind(AssertUnwindSafe(|| call(Ran::Elsewhere)));
            drop(begun);
            slot.finish(result, &waiter);
        };
        // SAFETY: the wait below ends when the closure has finished the slot.
        self.shared.put_call(unsafe { self.make_outside(closure) });
        waiter.wait_for_open_call(&self.shared, &|| slot.is_done());
        slot.into_result()
    }

    /// Waits on the current thread until `done` returns true, which tasks of this runtime bring
    /// about. A worker runs open tasks meanwhile.
    ///
    /// The thread that makes `done` true then notifies `waiter`, which is [`Waiter::current`].
    pub fn wait_until(&self, waiter: &Waiter, done: impl Fn() -> bool) {
        waiter.wait_for_open_call(&self.shared, &done);
    }
}

/// Counts the end of a task when it is dropped.
struct EndRoot(Arc<Shared>);

impl Drop for EndRoot {
    fn drop(&mut self) {
        self.0.end_root();
    }
}

/// Notifies worker `index` of the current thread's runtime, which may wait in
/// [`OpenTasks::wait_until`]. Does nothing on a thread that may not run open tasks.
pub fn notify(index: usize) {
    if let Some(worker) = open_worker() {
        worker.shared().notify(index);
    }
}
