//! Handles to tasks, through which threads and futures wait for the results.
//!
//! The call is stored in a packet that the handle shares with a task in the pool. The thread that
//! takes the call out of the packet runs it: the worker that gets the task, or a worker of the same
//! runtime that waits for the handle. The waiting worker need not find the task among all queued
//! ones. The task is empty then. It counts as work until it is removed from the queue, at the
//! latest when half of the queue consists of empty tasks. The packet of a future
//! ([`crate::futures`]) has no call: its polls finish it.
//!
//! # Memory ordering
//! | label | release side                   | acquire side           | what it publishes     |
//! |-------|--------------------------------|------------------------|-----------------------|
//! | T2    | `Packet::finish` stores `done` | `is_done` loads `done` | the result, and what  |
//! |       |                                |                        | the task wrote        |
//!
//! No wait for a handle misses the end of the task. `finish` stores `done` before it looks for a
//! waiter under the waiter's lock; `wait` registers under that lock before it looks at `done`. The
//! one that gets the lock second sees what the other did first. The same holds for a future that
//! awaits the handle.
//!
//! # Invariants
//! 1. The call is taken out of its packet once, on a worker of its runtime. A blocking call is
//!    taken on a blocking thread or, if the system refuses to start one, on the thread that asked
//!    for it.
//! 2. While the call runs on a worker, the packet's frame is its innermost frame. A worker that
//!    waits for the handle finds the tasks that the call has put by this frame.

use std::any::{Any, type_name};
use std::cell::Cell;
use std::fmt;
use std::future::Future;
use std::mem;
use std::ops::DerefMut;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, Waker};

use raddle_sync::prim::{Acquire, AtomicBool, Mutex, Relaxed, Release};
use raddle_trace::record;

use crate::panics::{OnPanic, discard, discard_call};
use crate::task::{RootCall, Task, TaskCell};
use crate::worker::{Shared, Waiter, Worker, current_worker};

type Call<T> = Box<dyn FnOnce() -> T + Send>;

/// A handle to a spawned task or future, through which a thread can wait for its result.
///
/// A handle is itself a future: `handle.await` gives the result, or panics with the panic of the
/// task. If the handle is dropped, the task still runs. A panic for which nothing waits goes to the
/// runtime's panic handler.
///
/// # Examples
/// ```
/// let runtime = raddle_runtime::Runtime::builder().workers(2).build()?;
/// let (left, right) = (runtime.spawn(|| 6), runtime.spawn_blocking(|| 7));
/// assert_eq!(runtime.block_on(async { left.await * right.await }), 42);
/// # Ok::<(), raddle_runtime::BuildError>(())
/// ```
pub struct Handle<T> {
    packet: Arc<Packet<T>>,
}

/// The state that a handle and its task share.
pub(crate) struct Packet<T> {
    /// The call, until a thread begins it. `None` for a future.
    call: Mutex<Option<Call<T>>>,
    begun: AtomicBool,
    /// True for a future and for a call on a blocking thread, which no waiting worker begins.
    blocking: bool,
    outcome: Mutex<Outcome<T>>,
    done: AtomicBool,
    awaiter: Mutex<Option<Awaiter>>,
    frame: &'static TaskCell,
    shared: Arc<Shared>,
    on_panic: Option<OnPanic>,
    /// The type of the call, for recordings.
    name: &'static str,
}

/// The way in which a task or a future has ended.
pub(crate) enum Outcome<T> {
    /// It has not ended, or the result was taken.
    Nothing,
    /// It has returned.
    Returned(T),
    /// It has panicked.
    Panicked(Box<dyn Any + Send>),
    /// It is a future that was dropped at the end of its runtime.
    Dropped,
}

/// The side that waits for a task.
enum Awaiter {
    Thread(Waiter),
    Future(Waker),
}

impl<T> Packet<T> {
    /// Runs the call unless a thread has begun it. Returns true if it ran here.
    fn run_here(&self) -> bool {
        let call = self
            .call
            .lock()
            .expect("nothing panics under this lock")
            .take();
        let Some(call) = call else { return false };
        // Relaxed: a hint for the removal of empty tasks.
        self.begun.store(true, Relaxed);
        self.record();
        self.finish(match catch_unwind(AssertUnwindSafe(call)) {
            Ok(result) => Outcome::Returned(result),
            Err(panic) => Outcome::Panicked(panic),
        });
        true
    }

