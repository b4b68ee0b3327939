//! What most of them need.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::mpsc;
use std::time::Duration;

use raddle_runtime::Runtime;

/// Beyond this, something hangs.
const PATIENCE: Duration = Duration::from_secs(60);

/// A runtime of so many workers.
pub(crate) fn runtime(workers: usize) -> Runtime {
    let builder = Runtime::builder().workers(workers);
    builder.build().expect("the runtime starts")
}

/// Fails instead of hanging.
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
