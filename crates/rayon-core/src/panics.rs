//! Panics for which no thread waits: the pool's handler gets them, or the process aborts.

use std::any::Any;
use std::io::Write;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;

/// The payload of a panic.
pub(crate) type Payload = Box<dyn Any + Send>;

/// The panic handler of a pool.
pub(crate) type PanicHandler = Arc<dyn Fn(Payload) + Send + Sync>;

/// Calls `call`. Gives its panic to `handler`, or aborts the process without one, or if the handler
/// panics itself.
pub(crate) fn run_guarded(handler: Option<&PanicHandler>, call: impl FnOnce()) {
    let Err(payload) = catch_unwind(AssertUnwindSafe(call)) else {
        return;
    };
    let abort = AbortOnDrop;
    if let Some(handler) = handler {
        handler(payload);
        std::mem::forget(abort);
    }
}

/// Drops a value, and discards a panic of its destructor in favour of the panic that follows.
pub(crate) fn discard<T>(value: T) {
    if let Err(payload) = catch_unwind(AssertUnwindSafe(|| drop(value))) {
        // Its destructor may panic again.
        std::mem::forget(payload);
    }
}

/// Aborts the process when it is dropped, also while unwinding.
struct AbortOnDrop;

impl Drop for AbortOnDrop {
    fn drop(&mut self) {
        const REASON: &[u8] = b"rayon-core: no panic handler took a panic; the process aborts\n";
        // The process ends either way.
        let _ = std::io::stderr().write_all(REASON);
        std::process::abort();
    }
}
