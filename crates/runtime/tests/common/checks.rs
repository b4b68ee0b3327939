//! Helpers of several test programs that check hangs and panics.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::time::Duration;

/// A time limit, far beyond what any machine needs: it turns a hang into a failure.
pub(crate) const PATIENCE: Duration = Duration::from_secs(60);

/// Runs a closure that has to panic, and returns the message of its panic.
///
/// Forgets what a closure returns that does not panic, because its destructor may panic too.
#[track_caller]
pub(crate) fn panic_text<R>(call: impl FnOnce() -> R) -> String {
    let result = catch_unwind(AssertUnwindSafe(call)).map(std::mem::forget);
    let panic = result.expect_err("the closure panics");
    match panic.downcast::<String>() {
        Ok(text) => *text,
        Err(panic) => (*panic.downcast::<&str>().expect("the panic has a text")).to_owned(),
    }
}
