//! Work that enters a runtime from outside: a call that the caller waits for, or a task with a handle.
//!
//! The waiting side owns a frame, under which the work is put, so that a waiting worker (of this or of another
//! runtime) can help below it; see [`crate::task`] for lineage.

use std::any::Any;
use std::cell::UnsafeCell;
use std::fmt;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::sync::Arc;
use std::thread;

use raddle_sync::prim::{Acquire, AtomicBool, Mutex, Release, SeqCst};
use raddle_sync::wait::{SpinBudget, WaitCell};

use super::{Task, TaskCell};
use crate::fork::current_worker;
use crate::worker::{Shared, Worker};

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
    pub(crate) fn current() -> Self {
        match current_worker() {
            Some(worker) => Self::Worker(Arc::clone(worker.shared()), worker.index()),
            None => Self::Outside(OUTSIDE.with(Arc::clone)),
        }
    }

    pub(crate) fn notify(&self) {
        let _ = match self {
            Self::Worker(shared, index) => shared.idle.cell(*index).notify(),
            Self::Outside(cell) => cell.notify(),
        };
    }
}

/// Waits on this thread until `done`; a worker helps below `frame` meanwhile.
fn wait_until(worker: Option<&Worker>, frame: Option<&TaskCell>, done: impl Fn() -> bool) {
    if let (Some(worker), Some(frame)) = (worker, frame) {
        return worker.wait_until(frame, worker.mark(), || None, done);
    }
    let budget = SpinBudget::default();
    OUTSIDE.with(|cell| {
        while !done() {
            cell.wait(budget.spin());
        }
    });
}

/// Runs `call` on some worker of `shared` and waits for it.
///
/// # Panics
/// With the panic of `call`.
pub(crate) fn run_root<R: Send>(shared: &Arc<Shared>, call: impl FnOnce() -> R + Send) -> R {
    let worker = current_worker();
    let frame = worker.map(|worker| {
        let frame = worker.take_cell();
        frame.make_frame(worker.frame());
        frame
    });
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
    unsafe { cell.make_closure(frame, closure) };
    shared.put_outside(Task::new(cell));
    // ORDERING(T1): Acquire, to read the result.
    wait_until(worker, frame, || slot.done.load(Acquire));
    if let (Some(worker), Some(frame)) = (worker, frame) {
        worker.give_back(frame);
    }
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
    result: UnsafeCell<Option<thread::Result<R>>>,
    done: AtomicBool,
}

// SAFETY: the result is written before `done` by the one runner, and read after it by the one waiter.
unsafe impl<R: Send> Sync for RootSlot<R> {}

impl<R> RootSlot<R> {
    fn finish(&self, result: thread::Result<R>, waiter: &Waiter) {
        // The slot and the waiter lie on the caller's stack, which may be gone once `done` is true.
        let waiter = waiter.clone();
        // SAFETY: the waiter reads only after `done`.
        unsafe { *self.result.get() = Some(result) };
        // ORDERING(T1): Release, the result.
        self.done.store(true, Release);
        waiter.notify();
    }
}

/// What a spawned task will return.
///
/// Dropping the handle lets the task run on; a panic of it then goes to the runtime's panic handler.
pub struct Handle<T> {
    packet: Arc<Packet<T>>,
}

struct Packet<T> {
    result: Mutex<Option<thread::Result<T>>>,
    done: AtomicBool,
    waiter: Mutex<Option<Waiter>>,
    frame: &'static TaskCell,
    shared: Arc<Shared>,
}

impl<T> Drop for Packet<T> {
    fn drop(&mut self) {
        self.shared.memory.give_back(self.frame);
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
    /// A handle, and what is to be called with the result when it is there; `on_panic` gets a panic that no handle is
    /// left to take.
    pub(crate) fn new(
        shared: &Arc<Shared>,
        on_panic: impl FnOnce(Box<dyn Any + Send>) + Send + 'static,
    ) -> (Self, impl FnOnce(thread::Result<T>) + Send + 'static) {
        let frame = shared.memory.take_outside();
        frame.make_frame(None);
        let packet = Arc::new(Packet {
            result: Mutex::new(None),
            done: AtomicBool::new(false),
            waiter: Mutex::new(None),
            frame,
            shared: Arc::clone(shared),
        });
        let finish = {
            let packet = Arc::clone(&packet);
            move |result| match result {
                Err(panic) if Arc::strong_count(&packet) == 1 => on_panic(panic),
                result => {
                    *packet
                        .result
                        .lock()
                        .expect("nothing panics under this lock") = Some(result);
                    // ORDERING(T2): SeqCst, `done` before the look for a waiter, as the waiter says who it is
                    // before it looks at `done`; both look under the waiter's lock.
                    packet.done.store(true, SeqCst);
                    let waiter = packet
                        .waiter
                        .lock()
                        .expect("nothing panics under this lock")
                        .take();
                    if let Some(waiter) = waiter {
                        waiter.notify();
                    }
                }
            }
        };
        (Self { packet }, finish)
    }

    /// A task of `shared` that this handle stands for.
    pub(crate) fn spawn(
        shared: &Arc<Shared>,
        call: impl FnOnce() -> T + Send + 'static,
        on_panic: impl FnOnce(Box<dyn Any + Send>) + Send + 'static,
    ) -> Self {
        let (handle, finish) = Self::new(shared, on_panic);
        // ORDERING: SeqCst, before the task can be found; the partner is the count-down below.
        shared.live.fetch_add(1, SeqCst);
        let closure = {
            let shared = Arc::clone(shared);
            move || {
                finish(catch_unwind(AssertUnwindSafe(call)));
                // ORDERING: SeqCst, before the look at `stopping`, which `stop` sets before it looks at `live`.
                let last = shared.live.fetch_sub(1, SeqCst) == 1;
                // ORDERING: SeqCst, as above.
                if last && shared.stopping.load(SeqCst) {
                    shared.idle.wake_all();
                }
            }
        };
        let parent = Some(handle.packet.frame);
        let cell = shared.memory.take_outside();
        // SAFETY: the closure borrows nothing ('static).
        unsafe { cell.make_closure(parent, closure) };
        // Always through the queue that every waiter searches as a whole: whoever has the handle can find the task.
        shared.put_outside(Task::new(cell));
        handle
    }

    /// Waits for the task and returns its result. A waiting worker runs the task itself if nobody has it.
    ///
    /// # Panics
    /// With the panic of the task.
    pub fn wait(self) -> T {
        let packet = &self.packet;
        *packet
            .waiter
            .lock()
            .expect("nothing panics under this lock") = Some(Waiter::current());
        wait_until(current_worker(), Some(packet.frame), || self.is_done());
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
        // ORDERING(T2): SeqCst.
        self.packet.done.load(SeqCst)
    }
}
