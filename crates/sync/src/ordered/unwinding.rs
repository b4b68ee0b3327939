//! Unwinding without a panic of the program, for waits that never end.

use std::any::Any;
use std::cell::Cell;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};

use crate::prim::thread_local;

// True while this thread unwinds because of `unwind`. Models do not support constant initialisers.
#[cfg(not(any(loom, shuttle)))]
thread_local! {
    static IS_UNWINDING: Cell<bool> = const { Cell::new(false) };
}
#[cfg(any(loom, shuttle))]
thread_local! {
    static IS_UNWINDING: Cell<bool> = Cell::new(false);
}

/// The payload of the unwinding. If other code catches and drops it, the thread no longer counts as
/// unwinding.
struct Unwinding(Option<Box<dyn Any + Send>>);

impl Drop for Unwinding {
    fn drop(&mut self) {
        IS_UNWINDING.with(|is_unwinding| is_unwinding.set(false));
    }
}

/// Unwinds to the next [`catch`] of this thread. Data on the way is given back as at a normal end,
/// and not stopped as in a panic.
pub fn unwind(reason: Box<dyn Any + Send>) -> ! {
    IS_UNWINDING.with(|is_unwinding| is_unwinding.set(true));
    resume_unwind(Box::new(Unwinding(Some(reason))))
}

/// Calls `run`.
///
/// # Errors
/// The payload of a panic in `run`, or the reason that `run` has passed to [`unwind`].
pub fn catch<T>(run: impl FnOnce() -> T) -> Result<T, Box<dyn Any + Send>> {
    catch_unwind(AssertUnwindSafe(run)).map_err(|panic| match panic.downcast::<Unwinding>() {
        Ok(mut unwinding) => unwinding.0.take().expect("the reason is taken once"),
        Err(panic) => panic,
    })
}

/// Drops `what` as a panic would have dropped it: data that may be half written is stopped. If
/// dropping panics too, the process ends, as in a panic.
pub fn drop_in_panic<T>(what: T) {
    let unwound = catch_unwind(AssertUnwindSafe(move || {
        let _what = what;
        resume_unwind(Box::new(()));
    }));
    drop(unwound);
}

/// Returns true while this thread unwinds because of [`unwind`].
pub(super) fn is_unwinding() -> bool {
    IS_UNWINDING.with(Cell::get)
}
