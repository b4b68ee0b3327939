//! The flag by which a panic in one part of a loop ends the other parts.

use raddle_sync::prim::{AtomicBool, Relaxed};

/// A flag that is set once a body of the loop has panicked. Items that have not begun by then are
/// skipped.
#[derive(Debug)]
pub(super) struct Stop(AtomicBool);

impl Stop {
    /// Creates the flag of a loop that begins.
    pub(super) fn new() -> Self {
        Self(AtomicBool::new(false))
    }

    /// Returns true if the loop ends with a panic.
    #[inline]
    pub(super) fn is_set(&self) -> bool {
        // Relaxed: a hint. The panic itself reaches the caller through its join.
        self.0.load(Relaxed)
    }

    /// Calls `run`. If it panics, the other parts of the loop stop at their next step.
    #[inline]
    pub(super) fn unless_panics<R>(&self, run: impl FnOnce() -> R) -> R {
        /// Sets the flag unless it is forgotten.
        struct SetOnUnwind<'a>(&'a AtomicBool);
        impl Drop for SetOnUnwind<'_> {
            #[cold]
            fn drop(&mut self) {
                // Relaxed: as in `is_set`.
                self.0.store(true, Relaxed);
            }
        }
        let unwinding = SetOnUnwind(&self.0);
        let result = run();
        std::mem::forget(unwinding);
        result
    }
}
