//! Helpers of several test programs that check hangs and panics.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::time::Duration;

/// A time limit: a wait that takes longer hangs.
pub(crate) const PATIENCE: Duration = Duration::from_secs(60);

/// Runs a closure that has to panic, and returns the message of its panic.
#[track_caller]
pub(crate) fn panic_text<R>(call: impl FnOnce() -> R) -> String {
    let Err(panic) = catch_unwind(AssertUnwindSafe(call)) else {
        panic!("it does not panic");
    };
    match panic.downcast::<String>() {
        Ok(text) => *text,
        Err(panic) => (*panic.downcast::<&str>().expect("the panic has a text")).to_owned(),
    }
}
