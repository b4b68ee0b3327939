//! Calls on blocking threads that use the runtime again, each inside of the one before.

use std::sync::Arc;

use raddle_runtime::Runtime;

/// A runtime that calls can take with them.
pub(crate) fn runtime(workers: usize) -> Arc<Runtime> {
    let runtime = Runtime::builder().workers(workers).build();
    Arc::new(runtime.expect("a runtime"))
}

/// A worker waits for a blocking thread, which waits for a worker, and so on. Returns the depth.
pub(crate) fn nest(runtime: &Arc<Runtime>, depth: usize) -> usize {
    if depth == 0 {
        return 0;
    }
    let below = Arc::clone(runtime);
    let call = move || {
        let inner = Arc::clone(&below);
        below.install(move || nest(&inner, depth - 1))
    };
    1 + runtime.spawn_blocking(call).wait()
}
