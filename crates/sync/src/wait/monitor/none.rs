//! The replacement where the processor has no monitored wait, and in models, where a monitored wait
//! is one check and a yield.

use crate::prim::{AtomicU32, Relaxed, yield_now};

pub(super) const MISSING: &str = "this processor has no monitored wait that is known here";

/// The monitored wait of models; on other machines it is never created.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Kind;

pub(super) fn detect() -> Option<Kind> {
    cfg!(any(loom, shuttle)).then_some(Kind)
}

impl Kind {
    pub(super) const fn name(self) -> &'static str {
        "model"
    }

    pub(super) fn wait(self, word: &AtomicU32, expected: u32) {
        // Relaxed: the wait publishes nothing.
        if word.load(Relaxed) == expected {
            yield_now();
        }
    }
}
