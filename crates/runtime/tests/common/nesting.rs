//! Nested calls on blocking threads: each call uses the runtime again.

use std::sync::Arc;

use raddle_runtime::Runtime;

/// Makes a worker wait for a blocking thread, which waits for a worker, and so on.
///
/// Returns the number of levels, `depth`.
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
