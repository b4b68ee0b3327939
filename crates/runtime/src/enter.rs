//! Runs a call of a thread outside a runtime on one of its workers, and waits for it.
//!
//! # Memory ordering
//! | label | release side                     | acquire side            | what it publishes |
//! |-------|----------------------------------|-------------------------|-------------------|
//! | T1    | `ResultSlot::finish` sets `done` | `is_done` loads it    | the result        |

use std::any::type_name_of_val;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::sync::Arc;

use raddle_sync::prim::{Acquire, AtomicBool, Release, UnsafeCell};

use crate::task::{ForWhom, Task};
use crate::worker::{Shared, Waiter};

/// Runs `call` on some worker of `shared`, and returns its result.
///
/// # Panics
/// With the panic of `call`; in a process in which the workers do not exist.
pub(crate) fn run_root<R: Send>(shared: &Arc<Shared>, call: impl FnOnce() -> R + Send) -> R {
    shared.expect_here();
    let waiter = Waiter::current();
    let slot = ResultSlot::new();
    let begun = waiter.begin_call(shared);
    let closure = || {
        let result = catch_unwind(AssertUnwindSafe(call));
        drop(begun);
        slot.finish(result, &waiter);
    };
    let cell = shared.memory().take_outside();
    cell.record_put(type_name_of_val(&closure));
    // SAFETY: we wait below until the closure has stored `done`, and do not unwind before.
    unsafe {
        cell.make_closure(
            ForWhom::AnyWorker,
            None,
            shared.memory().closures(),
            closure,
        )
    };
    shared.put_call(Task::new(cell));
    waiter.wait_for_call(shared, &|| slot.is_done());
    slot.into_result()
}

/// The slot for the result of a call, on the caller's stack.
pub(crate) struct ResultSlot<R> {
    result: UnsafeCell<Option<std::thread::Result<R>>>,
    done: AtomicBool,
}

// SAFETY: the result is written before `done` by the one runner, and read after it by the one
// waiter.
unsafe impl<R: Send> Sync for ResultSlot<R> {}

impl<R> ResultSlot<R> {
    pub(crate) fn new() -> Self {
        Self {
            result: UnsafeCell::new(None),
            done: AtomicBool::new(false),
        }
    }

    /// Returns true once the call has ended.
    pub(crate) fn is_done(&self) -> bool {
        // ORDERING(T1): Acquire, to read the result.
        self.done.load(Acquire)
    }

    /// Returns the result of a call that has ended.
    ///
    /// # Panics
    /// With the panic of the call.
    pub(crate) fn into_result(self) -> R {
        let result = self.result.into_inner();
        match result.expect("the call has ended") {
            Ok(result) => result,
            Err(panic) => resume_unwind(panic),
        }
    }

    /// Stores the result of the call and notifies `waiter`. The slot may be gone afterwards.
    pub(crate) fn finish(&self, result: std::thread::Result<R>, waiter: &Waiter) {
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