    /// Records that the call begins.
    fn record(&self) {
        match self.blocking {
            true if record::is_on() => record::run_call(record::Name::of(self.name)),
            true => {}
            false => record::run_task(self.frame.trace_id()),
        }
    }

    /// Runs the task as [`Packet::run_here`] does, on `worker`, which is the current thread.
    fn run_on(&self, worker: &Worker) -> bool {
        worker.in_frame(self.frame, || self.run_here())
    }

    /// Runs the call on the worker that waits for it, unless a thread has begun it. Then removes
    /// empty tasks from the queue if there are many.
    fn begin_waiting(&self, worker: &Worker) {
        if !worker.may_nest() || !worker.nest(|| self.run_on(worker)) {
            return;
        }
        let mut empty = self.shared.count_begun();
        while let Some(task) = empty.take_first() {
            worker.run(task);
        }
    }

    /// Stores the outcome, and wakes the side that waits for it. To be called once.
    pub(crate) fn finish(&self, outcome: Outcome<T>) {
        *self.outcome() = outcome;
        // ORDERING(T2): Release, what the task wrote; stored before the look for an awaiter.
        self.done.store(true, Release);
        let awaiter = self.awaiter().take();
        match awaiter {
            Some(Awaiter::Thread(waiter)) => waiter.notify(),
            Some(Awaiter::Future(waker)) => discard_call(|| waker.wake()),
            None => {}
        }
    }

    /// Takes the result of a task that is done.
    ///
    /// # Panics
    /// With the panic of the task; if the result was taken before, or there will never be one.
    fn take_result(&self) -> T {
        let outcome = mem::replace(&mut *self.outcome(), Outcome::Nothing);
        match outcome {
            Outcome::Returned(result) => result,
            Outcome::Panicked(panic) => resume_unwind(panic),
            Outcome::Dropped => panic!(
                "this future was dropped before it was ready, because its runtime has ended; wait \
                 for its handle before the runtime ends"
            ),
            Outcome::Nothing => panic!("the result of this handle was taken before"),
        }
    }

    fn outcome(&self) -> impl DerefMut<Target = Outcome<T>> + '_ {
        self.outcome.lock().expect("nothing panics under this lock")
    }

    fn awaiter(&self) -> impl DerefMut<Target = Option<Awaiter>> + '_ {
        self.awaiter.lock().expect("nothing panics under this lock")
    }
}

impl<T: Send> RootCall for Packet<T> {
    fn is_begun(&self) -> bool {
        // Relaxed: a hint.
        self.begun.load(Relaxed)
    }

    fn run(&self) {
        self.run_on(current_worker().expect("root tasks run on workers"));
    }
}

impl<T> Drop for Packet<T> {
    fn drop(&mut self) {
        let outcome = mem::replace(&mut *self.outcome(), Outcome::Nothing);
        match (outcome, &self.on_panic) {
            // A panic of the panic handler is discarded.
            (Outcome::Panicked(panic), Some(handler)) => {
                discard(catch_unwind(AssertUnwindSafe(|| handler(panic))));
            }
            (outcome, _) => discard(outcome),
        }
        self.shared.memory().give_back(self.frame);
    }
}

impl<T> fmt::Debug for Handle<T> {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter
            .debug_struct("Handle")
            .field("done", &self.is_done())
            .finish_non_exhaustive()
    }
}

