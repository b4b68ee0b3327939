//! A flag that says whether something rare has ever been made, and that costs next to nothing to read.
//!
//! A thread that makes the rare thing notes that first, and then looks for those whom it concerns. A thread
//! that changes so that the thing no longer concerns it changes first, and then reads the flag: at least
//! one of the two sees the other.
//!
//! # Memory ordering
//! | label | release side | acquire side | what one of them sees |
//! |---|---|---|---|
//! | E1 | [`note`](Ever::note) stores `is_noted`, heavy fence, looks | changes, light fence, [`was_noted`](Ever::was_noted) loads | the other's store |
//! | E2 | `note` stores `is_fenced` after its heavy fence | a later `note` loads it, which saves its own fence | what the fence showed |

use std::fmt;

use crate::const_fn;
use crate::prim::{Acquire, AtomicBool, Relaxed, Release, heavy_fence, light_fence};

/// A flag that is set once and never cleared.
#[derive(Default)]
pub struct Ever {
    is_noted: AtomicBool,
    /// The heavy fence that follows is over.
    is_fenced: AtomicBool,
}

impl Ever {
    const_fn! {
        /// Nothing has been made.
        #[must_use]
        pub const fn new() -> Self {
            Self {
                is_noted: AtomicBool::new(false),
                is_fenced: AtomicBool::new(false),
            }
        }
    }

    /// Notes that something is about to be made. Cost: a load; a heavy fence, the first time.
    pub fn note(&self) {
        // ORDERING(E2): Acquire, what the fence of an earlier call showed.
        if !self.is_fenced.load(Acquire) {
            // ORDERING(E1): Relaxed, before the fence.
            self.is_noted.store(true, Relaxed);
            heavy_fence();
            // ORDERING(E2): Release, the fence is over.
            self.is_fenced.store(true, Release);
        }
    }

    /// True when something may have been made, for a thread that has changed before it asks.
    #[inline]
    pub fn was_noted(&self) -> bool {
        light_fence();
        // ORDERING(E1): Relaxed, after the fence.
        self.is_noted.load(Relaxed)
    }
}

impl fmt::Debug for Ever {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_tuple("Ever").field(&self.is_noted).finish()
    }
}
