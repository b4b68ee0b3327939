//! Work that enters a runtime from outside: a call that the caller waits for, or a task with a handle.
//!
//! Such work waits in the pool's outside queue, which every waiting worker searches as a whole, so that whoever waits for
//! it can reach it. A handle owns a frame under which its task is put: a worker that waits for the handle prefers it.
//!
//! # Memory ordering
//! | label | release side                     | acquire side                       | what it publishes                        |
//! |-------|----------------------------------|------------------------------------|------------------------------------------|
//! | T1    | `RootSlot::finish` stores `done` | `run_root` loads `done`            | the result                               |
//! | T2    | `Packet::finish` stores `done`   | `is_done` loads `done`             | the result, and what the task wrote      |
//!
//! No wait for a handle misses its end: `finish` stores `done` before it looks for a waiter under the waiter's lock, `wait`
//! says who waits under that lock before it looks at `done`. Whichever has the lock second sees what the other did first.

use std::any::Any;
use std::fmt;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::sync::Arc;

use raddle_sync::prim::{Acquire, AtomicBool, Mutex, Release, UnsafeCell, thread_local};
use raddle_sync::wait::{SpinBudget, WaitCell};

use super::{Task, TaskCell, discard};
use crate::fork::current_worker;
use crate::worker::{Helping, Shared};

/// What gets a panic that nobody waits for.
pub(crate) type OnPanic = Arc<dyn Fn(Box<dyn Any + Send>) + Send + Sync>;

thread_local! {
    /// Where a thread that is no worker waits.
    static OUTSIDE: Arc<WaitCell> = Arc::new(WaitCell::new());
}

/// The thread that waits for something, as the one who brings it about needs to know it.
#[derive(Clone, Debug)]
pub(crate) enum Waiter {
    /// A worker, by its runtime and index.
    Worker(Arc<Shared>, usize),
    /// Any other thread.
    Outside(Arc<WaitCell>),
}

impl Waiter {
    /// The current thread. A thread that is just ending has lost its own wait cell, and gets a fresh one.
    pub(crate) fn current() -> Self {
        match current_worker() {
            Some(worker) => Self::Worker(Arc::clone(worker.shared()), worker.index()),
            None => Self::Outside(OUTSIDE.try_with(Arc::clone).unwrap_or_default()),
        }
    }

    pub(crate) fn notify(&self) {
        let _ = match self {
            Self::Worker(shared, index) => shared.idle.cell(*index).notify(),
            Self::Outside(cell) => cell.notify(),
        };
    }

    /// Waits on this thread, which the waiter is, until `done`, for something that may need any other work done first.
    ///
    /// A worker runs what lies below `frame`, or else anything. Whoever makes `done` true notifies the waiter after it.
    pub(crate) fn wait(&self, frame: Option<&'static TaskCell>, done: impl Fn() -> bool) {
        if let Self::Outside(cell) = self {
            let budget = SpinBudget::default();
            while !done() {
                cell.wait(budget.spin());
            }
            return;
        }
        let worker = current_worker().expect("a worker waits on its own thread");
        // A frame of its own, below which there is nothing, where the caller has none.
        let empty = worker.take_cell();
        empty.make_frame(worker.frame());
        let frame = frame.unwrap_or(empty);
        worker.wait_until(
            Helping {
                frame,
                mark: worker.mark(),
                anybody: true,
            },
            || None,
            done,
        );
        worker.give_back(empty);
    }
}

/// Runs `call` on some worker of `shared` and waits for it.
///
/// # Panics
/// With the panic of `call`.
pub(crate) fn run_root<R: Send>(shared: &Arc<Shared>, call: impl FnOnce() -> R + Send) -> R {
    let waiter = Waiter::current();
    let slot = RootSlot {
        result: UnsafeCell::new(None),
        done: AtomicBool::new(false),
    };
    let closure = || {
        let result = catch_unwind(AssertUnwindSafe(call));
        slot.finish(result, &waiter);
    };
    let cell = shared.memory.take_outside();
    // SAFETY: we wait below until the closure has said that it is done, and unwind nowhere before.
    unsafe { cell.make_closure(None, closure) };
    shared.put_outside(Task::new(cell));
    // ORDERING(T1): Acquire, to read the result.
    waiter.wait(None, || slot.done.load(Acquire));
    match slot
        .result
        .into_inner()
        .expect("done says that the result is there")
    {
        Ok(result) => result,
        Err(panic) => resume_unwind(panic),
    }
}

