//! Backoff for short waits: pauses first, and yields the CPU if the wait takes longer.
//!
//! Use it for the short waits of locks and lost races, in which the other thread is in the middle
//! of a few instructions. A thread that may have to wait for long uses a [wait cell](crate::wait).
//! If there are more threads than CPUs, the other thread may have been interrupted; therefore every
//! wait eventually yields the CPU.

use crate::prim::{LIGHT, spin_loop, yield_now};

/// The number of pauses before the CPU is yielded: about a microsecond, longer than the critical
/// sections of the locks in this crate.
const LOOKS_MAX: u32 = if LIGHT { 0 } else { 64 };
/// The maximum number of pauses between two attempts in [`Backoff::retreat`].
const PAUSES_MAX: u32 = 64;

/// The state of one wait.
#[derive(Clone, Copy, Debug)]
pub struct Backoff {
    looks: u32,
    pauses: u32,
}

impl Default for Backoff {
    fn default() -> Self {
        Self::new()
    }
}

impl Backoff {
    /// Starts a wait.
    #[inline]
    pub const fn new() -> Self {
        Self {
            looks: 0,
            pauses: 1,
        }
    }

    /// Pauses before the next check of a word that no other thread competes for. The pause is
    /// short, so that the change is seen at once.
    #[inline]
    pub fn pause(&mut self) {
        if self.looks >= LOOKS_MAX {
            yield_now();
        } else {
            self.looks += 1;
            spin_loop();
        }
    }

    /// Pauses before the next attempt to change a word that other threads try to change too. Each
    /// pause is longer than the one before, so that one thread succeeds.
    #[inline]
    pub fn retreat(&mut self) {
        if self.looks >= LOOKS_MAX {
            yield_now();
            return;
        }
        for _ in 0..self.pauses {
            spin_loop();
        }
        self.looks += self.pauses;
        self.pauses = (2 * self.pauses).min(PAUSES_MAX);
    }
}
