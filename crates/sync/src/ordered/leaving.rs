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

/// What a thread leaves with; whoever catches it otherwise and lets it go does not leave any more.
struct Leaving(Option<Box<dyn Any + Send>>);

impl Drop for Leaving {
    fn drop(&mut self) {
        LEAVES.with(|leaves| leaves.set(false));
    }
}

/// Unwinds to the next [`catch`] of this thread. Data is given back on the way, as it is then, and not stopped as in a panic.
pub fn leave(reason: Box<dyn Any + Send>) -> ! {
    LEAVES.with(|leaves| leaves.set(true));
    resume_unwind(Box::new(Leaving(Some(reason))))
}

/// Calls `run`.
///
/// # Errors
/// What it has panicked with, or left with by [`leave`].
pub fn catch<T>(run: impl FnOnce() -> T) -> Result<T, Box<dyn Any + Send>> {
    catch_unwind(AssertUnwindSafe(run)).map_err(|panic| match panic.downcast::<Leaving>() {
        Ok(mut leaving) => leaving.0.take().expect("it is taken once"),
        Err(panic) => panic,
    })
}

/// Drops what a panic has left behind as the panic would have: data that it may have written in half is stopped. Where that panics, too, the process ends,
/// as it does then.
pub fn drop_in_panic<T>(what: T) {
    let unwound = catch_unwind(AssertUnwindSafe(move || {
        let _what = what;
        resume_unwind(Box::new(()));
    }));
    drop(unwound);
}

/// True while this thread unwinds because of [`leave`].
pub(super) fn leaves() -> bool {
    LEAVES.with(Cell::get)
}
