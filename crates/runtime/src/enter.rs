//! Runs a call of a thread outside a runtime on one of its workers, and waits for it.
//!
//! # Memory ordering
//! | label | release side                     | acquire side            | what it publishes |
//! |-------|----------------------------------|-------------------------|-------------------|
//! | T1    | `RootSlot::finish` stores `done` | `run_root` loads `done` | the result        |

use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::sync::Arc;

use raddle_sync::prim::{Acquire, AtomicBool, Release, UnsafeCell};

use crate::task::Task;
use crate::worker::{Shared, Waiter};

/// Runs `call` on some worker of `shared`, and returns its result.
///
/// # Panics
/// With the panic of `call`; in a process in which the workers do not exist.
pub(crate) fn run_root<R: Send>(shared: &Arc<Shared>, call: impl FnOnce() -> R + Send) -> R {
    shared.expect_here();
    let waiter = Waiter::current();
    let slot = RootSlot {
        result: UnsafeCell::new(None),
        done: AtomicBool::new(false),
    };
    let closure = || {
        let result = catch_unwind(AssertUnwindSafe(call));
        slot.finish(result, &waiter);
    };
    let cell = shared.memory().take_outside();
    // SAFETY: we wait below until the closure has stored `done`, and do not unwind before.
    unsafe { cell.make_closure(None, shared.memory().closures(), closure) };
    shared.put_outside(Task::new(cell));
    // ORDERING(T1): Acquire, to read the result.
    waiter.wait_below(None, None, || slot.done.load(Acquire));
    match slot
        .result
        .into_inner()
        .expect("done says that the result is there")
    {
        Ok(result) => result,
        Err(panic) => resume_unwind(panic),
    }
}

/// The slot for the result of a call, on the caller's stack.
struct RootSlot<R> {
    result: UnsafeCell<Option<std::thread::Result<R>>>,
    done: AtomicBool,
}

// SAFETY: the result is written before `done` by the one runner, and read after it by the one
// waiter.
unsafe impl<R: Send> Sync for RootSlot<R> {}

impl<R> RootSlot<R> {
    fn finish(&self, result: std::thread::Result<R>, waiter: &Waiter) {
        // The slot and the waiter are on the caller's stack, which may be gone once `done` is true.
        let waiter = waiter.clone();
        // SAFETY: the waiter reads only after `done`.
        self.result
            .with_mut(|place| unsafe { *place = Some(result) });
        // ORDERING(T1): Release, the result.
        self.done.store(true, Release);
        waiter.notify();
    }
}
