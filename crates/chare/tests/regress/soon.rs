//! A time limit for calls that may hang.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::mpsc;

use crate::blocker::PATIENCE;

/// Runs a closure on a thread of its own, and fails after the time limit instead of hanging.
#[track_caller]
pub(crate) fn soon<R: Send + 'static>(call: impl FnOnce() -> R + Send + 'static) -> R {
    let (done, result) = mpsc::channel();
    std::thread::spawn(move || {
        let _ = done.send(catch_unwind(AssertUnwindSafe(call)).map_err(|_| "it panicked"));
    });
    match result.recv_timeout(PATIENCE) {
        Ok(Ok(result)) => result,
        Ok(Err(panicked)) => panic!("{panicked}"),
        Err(_) => panic!("it hangs"),
    }
}
