//! The ticket lock: a thread draws a number, and waits until it is served. Fair.
//!
//! The single-try form draws a number only if that number would be served at once. A thread that
//! finds the lock taken has drawn nothing, and can go elsewhere. This form serves its waiters in no
//! particular order.
//!
//! # Memory ordering
//! | label | release side | acquire side | what it publishes |
//! | --- | --- | --- | --- |
//! | L2 | `unlock` stores `serving` | `lock`, `try_lock` load it | what the last holder did |
//! # Invariants
//! 1. `serving` is never ahead of `next`. The lock is free if the two are equal.
//! 2. Only the holder stores `serving`.
//! # Source
//! Hoffmann, Korch, Rauber, SC 2004, figures 5 and 6; DQ-BL-TL-TRY-C for the single try. Reed,
//! Kanodia: Synchronization with eventcounts and sequencers. CACM 22(2), 1979.

use super::Lock;
use crate::backoff::Backoff;
use crate::prim::{Acquire, AtomicU64, Relaxed, Release};

/// A fair lock that consists of two numbers.
#[derive(Debug)]
pub struct TicketLock {
    next: AtomicU64,
    serving: AtomicU64,
}

impl Default for TicketLock {
    fn default() -> Self {
        Self::new()
    }
}

impl TicketLock {
    crate::const_fn! {
        /// Creates a free lock.
        pub const fn new() -> Self {
            Self {
                next: AtomicU64::new(0),
                serving: AtomicU64::new(0),
            }
        }
    }

    /// Returns true if a thread waits for the lock.
    pub fn is_contended(&self) -> bool {
        // Relaxed: a hint, like the next load.
        let next = self.next.load(Relaxed);
        // Relaxed: as above.
        next.wrapping_sub(self.serving.load(Relaxed)) > 1
    }

    #[cold]
    fn wait_for(&self, ticket: u64) {
        let mut backoff = Backoff::new();
        // ORDERING(L2): Acquire: what the last holder did.
        while self.serving.load(Acquire) != ticket {
            backoff.pause();
        }
    }
}

// SAFETY: each number is drawn once, and served once (invariant 2).
unsafe impl Lock for TicketLock {
    #[inline]
    fn lock(&self) {
        // Relaxed: the number publishes no other memory.
        let ticket = self.next.fetch_add(1, Relaxed);
        // ORDERING(L2): Acquire: what the last holder did.
        if self.serving.load(Acquire) != ticket {
            self.wait_for(ticket);
        }
    }

    #[inline]
    fn try_lock(&self) -> bool {
        // ORDERING(L2): Acquire: what the last holder did, in case its number turns out to be free.
        let serving = self.serving.load(Acquire);
        // Relaxed: on success `serving` has not changed, because no thread held the lock (invariant
        // 1).
        self.next
            .compare_exchange(serving, serving.wrapping_add(1), Relaxed, Relaxed)
            .is_ok()
    }

    #[inline]
    unsafe fn unlock(&self) {
        // Relaxed: only the holder stores it (invariant 2).
        let ticket = self.serving.load(Relaxed);
        // ORDERING(L2): Release: what this holder did.
        self.serving.store(ticket.wrapping_add(1), Release);
    }
}

/// A ticket lock that draws a ticket only if it would be served at once.
#[derive(Debug, Default)]
pub struct SingleTryTicketLock {
    lock: TicketLock,
}

impl SingleTryTicketLock {
    crate::const_fn! {
        /// Creates a free lock.
        pub const fn new() -> Self {
            Self {
                lock: TicketLock::new(),
            }
        }
    }
}

// SAFETY: as for the ticket lock.
unsafe impl Lock for SingleTryTicketLock {
    #[inline]
    fn lock(&self) {
        let mut backoff = Backoff::new();
        while !self.try_lock() {
            backoff.retreat();
        }
    }

    #[inline]
    fn try_lock(&self) -> bool {
        self.lock.try_lock()
    }

    #[inline]
    unsafe fn unlock(&self) {
        // SAFETY: the caller holds the lock (contract).
        unsafe { self.lock.unlock() };
    }
}
