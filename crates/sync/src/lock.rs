//! The locks of the study, each usable by any program through the `lock_api` crate's `RawMutex`.
//!
//! | lock | what a waiter looks at | order | words | for |
//! |---|---|---|---|---|
//! | [`PthreadLock`] | sleeps in the kernel | none | 2, and 5 on the heap from its first use | comparison; critical sections that block |
//! | [`SimpleLock`] | the one word | none | 1 byte | short sections, few threads |
//! | [`TicketLock`] | the number now served | arrival | 2 | short sections, as many threads as CPUs |
//! | [`SingleTryTicketLock`] | the number now served | none | 2 | sections that one would rather skip than wait for |
//! | [`ClhLock`] | its predecessor's node | arrival | 2, and a node a thread, from the heap when it is first needed | many threads |
//!
//! A fair lock hands over in the order of arrival, also to a thread that has just lost its CPU: with more threads than
//! CPUs, the simple lock is quicker. All waits give the CPU away after about a microsecond ([`crate::backoff`]).
//!
//! # What an atomic becomes
//! The study writes each lock twice, for processors with compare-and-swap and for those with load-reserve and
//! store-conditional. Here one source is compiled for both:
//!
//! | operation | x86-64 | AArch64 | AArch64 with LSE |
//! |---|---|---|---|
//! | load Acquire; store Release | `mov`; `mov` | `ldar` (`ldapr` with RCPC); `stlr` | the same |
//! | swap AcqRel | `xchg` | `ldaxr` `stlxr` in a loop | `swpal` |
//! | fetch-and-add Relaxed | `lock xadd` | `ldxr` `add` `stxr` in a loop | `ldadd` |
//! | compare-and-swap Acquire | `lock cmpxchg` | `ldaxr` `cmp` `stxr` in a loop | `casa` |
//! | compare-and-swap Release | `lock cmpxchg` | `ldxr` `cmp` `stlxr` in a loop | `casl` |
//! | compare-and-swap of two words, AcqRel | a call of `lock cmpxchg16b` | `ldaxp` `stlxp` in a loop | `caspal` |
//!
//! Not every x86-64 processor has the compare-and-swap of two words: it goes through a pointer, which its first use sets, to a
//! function that uses the instruction or, where there is none, a lock.
//!
//! The AArch64 target of Rust for Linux does not assume LSE; there the operations call small functions that choose
//! between the last two columns when the program starts (outlined atomics).
//!
//! # Source
//! Hoffmann, Korch, Rauber: Performance evaluation of task pools based on hardware synchronization. SC 2004, sect. 2.
//! Scott: Shared-memory synchronization. Morgan & Claypool, 2013, chapter 4.

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

/// In a model there is no operating system, whose lock is then the simple one.
#[cfg(any(loom, shuttle))]
pub type PthreadLock = SimpleLock;

/// Mutual exclusion without data: what a pool is told to use.
///
/// # Safety
/// Between the return of `lock`, or `true` of `try_lock`, and the next `unlock`, no other call of these two succeeds; and
/// what a thread did before `unlock` is seen by the next one that has the lock.
pub unsafe trait Lock: Default + Send + Sync + fmt::Debug {
    /// Waits for the lock.
    fn lock(&self);

    /// Takes the lock if that needs no waiting.
    #[must_use = "on true the lock must be unlocked"]
    fn try_lock(&self) -> bool;

    /// Gives the lock back.
    ///
    /// # Safety
    /// The caller's thread has it.
    unsafe fn unlock(&self);
}

/// Data under a lock.
#[derive(Default)]
pub struct Locked<L, T> {
    lock: L,
    data: UnsafeCell<T>,
}

// SAFETY: the lock lets one thread at a time to the data.
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
    /// `data` under a free lock.
    pub fn new(data: T) -> Self {
        Self {
            lock: L::default(),
            data: UnsafeCell::new(data),
        }
    }

    /// Calls `change` with the data, after waiting for the lock.
    ///
    /// A thread that calls this inside `change`, for the same data, waits for itself: for ever, as with any
    /// lock that is not counted.
    #[inline]
    pub fn with<R>(&self, change: impl FnOnce(&mut T) -> R) -> R {
        self.lock.lock();
        self.change_and_unlock(change)
    }

    /// Calls `change` with the data if that needs no waiting.
    #[inline]
    pub fn try_with<R>(&self, change: impl FnOnce(&mut T) -> R) -> Option<R> {
        self.lock.try_lock().then(|| self.change_and_unlock(change))
    }

    #[inline]
    fn change_and_unlock<R>(&self, change: impl FnOnce(&mut T) -> R) -> R {
        /// Also when `change` panics.
        struct Unlock<'a, L: Lock>(&'a L);
        impl<L: Lock> Drop for Unlock<'_, L> {
            #[inline]
            fn drop(&mut self) {
                // SAFETY: made right after this thread got the lock.
                unsafe { self.0.unlock() };
            }
        }
        let _unlock = Unlock(&self.lock);
        self.data.with_mut(|data| {
            // SAFETY: we have the lock until this function ends.
            change(unsafe { &mut *data })
        })
    }
}

/// Makes a lock usable through `lock_api`, whose constant initial value a model's atomics do not have.
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
                // SAFETY: the caller has the lock (contract of `RawMutex`).
                unsafe { Lock::unlock(self) };
            }
        }
    )*};
}
#[cfg(not(any(loom, shuttle)))]
raw_mutex!(PthreadLock SimpleLock TicketLock SingleTryTicketLock ClhLock);

#[cfg(all(test, not(any(loom, shuttle))))]
mod tests;
