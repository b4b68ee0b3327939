//! The unit tests of the original crate, which `./test` builds with `--cfg rayon_suite`.
//!
//! `RAYON_SUITE` is the path of a file that declares the modules of the tests. This module has the
//! internal functions of the original that they call.

use std::thread;
use std::time::Duration;

use crate::registry::Registry;

/// Functions of the original's module `unwind`.
pub(crate) mod unwind {
    use std::panic::{AssertUnwindSafe, catch_unwind};
    use std::thread;

    pub(crate) fn halt_unwinding<R>(call: impl FnOnce() -> R) -> thread::Result<R> {
        catch_unwind(AssertUnwindSafe(call))
    }
}

impl Registry {
    pub(crate) fn num_threads(&self) -> usize {
        self.worker_count()
    }

    /// Returns when all threads of the pool have ended.
    pub(crate) fn wait_until_stopped(&self) {
        while !self.tasks().have_threads_ended() {
            thread::sleep(Duration::from_millis(1));
        }
    }
}

include!(env!("RAYON_SUITE"));
