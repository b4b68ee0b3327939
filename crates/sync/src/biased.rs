//! A value that one owner uses all the time at next to no cost, and that other threads use seldom and at a high cost.
//!
//! The owner says that it is inside, and looks whether another thread wants the value: two plain stores
//! and two loads. Another thread that wants the value says so, has the system put a fence into the
//! owner's thread ([`heavy_fence`]), and waits until the owner is outside.
//!
//! # States
//! Both words are zero, or the [mark](thread_mark) of a thread: `inside` of the thread that uses the
//! owner, `wanted` of the other thread that has the value or waits for the owner to leave.
//!
//! # Memory ordering
//! | label | one side | other side |
//! | --- | --- | --- |
//! | B1 | owner: stores `inside`, light fence, loads `wanted` | another: stores `wanted`, heavy fence, loads `inside` |
//! | B2 | owner: stores `inside` zero, Release | another loads it, Acquire: what the owner did |
//! | B3 | another stores `wanted` zero, Release | owner loads it, Acquire: what the other did |
//! # Invariants
//! 1. The owner has the value while `inside` is set and it has seen `wanted` zero. Another thread has it
//!    while it holds the lock `others`, has set `wanted`, and has seen `inside` zero.
//! 2. A thread that is inside one use begins no other: a word that holds its own mark shows it, and the
//!    call panics. No other thread stores that mark, so a relaxed load of it is exact.
//! 3. A use ends when its guard is dropped, by a return or by a panic: both words are zero again, and
//!    `others` is free.
//! # Source
//! Biased locking with an asymmetric Dekker duel: Dice, Huang, Yang: Asymmetric Dekker synchronization. 2001.

use std::fmt;
use std::marker::PhantomData;
use std::sync::Arc;

use crossbeam_utils::CachePadded;

use crate::backoff::Backoff;
use crate::lock::{Lock, SimpleLock};
use crate::prim::{
    Acquire, AtomicUsize, Relaxed, Release, UnsafeCell, heavy_fence, light_fence, prepare_fences,
    thread_mark,
};

/// In place of a mark: the owner is outside, or no other thread wants the value.
const NONE: usize = 0;

/// The owner's access to the value. There is one; it may move between threads.
pub struct Owner<T> {
    shared: Arc<Shared<T>>,
    not_sync: PhantomData<std::cell::Cell<()>>,
}

/// The access of all other threads.
pub struct Others<T> {
    shared: Arc<Shared<T>>,
}

struct Shared<T> {
    inside: CachePadded<AtomicUsize>,
    wanted: CachePadded<AtomicUsize>,
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
        inside: CachePadded::new(AtomicUsize::new(NONE)),
        wanted: CachePadded::new(AtomicUsize::new(NONE)),
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
    /// Calls `change` with the value, after waiting while another thread has it.
    ///
    /// `change` should be short: other threads that want the value spin meanwhile.
    ///
    /// # Panics
    /// When the calling thread is inside a use of this value already, through either end.
    #[inline]
    pub fn with<R>(&self, change: impl FnOnce(&mut T) -> R) -> R {
        let shared = &*self.shared;
        let _inside = shared.enter();
        // SAFETY: ours (invariant 1), and by nobody else on this thread (invariant 2).
        shared
            .value
            .with_mut(|value| change(unsafe { &mut *value }))
    }
}

impl<T> Others<T> {
    /// Calls `change` with the value, after waiting while another thread has it. Cost: a heavy fence.
    ///
    /// `change` should be short: other threads that want the value spin meanwhile.
    ///
    /// # Panics
    /// When the calling thread is inside a use of this value already, through either end.
    #[cold]
    pub fn with<R>(&self, change: impl FnOnce(&mut T) -> R) -> R {
        let shared = &*self.shared;
        let _wanted = shared.want();
        // SAFETY: ours (invariant 1), and by nobody else on this thread (invariant 2).
        shared
            .value
            .with_mut(|value| change(unsafe { &mut *value }))
    }
}

impl<T> Shared<T> {
    /// Takes the value for the owner.
    #[inline]
    fn enter(&self) -> Inside<'_, T> {
        // Relaxed: only the owner stores it, which is this thread.
        if self.inside.load(Relaxed) != NONE {
            refuse_nested();
        }
        let mark = thread_mark();
        // Relaxed: ordered by the fence.
        self.inside.store(mark, Relaxed);
        let inside = Inside(self);
        // ORDERING(B1): we say so before we look.
        light_fence();
        // ORDERING(B3): Acquire, what another one did.
        if self.wanted.load(Acquire) != NONE {
            self.wait_inside(mark);
        }
        inside
    }

    /// Lets another thread go first, then takes the value for the owner.
    #[cold]
    fn wait_inside(&self, mark: usize) {
        // Relaxed: exact for this thread's own mark (invariant 2).
        if self.wanted.load(Relaxed) == mark {
            refuse_nested();
        }
        loop {
            // ORDERING(B2): Release, what we did before; nothing this time.
            self.inside.store(NONE, Release);
            let mut backoff = Backoff::new();
            // ORDERING(B3): Acquire, what the other one did.
            while self.wanted.load(Acquire) != NONE {
                backoff.pause();
            }
            // Relaxed: ordered by the fence.
            self.inside.store(mark, Relaxed);
            // ORDERING(B1): as in `enter`.
            light_fence();
            // ORDERING(B3): as in `enter`.
            if self.wanted.load(Acquire) == NONE {
                return;
            }
        }
    }

    /// Takes the value for another thread.
    fn want(&self) -> Wanted<'_, T> {
        let mark = thread_mark();
        // Relaxed: exact for this thread's own mark (invariant 2).
        if [&self.inside, &self.wanted]
            .map(|word| word.load(Relaxed))
            .contains(&mark)
        {
            refuse_nested();
        }
        self.others.lock();
        let wanted = Wanted(self);
        // Relaxed: ordered by the fence.
        self.wanted.store(mark, Relaxed);
        // ORDERING(B1): we say so before we look.
        heavy_fence();
        let mut backoff = Backoff::new();
        // ORDERING(B2): Acquire, what the owner did.
        while self.inside.load(Acquire) != NONE {
            backoff.pause();
        }
        wanted
    }
}

#[cold]
fn refuse_nested() -> ! {
    panic!("this thread has the biased value already: its uses must not be nested");
}

/// The owner is inside until this is dropped.
struct Inside<'shared, T>(&'shared Shared<T>);

impl<T> Drop for Inside<'_, T> {
    #[inline]
    fn drop(&mut self) {
        // ORDERING(B2): Release, what we did.
        self.0.inside.store(NONE, Release);
    }
}

/// Another thread has the lock `others`, and wants or has the value, until this is dropped.
struct Wanted<'shared, T>(&'shared Shared<T>);

impl<T> Drop for Wanted<'_, T> {
    fn drop(&mut self) {
        // ORDERING(B3): Release, what we did.
        self.0.wanted.store(NONE, Release);
        // SAFETY: made by the thread that locked it.
        unsafe { self.0.others.unlock() };
    }
}
