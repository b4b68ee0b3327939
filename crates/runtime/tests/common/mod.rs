//! Builds the runtimes of several test programs.

use raddle_runtime::{Builder, Runtime};

/// Builds a runtime with `workers` workers.
pub(crate) fn runtime(workers: usize) -> Runtime {
    runtime_with(workers, |builder| builder)
}

/// Builds a runtime with `workers` workers and the settings that `configure` adds.
pub(crate) fn runtime_with(workers: usize, configure: impl FnOnce(Builder) -> Builder) -> Runtime {
    configure(Runtime::builder().workers(workers))
        .build()
        .expect("the runtime starts")
}
