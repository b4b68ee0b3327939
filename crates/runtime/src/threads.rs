//! The settings of the threads of a runtime: their names, their stack sizes, and the functions that
//! they call at their start and end.

use std::fmt;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;

use crate::panics::{OnPanic, discard};

/// A function that a worker thread calls with its worker index.
pub(crate) type OnThread = Arc<dyn Fn(usize) + Send + Sync>;

/// The settings of the worker threads of one runtime.
#[derive(Clone, Debug, Default)]
pub(crate) struct WorkerThreads {
    pub(crate) name: String,
    /// The stack size in bytes; `None` for the default of the standard library.
    pub(crate) stack_bytes: Option<usize>,
    pub(crate) handlers: Handlers,
}

/// The functions that a runtime calls on its threads; see [`Builder`](crate::Builder).
#[derive(Clone, Default)]
pub(crate) struct Handlers {
    pub(crate) start: Option<OnThread>,
    pub(crate) exit: Option<OnThread>,
    pub(crate) panic: Option<OnPanic>,
}

impl Handlers {
    /// Calls the start handler and discards its panic.
    pub(crate) fn call_start(&self, worker_index: usize) {
        call(self.start.as_deref(), worker_index);
    }

    /// Calls the exit handler and discards its panic.
    pub(crate) fn call_exit(&self, worker_index: usize) {
        call(self.exit.as_deref(), worker_index);
    }
}

fn call(handler: Option<&(dyn Fn(usize) + Send + Sync)>, worker_index: usize) {
    if let Some(handler) = handler {
        discard(catch_unwind(AssertUnwindSafe(|| handler(worker_index))));
    }
}

impl fmt::Debug for Handlers {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter
            .debug_struct("Handlers")
            .field("start", &self.start.is_some())
            .field("exit", &self.exit.is_some())
            .field("panic", &self.panic.is_some())
            .finish()
    }
}

/// Returns the name of a thread: `name` followed by `end`.
///
/// Linux keeps only 15 bytes of a name, so `name` is cut to keep `end` whole.
pub(crate) fn thread_name(name: &str, end: &str) -> String {
    const NAME_BYTES_MAX: usize = 15;
    let kept_bytes = NAME_BYTES_MAX.saturating_sub(end.len());
    let kept = name.floor_char_boundary(kept_bytes);
    format!("{}{end}", &name[..kept])
}
