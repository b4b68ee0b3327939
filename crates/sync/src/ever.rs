//! A flag that records that a rare thing was ever made, and that is almost free to read.
//!
//! Two rules make the flag safe to use:
//!
//! - A thread that makes the rare thing sets the flag first ([`note`](Ever::note)), and then looks
//!   for the threads that the thing concerns.
//! - A thread that changes its state so that the thing no longer concerns it changes the state
//!   first, and then reads the flag ([`was_noted`](Ever::was_noted)).
//!
//! At least one of the two threads then sees the store of the other.
//!
//! # Memory ordering
//! - **E1** lets at least one side see the other's store. One side: `note` stores `is_noted`,
//!   executes a heavy fence, and its caller looks. Other side: the caller changes its state, and
//!   `was_noted` executes a light fence and loads the flag.
//! - **E2** publishes that the heavy fence is over. Release side: `note` stores `is_fenced` after
//!   its heavy fence. Acquire side: a later `note` loads it, and skips its own fence.

use std::fmt;

use crate::const_fn;
use crate::prim::{Acquire, AtomicBool, Relaxed, Release, heavy_fence, light_fence};

/// A flag that is set once and never cleared.
#[derive(Default)]
pub struct Ever {
    is_noted: AtomicBool,
    /// Set when the heavy fence after the store of `is_noted` is over.
    is_fenced: AtomicBool,
}

impl Ever {
    const_fn! {
        /// Creates a flag that is not set.
        #[must_use]
        pub const fn new() -> Self {
            Self {
                is_noted: AtomicBool::new(false),
                is_fenced: AtomicBool::new(false),
            }
        }
    }

    /// Records that the rare thing is about to be made. Costs a load, and the first time a heavy
    /// fence.
    pub fn note(&self) {
        // ORDERING(E2): Acquire: the effect of the fence of an earlier call.
        if !self.is_fenced.load(Acquire) {
            // ORDERING(E1): Relaxed: the heavy fence below orders it.
            self.is_noted.store(true, Relaxed);
            heavy_fence();
            // ORDERING(E2): Release: the fence is over.
            self.is_fenced.store(true, Release);
        }
    }

    /// Returns true if the rare thing may have been made. The caller has changed its state before
    /// the call.
    #[inline]
    pub fn was_noted(&self) -> bool {
        light_fence();
        // ORDERING(E1): Relaxed: the light fence above orders it.
        self.is_noted.load(Relaxed)
    }
}

impl fmt::Debug for Ever {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_tuple("Ever").field(&self.is_noted).finish()
    }
}