impl<T: Send + 'static> Handle<T> {
    fn new(
        shared: &Arc<Shared>,
        on_panic: Option<OnPanic>,
        blocking: bool,
        call: Option<Call<T>>,
        name: &'static str,
    ) -> Self {
        let frame = shared.memory().take_outside();
        frame.make_frame(None);
        Self {
            packet: Arc::new(Packet {
                call: Mutex::new(call),
                begun: AtomicBool::new(false),
                blocking,
                outcome: Mutex::new(Outcome::Nothing),
                done: AtomicBool::new(false),
                awaiter: Mutex::new(None),
                frame,
                shared: Arc::clone(shared),
                on_panic,
                name,
            }),
        }
    }

    /// Puts a task into the pool and returns its handle.
    pub(crate) fn spawn<F: FnOnce() -> T + Send + 'static>(
        shared: &Arc<Shared>,
        on_panic: Option<OnPanic>,
        call: F,
    ) -> Self {
        let name = type_name::<F>();
        let handle = Self::new(shared, on_panic, false, Some(Box::new(call)), name);
        handle.packet.frame.record_put(name);
        let cell = shared.memory().take_outside();
        cell.make_root(Arc::clone(&handle.packet) as Arc<dyn RootCall>);
        shared.begin_root();
        shared.put_outside(Task::new(cell));
        handle
    }

    /// Returns a handle and the call that a blocking thread has to run for it. The runtime does not
    /// end before that call.
    pub(crate) fn blocking<F: FnOnce() -> T + Send + 'static>(
        shared: &Arc<Shared>,
        on_panic: Option<OnPanic>,
        call: F,
    ) -> (Self, impl FnOnce() + Send + use<T, F>) {
        let handle = Self::new(
            shared,
            on_panic,
            true,
            Some(Box::new(call)),
            type_name::<F>(),
        );
        let packet = Arc::clone(&handle.packet);
        let ending = EndCall::new(shared);
        let runner = move || {
            // Dropped last, also when a destructor below panics.
            let _ending = ending;
            packet.run_here();
            drop(packet);
        };
        (handle, runner)
    }

    /// Returns a handle to a future, and the packet that its polls finish.
    pub(crate) fn of_future(
        shared: &Arc<Shared>,
        on_panic: Option<OnPanic>,
    ) -> (Self, Arc<Packet<T>>) {
        let handle = Self::new(shared, on_panic, true, None, "future");
        let packet = Arc::clone(&handle.packet);
        (handle, packet)
    }

    /// Waits for the task and returns its result. In `async` code, `.await` waits instead, without
    /// a thread.
    ///
    /// A waiting worker runs the task itself if no thread has begun it. If the task is running
    /// elsewhere, or is a future, the worker runs work below the task. Without such work it lends
    /// its place to a compensating thread and sleeps
    /// ([`max_compensating_threads`](crate::Builder::max_compensating_threads)). No other work runs
    /// on its stack.
    ///
    /// # Panics
    /// With the panic of the task; if it is a future that its ended runtime has dropped. If the
    /// task is not done:
    /// - in a process that fork(2) made after the runtime was started;
    /// - when the runtime stands still: all its workers and compensating threads have waited for
    ///   two seconds, no other compensating thread is available, and there are tasks that have not
    ///   begun. The task still runs if anything lets it.
    pub fn wait(self) -> T {
        let packet = &self.packet;
        if !self.is_done() {
            packet.shared.expect_here();
        }
        match current_worker() {
            Some(worker) if !packet.blocking && Arc::ptr_eq(worker.shared(), &packet.shared) => {
                packet.begin_waiting(worker);
            }
            _ => {}
        }
        let waiter = Waiter::current();
        // Before the first look at `done`.
        *packet.awaiter() = Some(Awaiter::Thread(waiter.clone()));
        let gives_up = Cell::new(None);
        waiter.wait_below(Some(packet.frame), Some(&gives_up), &|| self.is_done());
        if let Some(state) = gives_up.into_inner() {
            panic!("{state}");
        }
        packet.take_result()
    }
}

/// Gives the result of the task.
///
/// # Panics
/// As [`Handle::wait`], but not for a runtime that stands still; when it is polled after it was
/// ready.
impl<T: Send + 'static> Future for Handle<T> {
    type Output = T;

    fn poll(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<T> {
        let packet = &self.packet;
        if !self.is_done() {
            packet.shared.expect_here();
            let waker = context.waker().clone();
            let former = packet.awaiter().replace(Awaiter::Future(waker));
            // Outside of the lock: the destructor of a waker is foreign code.
            drop(former);
            // The task may have ended before the waker was there.
            if !self.is_done() {
                return Poll::Pending;
            }
        }
        Poll::Ready(packet.take_result())
    }
}

impl<T> Handle<T> {
    /// Returns true if the task has ended.
    pub fn is_done(&self) -> bool {
        // ORDERING(T2): Acquire, what the task wrote.
        self.packet.done.load(Acquire)
    }
}

/// Counts a call for a blocking thread as unfinished until everything that it owns is dropped.
struct EndCall(Arc<Shared>);

impl EndCall {
    fn new(shared: &Arc<Shared>) -> Self {
        shared.begin_call();
        Self(Arc::clone(shared))
    }
}

impl Drop for EndCall {
    fn drop(&mut self) {
        self.0.end_call();
    }
}
