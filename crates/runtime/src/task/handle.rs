//! A task whose result is waited for through a handle.
//!
//! The call lies in a packet that the handle shares with a task in the pool. Whoever takes the call out of the packet runs
//! it: the worker that gets the task, or a worker of the same runtime that waits for the handle, which so need not look for the
//! task among all that are queued. The task is then an empty one; it counts as work until it is taken from the queue, at the latest
//! when half of the queue is empty ones.
//!
//! # Memory ordering
//! | label | release side                     | acquire side                       | what it publishes                        |
//! |-------|----------------------------------|------------------------------------|------------------------------------------|
//! | T2    | `Packet::finish` stores `done`   | `is_done` loads `done`             | the result, and what the task wrote      |
//!
//! No wait for a handle misses its end: `finish` stores `done` before it looks for a waiter under the waiter's lock, `wait`
//! says who waits under that lock before it looks at `done`. Whichever has the lock second sees what the other did first.
//! # Invariants
//! 1. The call is taken out of its packet once: on a worker of its runtime; or, a blocking one, on a blocking thread, or
//!    where the system gives none, on the thread that asked for it.
//! 2. While the call runs on a worker, the packet's frame is its innermost frame: who waits for the handle finds by it what
//!    the call has put.

use std::any::Any;
use std::cell::Cell;
use std::fmt;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::sync::Arc;

use raddle_sync::prim::{Acquire, AtomicBool, Mutex, Relaxed, Release};

use super::{Task, TaskCell, Waiter, discard};
use crate::fork::current_worker;
use crate::worker::{Shared, Worker};

/// What gets a panic that nobody waits for.
pub(crate) type OnPanic = Arc<dyn Fn(Box<dyn Any + Send>) + Send + Sync>;

type Call<T> = Box<dyn FnOnce() -> T + Send>;

/// What a spawned task will return.
///
/// Dropping the handle lets the task run on; a panic that nobody has waited for by then goes to the runtime's panic
/// handler.
pub struct Handle<T> {
    packet: Arc<Packet<T>>,
}

/// A call that is waited for through a handle.
pub(super) trait RootCall: Send + Sync {
    /// True when somebody has begun it.
    fn is_begun(&self) -> bool;

    /// Runs it on `worker`, which this thread is, unless somebody has begun it. Does not unwind.
    fn run(&self, worker: &Worker);
}

struct Packet<T> {
    /// The call, until somebody begins it.
    call: Mutex<Option<Call<T>>>,
    begun: AtomicBool,
    /// True for a call that no waiting worker begins.
    blocking: bool,
    result: Mutex<Option<std::thread::Result<T>>>,
    done: AtomicBool,
    waiter: Mutex<Option<Waiter>>,
    frame: &'static TaskCell,
    shared: Arc<Shared>,
    on_panic: Option<OnPanic>,
}

impl<T> Packet<T> {
    /// Runs the call, unless somebody has begun it; true if it ran.
    fn run_here(&self) -> bool {
        let call = self
            .call
            .lock()
            .expect("nothing panics under this lock")
            .take();
        let Some(call) = call else { return false };
        // Relaxed: a hint for who clears up.
        self.begun.store(true, Relaxed);
        self.finish(catch_unwind(AssertUnwindSafe(call)));
        true
    }

    /// As [`Packet::run_here`], on `worker`, which this thread is.
    fn run_on(&self, worker: &Worker) -> bool {
        worker.in_frame(self.frame, || self.run_here())
    }

    /// Runs the call on the worker that waits for it, unless somebody has begun it.
    fn begin_waiting(&self, worker: &Worker) {
        if !worker.may_nest() || !worker.nest(|| self.run_on(worker)) {
            return;
        }
        let mut empty = self.shared.outside.count_begun();
        while let Some(task) = empty.take_first() {
            task.run(worker);
        }
    }

    fn finish(&self, result: std::thread::Result<T>) {
        *self.result.lock().expect("nothing panics under this lock") = Some(result);
        // ORDERING(T2): Release, what the task wrote; before the look for a waiter.
        self.done.store(true, Release);
        let waiter = self
            .waiter
            .lock()
            .expect("nothing panics under this lock")
            .take();
        if let Some(waiter) = waiter {
            waiter.notify();
        }
    }
}

