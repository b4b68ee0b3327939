//! The locks of the study. Any program can use them through `RawMutex` of the `lock_api` crate.
//!
//! | lock | a waiter spins on | order | size in words | suitable for |
//! | --- | --- | --- | --- | --- |
//! | [`PthreadLock`] | nothing: it sleeps | none | 2, and 5 (a) | comparison; blocking sections |
//! | [`SimpleLock`] | the one word | none | 1 byte | short sections, few threads |
//! | [`TicketLock`] | the current number | arrival | 2 | short sections; threads ≤ CPUs |
//! | [`SingleTryTicketLock`] | the current number | none | 2 | sections to skip, not wait for |
//! | [`ClhLock`] | its predecessor's node | arrival | 2, and a node (b) | many threads |
//!
//! (a) On the heap, from the first use on. (b) One node per thread, on the heap, from its first use
//! on.
//!
//! A fair lock hands over in the order of arrival, even to a thread that has just lost its CPU.
//! With more threads than CPUs, the simple lock is therefore faster. All waits yield the CPU after
//! about a microsecond ([`crate::backoff`]).
//!
//! # Machine code of the atomics
//! The study writes each lock twice, for processors with compare-and-swap and for those with
//! load-reserve and store-conditional. Here one source is compiled for both:
//!
//! | operation | x86-64 | AArch64 | AArch64 with LSE |
//! | --- | --- | --- | --- |
//! | load Acquire; store Release | `mov`; `mov` | `ldar` (`ldapr` with RCPC); `stlr` | the same |
//! | swap AcqRel | `xchg` | `ldaxr` `stlxr` in a loop | `swpal` |
//! | fetch-and-add Relaxed | `lock xadd` | `ldxr` `add` `stxr` in a loop | `ldadd` |
//! | CAS (compare-and-swap), Acquire | `lock cmpxchg` | `ldaxr` `cmp` `stxr` in a loop | `casa` |
//! | CAS, Release | `lock cmpxchg` | `ldxr` `cmp` `stlxr` in a loop | `casl` |
//! | two-word CAS, AcqRel | calls `lock cmpxchg16b` | `ldaxp` `stlxp` in a loop | `caspal` |
//!
//! Not every x86-64 processor has the compare-and-swap of two words. The operation therefore calls
//! a function through a pointer, which the first use sets. That function uses the instruction or,
//! if there is none, a lock.
//!
//! The AArch64 target of Rust for Linux does not assume LSE. There the operations call small
//! functions that choose between the last two columns when the program starts (outlined atomics).
//!
//! # Source
//! Hoffmann, Korch, Rauber: Performance evaluation of task pools based on hardware synchronization.
//! SC 2004, sect. 2. Scott: Shared-memory synchronization. Morgan & Claypool, 2013, chapter 4.

mod clh;
#[cfg(not(any(loom, shuttle)))]
mod pthread;
mod simple;
mod ticket;

use std::fmt;

use crate::prim::UnsafeCell;

pub use clh::ClhLock;
#[cfg(not(any(loom, shuttle)))]
pub use pthread::PthreadLock;
pub use simple::SimpleLock;
pub use ticket::{SingleTryTicketLock, TicketLock};

/// The replacement in models, which have no operating system.
#[cfg(any(loom, shuttle))]
pub type PthreadLock = SimpleLock;

/// Mutual exclusion without data: the kind of lock that a pool is configured with.
///
/// # Safety
/// Between the return of `lock`, or of `try_lock` with `true`, and the next `unlock`, no other call
/// of these two succeeds. The next thread that gets the lock sees everything that a thread did
/// before `unlock`.
pub unsafe trait Lock: Default + Send + Sync + fmt::Debug {
    /// Waits for the lock.
    fn lock(&self);

    /// Takes the lock if that is possible without waiting.
    #[must_use = "if this is true, the lock must be unlocked"]
    fn try_lock(&self) -> bool;

    /// Releases the lock.
    ///
    /// # Safety
    /// The calling thread holds the lock.
    unsafe fn unlock(&self);
}

/// Data protected by a lock.
#[derive(Default)]
pub struct Locked<L, T> {
    lock: L,
    data: UnsafeCell<T>,
}

// SAFETY: the lock gives one thread at a time access to the data.
unsafe impl<L: Lock, T: Send> Sync for Locked<L, T> {}

impl<L: fmt::Debug, T> fmt::Debug for Locked<L, T> {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter
            .debug_struct("Locked")
            .field("lock", &self.lock)
            .finish_non_exhaustive()
    }
}

impl<L: Lock, T> Locked<L, T> {
    /// Creates `data` with a free lock.
    pub fn new(data: T) -> Self {
        Self {
            lock: L::default(),
            data: UnsafeCell::new(data),
        }
    }

    /// Waits for the lock, and calls `change` with the data.
    ///
    /// A thread that calls this inside `change`, for the same data, waits for itself for ever, as
    /// with any lock that is not reentrant.
    #[inline]
    pub fn with<R>(&self, change: impl FnOnce(&mut T) -> R) -> R {
        self.lock.lock();
        self.change_and_unlock(change)
    }

    /// Calls `change` with the data if the lock is free. Does not wait.
    #[inline]
    pub fn try_with<R>(&self, change: impl FnOnce(&mut T) -> R) -> Option<R> {
        self.lock.try_lock().then(|| self.change_and_unlock(change))
    }

    #[inline]
    fn change_and_unlock<R>(&self, change: impl FnOnce(&mut T) -> R) -> R {
        /// A guard that unlocks, even if `change` panics.
        struct Unlock<'a, L: Lock>(&'a L);
        impl<L: Lock> Drop for Unlock<'_, L> {
            #[inline]
            fn drop(&mut self) {
                // SAFETY: created right after this thread took the lock.
                unsafe { self.0.unlock() };
            }
        }
        let _unlock = Unlock(&self.lock);
        self.data.with_mut(|data| {
            // SAFETY: this thread holds the lock until this function returns.
            change(unsafe { &mut *data })
        })
    }
}

/// Implements `lock_api::RawMutex`. It needs a constant initial value, which the atomics of a model
/// do not have.
#[cfg(not(any(loom, shuttle)))]
macro_rules! raw_mutex {
    ($($lock:ident)*) => {$(
        // SAFETY: the contract of `Lock`.
        unsafe impl lock_api::RawMutex for $lock {
            const INIT: Self = Self::new();
            type GuardMarker = lock_api::GuardNoSend;

            #[inline]
            fn lock(&self) {
                Lock::lock(self);
            }

            #[inline]
            fn try_lock(&self) -> bool {
                Lock::try_lock(self)
            }

            #[inline]
            unsafe fn unlock(&self) {
                // SAFETY: the caller holds the lock (contract of `RawMutex`).
                unsafe { Lock::unlock(self) };
            }
        }
    )*};
}
#[cfg(not(any(loom, shuttle)))]
raw_mutex!(PthreadLock SimpleLock TicketLock SingleTryTicketLock ClhLock);

#[cfg(all(test, not(any(loom, shuttle))))]
mod tests;