/// Where the result of a call appears; on the caller's stack.
struct RootSlot<R> {
    result: UnsafeCell<Option<std::thread::Result<R>>>,
    done: AtomicBool,
}

// SAFETY: the result is written before `done` by the one runner, and read after it by the one waiter.
unsafe impl<R: Send> Sync for RootSlot<R> {}

impl<R> RootSlot<R> {
    fn finish(&self, result: std::thread::Result<R>, waiter: &Waiter) {
        // The slot and the waiter lie on the caller's stack, which may be gone once `done` is true.
        let waiter = waiter.clone();
        // SAFETY: the waiter reads only after `done`.
        self.result
            .with_mut(|place| unsafe { *place = Some(result) });
        // ORDERING(T1): Release, the result.
        self.done.store(true, Release);
        waiter.notify();
    }
}

/// What a spawned task will return.
///
/// Dropping the handle lets the task run on; a panic that nobody has waited for by then goes to the runtime's panic
/// handler.
pub struct Handle<T> {
    packet: Arc<Packet<T>>,
}

struct Packet<T> {
    result: Mutex<Option<std::thread::Result<T>>>,
    done: AtomicBool,
    waiter: Mutex<Option<Waiter>>,
    frame: &'static TaskCell,
    shared: Arc<Shared>,
    on_panic: Option<OnPanic>,
}

impl<T> Packet<T> {
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
    /// A handle, and the call that will run `call` and fill it. The runtime ends after that call, not before.
    pub(crate) fn new(
        shared: &Arc<Shared>,
        on_panic: Option<OnPanic>,
        call: impl FnOnce() -> T + Send + 'static,
    ) -> (Self, impl FnOnce() + Send + 'static) {
        let frame = shared.memory.take_outside();
        frame.make_frame(None);
        let packet = Arc::new(Packet {
            result: Mutex::new(None),
            done: AtomicBool::new(false),
            waiter: Mutex::new(None),
            frame,
            shared: Arc::clone(shared),
            on_panic,
        });
        let ending = EndRoot::new(shared);
        let filling = Arc::clone(&packet);
        let call = move || {
            // Dropped last, also when a destructor below panics.
            let _ending = ending;
            filling.finish(catch_unwind(AssertUnwindSafe(call)));
            drop(filling);
        };
        (Self { packet }, call)
    }

    /// A task of `shared` that this handle stands for.
    pub(crate) fn spawn(
        shared: &Arc<Shared>,
        on_panic: Option<OnPanic>,
        call: impl FnOnce() -> T + Send + 'static,
    ) -> Self {
        let (handle, call) = Self::new(shared, on_panic, call);
        let cell = shared.memory.take_outside();
        // SAFETY: the closure borrows nothing ('static).
        unsafe { cell.make_closure(Some(handle.packet.frame), call) };
        shared.put_outside(Task::new(cell));
        handle
    }

    /// Waits for the task and returns its result.
    ///
    /// A waiting worker runs the task itself if nobody has it, and other work if the task is under way elsewhere: do not
    /// hold a lock that other tasks want.
    ///
    /// # Panics
    /// With the panic of the task.
    pub fn wait(self) -> T {
        let packet = &self.packet;
        let waiter = Waiter::current();
        // Under the lock, before the first look at `done`.
        *packet
            .waiter
            .lock()
            .expect("nothing panics under this lock") = Some(waiter.clone());
        waiter.wait(Some(packet.frame), || self.is_done());
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
        // ORDERING(T2): Acquire, for who asks and does not wait.
        self.packet.done.load(Acquire)
    }
}

/// Counts a root task from its making to the end of all that it drops.
struct EndRoot(Arc<Shared>);

impl EndRoot {
    fn new(shared: &Arc<Shared>) -> Self {
        shared.begin_root();
        Self(Arc::clone(shared))
    }
}

impl Drop for EndRoot {
    fn drop(&mut self) {
        self.0.end_root();
    }
}
