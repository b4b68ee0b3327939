//! The message of an expected panic.

use std::panic::{AssertUnwindSafe, catch_unwind};

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