impl<T: Send> RootCall for Packet<T> {
    fn is_begun(&self) -> bool {
        // Relaxed: a hint.
        self.begun.load(Relaxed)
    }

    fn run(&self, worker: &Worker) {
        self.run_on(worker);
    }
}

impl<T> Drop for Packet<T> {
    fn drop(&mut self) {
        self.shared.memory.give_back(self.frame);
        let result = self
            .result
            .lock()
            .expect("nothing panics under this lock")
            .take();
        match (result, &self.on_panic) {
            // A panic in the panic handler has nowhere to go.
            (Some(Err(panic)), Some(handler)) => {
                discard(catch_unwind(AssertUnwindSafe(|| handler(panic))))
            }
            (result, _) => discard(result),
        }
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
        call: impl FnOnce() -> T + Send + 'static,
    ) -> Self {
        let frame = shared.memory.take_outside();
        frame.make_frame(None);
        Self {
            packet: Arc::new(Packet {
                call: Mutex::new(Some(Box::new(call))),
                begun: AtomicBool::new(false),
                blocking,
                result: Mutex::new(None),
                done: AtomicBool::new(false),
                waiter: Mutex::new(None),
                frame,
                shared: Arc::clone(shared),
                on_panic,
            }),
        }
    }

    /// A task of `shared` that this handle stands for.
    pub(crate) fn spawn(
        shared: &Arc<Shared>,
        on_panic: Option<OnPanic>,
        call: impl FnOnce() -> T + Send + 'static,
    ) -> Self {
        let handle = Self::new(shared, on_panic, false, call);
        let cell = shared.memory.take_outside();
        cell.make_root(Arc::clone(&handle.packet) as Arc<dyn RootCall>);
        shared.begin_root();
        shared.put_outside(Task::new(cell));
        handle
    }

    /// A call for a blocking thread, and the handle that stands for it. The runtime ends after that call, not before.
    pub(crate) fn blocking(
        shared: &Arc<Shared>,
        on_panic: Option<OnPanic>,
        call: impl FnOnce() -> T + Send + 'static,
    ) -> (Self, impl FnOnce() + Send + 'static) {
        let handle = Self::new(shared, on_panic, true, call);
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

    /// Waits for the task and returns its result.
    ///
    /// A waiting worker runs the task itself if nobody has begun it. If the task is under way elsewhere, the worker helps with what
    /// lies below it, and else lends its place to a substitute (up to 1,024 for a runtime) and sleeps: no other work is
    /// ever run on its stack.
    ///
    /// # Panics
    /// With the panic of the task. If the task is not done:
    /// - in a process that fork(2) made after the runtime was started;
    /// - when the runtime stands still: for a second all its workers and substitutes have waited,
    ///   no other substitute can be had, and there are tasks that have not begun. The task goes on
    ///   if anything lets it.
    pub fn wait(self) -> T {
        let packet = &self.packet;
        if !self.is_done() {
            packet.shared.origin.expect_here();
        }
        match current_worker() {
            Some(worker) if !packet.blocking && Arc::ptr_eq(worker.shared(), &packet.shared) => {
                packet.begin_waiting(worker);
            }
            _ => {}
        }
        let waiter = Waiter::current();
        // Before the first look at `done`.
        *packet
            .waiter
            .lock()
            .expect("nothing panics under this lock") = Some(waiter.clone());
        let gives_up = Cell::new(None);
        waiter.wait_below(Some(packet.frame), Some(&gives_up), || self.is_done());
        if let Some(state) = gives_up.into_inner() {
            panic!("{state}");
        }
        let result = packet
            .result
            .lock()
            .expect("nothing panics under this lock")
            .take();
        match result.expect("done says that the result is there, and it is taken once") {
            Ok(result) => result,
            Err(panic) => resume_unwind(panic),
        }
    }
}

impl<T> Handle<T> {
    /// True when the task has ended.
    pub fn is_done(&self) -> bool {
        // ORDERING(T2): Acquire, what the task wrote.
        self.packet.done.load(Acquire)
    }
}

/// Counts a call for a blocking thread from its making to the end of all that it drops.
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
