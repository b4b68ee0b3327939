//! Whether something rare has ever been made, asked often and at next to no cost.
//!
//! Who makes the rare thing notes that first, and then looks for those whom it concerns. Who changes so that it no longer concerns him does so first,
//! and then asks: at least one of the two sees the other.
//!
//! # Memory ordering
//! | label | who makes | who changes | what one of them sees |
//! |---|---|---|---|
//! | E1 | [`note`](Ever::note) stores, heavy fence, looks | changes, light fence, [`was_noted`](Ever::was_noted) loads | the other's store |

use std::fmt;

use crate::const_fn;
use crate::prim::{AtomicBool, Relaxed, heavy_fence, light_fence};

/// A flag that is set once and asked for ever.
#[derive(Default)]
pub struct Ever(AtomicBool);

impl Ever {
    const_fn! {
        /// Nothing has been made.
        #[must_use]
        pub const fn new() -> Self {
            Self(AtomicBool::new(false))
        }
    }

    /// Notes that something is about to be made. Callers exclude each other, as by a lock, so that who comes later sees what the first saw.
    /// Cost: a heavy fence, the first time.
    pub fn note(&self) {
        // ORDERING(E1): Relaxed, before the fence; nobody else stores meanwhile.
        if !self.0.load(Relaxed) {
            self.0.store(true, Relaxed);
            heavy_fence();
        }
    }

    /// Whether something may have been made, for who has changed before he asks.
    #[inline]
    pub fn was_noted(&self) -> bool {
        light_fence();
        // ORDERING(E1): Relaxed, after the fence.
        self.0.load(Relaxed)
    }
}

impl fmt::Debug for Ever {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_tuple("Ever").field(&self.0).finish()
    }
}
