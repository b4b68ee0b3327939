//! Waiting for something that is about to happen: pause, and give the CPU away when it does not come.
//!
//! For the short waits of locks and of lost races, where the other side is in the middle of a few instructions. Whoever may
//! have to wait for long waits in a [wait cell](crate::wait). When more threads run than there are CPUs, the other side
//! may have been interrupted; so every wait goes over to giving the CPU away.

use crate::prim::{LIGHT, spin_loop, yield_now};

/// Looks before the CPU is given away: about a microsecond, longer than what a lock here protects.
const LOOKS_MAX: u32 = if LIGHT { 0 } else { 64 };
/// Pauses between two attempts of one that retreats, at most.
const PAUSES_MAX: u32 = 64;

/// How long one wait has taken so far.
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
    /// The begin of a wait.
    #[inline]
    pub const fn new() -> Self {
        Self {
            looks: 0,
            pauses: 1,
        }
    }

    /// Pauses before the next look at a word that nobody else waits for: briefly, so that the change is seen at once.
    #[inline]
    pub fn pause(&mut self) {
        if self.looks >= LOOKS_MAX {
            yield_now();
        } else {
            self.looks += 1;
            spin_loop();
        }
    }

    /// Pauses before the next attempt at a word that others attempt too: longer each time, so that one of them succeeds.
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
