//! The simple lock: one word, test and test-and-set.
//!
//! A waiter reads the word without writing it, and tries to set it when it is free. The more often
//! it has failed, the longer it pauses.
//!
//! # Memory ordering
//! | label | release side          | acquire side                   | what it publishes        |
//! |-------|-----------------------|--------------------------------|--------------------------|
//! | L1    | `unlock` stores false | `lock`, `try_lock` CAS to true | what the last holder did |
//! # Source
//! Hoffmann, Korch, Rauber, SC 2004, figures 3 and 4; Rudolph, Segall: Dynamic decentralized cache
//! schemes for MIMD parallel processors. ISCA 1984 (the test before the test-and-set).

use super::Lock;
use crate::backoff::Backoff;
use crate::prim::{Acquire, AtomicBool, Relaxed, Release};

/// A lock of one byte, which serves its waiters in no particular order.
#[derive(Debug)]
pub struct SimpleLock {
    locked: AtomicBool,
}

impl Default for SimpleLock {
    fn default() -> Self {
        Self::new()
    }
}

impl SimpleLock {
    crate::const_fn! {
        /// Creates a free lock.
        pub const fn new() -> Self {
            Self {
                locked: AtomicBool::new(false),
            }
        }
    }

    #[inline]
    fn try_set(&self) -> bool {
        self.locked
            // ORDERING(L1): Acquire: what the last holder did.
            .compare_exchange(false, true, Acquire, Relaxed)
            .is_ok()
    }

    #[cold]
    fn lock_slow(&self) {
        let mut backoff = Backoff::new();
        loop {
            backoff.retreat();
            if self.try_lock() {
                return;
            }
        }
    }
}

// SAFETY: the word is true from the CAS that found it false to the holder's store.
unsafe impl Lock for SimpleLock {
    #[inline]
    fn lock(&self) {
        if !self.try_set() {
            self.lock_slow();
        }
    }

    #[inline]
    fn try_lock(&self) -> bool {
        // Relaxed: this check avoids a write to a cache line that the holder needs.
        !self.locked.load(Relaxed) && self.try_set()
    }

    #[inline]
    unsafe fn unlock(&self) {
        // ORDERING(L1): Release: what this holder did.
        self.locked.store(false, Release);
    }
}
