//! Panics that no caller waits for.
//!
//! A panic of user code reaches the caller that waits for the call. Some panics have no such
//! caller: those of destructors of unwanted values, and those of tasks without a handle. They must
//! not unwind through a worker, so they end here.
//!
//! **Invariant:** every panic of user code, also of a destructor, is caught where a worker enters
//! that code. A panic of the work itself goes to the thread that waits for it, or to the runtime's
//! panic handler if no thread does.

use std::any::Any;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;

/// The function that gets the panic of a task if no thread waits for that task.
pub(crate) type OnPanic = Arc<dyn Fn(Box<dyn Any + Send>) + Send + Sync>;

/// Drops an unwanted value. Catches a panic of its destructor, and does not run the destructor of
/// that panic's payload.
pub(crate) fn discard<T>(unwanted: T) {
    discard_call(|| drop(unwanted));
}

/// Calls `call`, which only drops something, and catches its panic.
pub(crate) fn discard_call(call: impl FnOnce()) {
    if let Err(panic) = catch_unwind(AssertUnwindSafe(call)) {
        std::mem::forget(panic);
    }
}
