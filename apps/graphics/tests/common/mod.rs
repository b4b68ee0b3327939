//! Set-up that the tests of this crate share.

use raddle::Runtime;

/// Starts a runtime with `worker_count` workers.
pub(crate) fn runtime(worker_count: usize) -> Runtime {
    Runtime::builder()
        .workers(worker_count)
        .build()
        .expect("the workers start")
}
