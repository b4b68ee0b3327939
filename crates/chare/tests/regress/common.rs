//! Helpers that most of the tests use.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::mpsc;
use std::time::Duration;

use raddle_runtime::Runtime;

/// A time limit: a test that takes longer hangs.
const PATIENCE: Duration = Duration::from_secs(60);

/// Builds a runtime with `workers` workers.
pub(crate) fn runtime(workers: usize) -> Runtime {
    let builder = Runtime::builder().workers(workers);
    builder.build().expect("the runtime starts")
}

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
