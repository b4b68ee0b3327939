//! A value that one owner uses all the time, nearly for nothing, and others seldom, dearly.
//!
//! The owner says that it is inside, and looks whether anybody else is: two plain stores and a load. Who else wants the value says so, has
//! the system put a fence into the owner's thread ([`heavy_fence`]), and waits until the owner is out.
//!
//! # Memory ordering
//! | label | one side                                            | other side                                                |
//! |-------|-----------------------------------------------------|-----------------------------------------------------------|
//! | B1    | owner: stores `inside`, light fence, loads `wanted` | another: stores `wanted`, heavy fence, loads `inside`     |
//! | B2    | owner: stores `inside` false, Release               | another loads it, Acquire: what the owner did             |
//! | B3    | another stores `wanted` false, Release              | owner loads it, Acquire: what the other did               |
//! # Invariants
//! 1. The value is the owner's while it is `inside` and has seen nobody who wants it; else that of whoever has the lock of `others`, has
//!    said so, and has seen the owner outside.
//! # Source
//! Biased locking with an asymmetric Dekker duel: Dice, Huang, Yang: Asymmetric Dekker synchronization. 2001.

use std::fmt;
use std::marker::PhantomData;
use std::sync::Arc;

use crossbeam_utils::CachePadded;

use crate::backoff::Backoff;
use crate::lock::{Lock, SimpleLock};
use crate::prim::{
    Acquire, AtomicBool, Relaxed, Release, UnsafeCell, heavy_fence, light_fence, prepare_fences,
};

/// The owner's way to the value. There is one; it may move between threads.
pub struct Owner<T> {
    shared: Arc<Shared<T>>,
    not_sync: PhantomData<std::cell::Cell<()>>,
}

/// Everybody else's.
pub struct Others<T> {
    shared: Arc<Shared<T>>,
}

struct Shared<T> {
    inside: CachePadded<AtomicBool>,
    wanted: CachePadded<AtomicBool>,
    others: SimpleLock,
    value: UnsafeCell<T>,
}

// SAFETY: one thread at a time has the value (invariant 1).
unsafe impl<T: Send> Sync for Shared<T> {}
// SAFETY: as above.
unsafe impl<T: Send> Send for Shared<T> {}

impl<T> fmt::Debug for Owner<T> {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_struct("Owner").finish_non_exhaustive()
    }
}

impl<T> fmt::Debug for Others<T> {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_struct("Others").finish_non_exhaustive()
    }
}

/// Divides a value between its owner and all others.
pub fn biased<T>(value: T) -> (Owner<T>, Others<T>) {
    let _can_be_light = prepare_fences();
    let shared = Arc::new(Shared {
        inside: CachePadded::new(AtomicBool::new(false)),
        wanted: CachePadded::new(AtomicBool::new(false)),
        others: SimpleLock::new(),
        value: UnsafeCell::new(value),
    });
    let owner = Owner {
        shared: Arc::clone(&shared),
        not_sync: PhantomData,
    };
    (owner, Others { shared })
}

impl<T> Owner<T> {
    /// Calls `change`, which must be short, not nested, and not panic, with the value. Waits while somebody else has it.
    #[inline]
    pub fn with<R>(&self, change: impl FnOnce(&mut T) -> R) -> R {
        let shared = &*self.shared;
        // Relaxed: ordered by the fence.
        shared.inside.store(true, Relaxed);
        // ORDERING(B1): we say so before we look.
        light_fence();
        // ORDERING(B3): Acquire, what another one did.
        if shared.wanted.load(Acquire) {
            shared.wait_inside();
        }
        // SAFETY: ours (invariant 1).
        let result = shared
            .value
            .with_mut(|value| change(unsafe { &mut *value }));
        // ORDERING(B2): Release, what we did.
        shared.inside.store(false, Release);
        result
    }
}

impl<T> Others<T> {
    /// Calls `change`, which must be short, not nested, and not panic, with the value. Cost: a heavy fence.
    #[cold]
    pub fn with<R>(&self, change: impl FnOnce(&mut T) -> R) -> R {
        let shared = &*self.shared;
        shared.others.lock();
        // Relaxed: ordered by the fence.
        shared.wanted.store(true, Relaxed);
        // ORDERING(B1): we say so before we look.
        heavy_fence();
        let mut backoff = Backoff::new();
        // ORDERING(B2): Acquire, what the owner did.
        while shared.inside.load(Acquire) {
            backoff.pause();
        }
        // SAFETY: ours (invariant 1).
        let result = shared
            .value
            .with_mut(|value| change(unsafe { &mut *value }));
        // ORDERING(B3): Release, what we did.
        shared.wanted.store(false, Release);
        // SAFETY: locked above.
        unsafe { shared.others.unlock() };
        result
    }
}

impl<T> Shared<T> {
    /// The owner lets another one go first.
    #[cold]
    fn wait_inside(&self) {
        loop {
            // ORDERING(B2): Release, what we did before; nothing this time.
            self.inside.store(false, Release);
            let mut backoff = Backoff::new();
            // ORDERING(B3): Acquire, what the other one did.
            while self.wanted.load(Acquire) {
                backoff.pause();
            }
            // Relaxed: ordered by the fence.
            self.inside.store(true, Relaxed);
            // ORDERING(B1): as in `with`.
            light_fence();
            // ORDERING(B3): as in `with`.
            if !self.wanted.load(Acquire) {
                return;
            }
        }
    }
}
