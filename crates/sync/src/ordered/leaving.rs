//! Leaving what is under way by unwinding, which is no panic of the program's.

use std::any::Any;
use std::cell::Cell;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};

use crate::prim::thread_local;

// This thread unwinds, and has done no harm. Models know no constants.
#[cfg(not(any(loom, shuttle)))]
thread_local! {
    static LEAVES: Cell<bool> = const { Cell::new(false) };
}
#[cfg(any(loom, shuttle))]
thread_local! {
    static LEAVES: Cell<bool> = Cell::new(false);
}

/// Unwinds to the next [`catch`] of this thread. Data is given back on the way, as it is then, and not stopped as in a panic.
pub fn leave(reason: Box<dyn Any + Send>) -> ! {
    LEAVES.with(|leaves| leaves.set(true));
    resume_unwind(reason)
}

/// Calls `run`.
///
/// # Errors
/// What it has panicked with, or left with by [`leave`].
pub fn catch<T>(run: impl FnOnce() -> T) -> Result<T, Box<dyn Any + Send>> {
    let result = catch_unwind(AssertUnwindSafe(run));
    LEAVES.with(|leaves| leaves.set(false));
    result
}

/// True while this thread unwinds because of [`leave`].
pub(super) fn leaves() -> bool {
    LEAVES.with(Cell::get)
}
