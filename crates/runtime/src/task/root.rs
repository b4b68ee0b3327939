//! A call that enters a runtime from outside and that the caller waits for; and what waits for such things.
//!
//! # Memory ordering
//! | label | release side                     | acquire side                       | what it publishes                        |
//! |-------|----------------------------------|------------------------------------|------------------------------------------|
//! | T1    | `RootSlot::finish` stores `done` | `run_root` loads `done`            | the result                               |

use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::sync::Arc;

use raddle_sync::prim::{Acquire, AtomicBool, Release, UnsafeCell, thread_local};
use raddle_sync::wait::{SpinBudget, WaitCell};

use super::{Task, TaskCell};
use crate::fork::current_worker;
use crate::worker::{Helping, Shared};

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
                lends: true,
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
    unsafe { cell.make_closure(None, shared.memory.closures(), closure) };
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
