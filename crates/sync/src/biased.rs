//! A value that its owner uses often and almost for free, and that other threads use rarely and at
//! a high cost.
//!
//! The owner announces that it is inside, and checks whether another thread wants the value. This
//! takes two plain stores and two loads. Another thread that wants the value announces that, makes
//! the system execute a fence in the owner's thread ([`heavy_fence`]), and waits until the owner is
//! outside.
//!
//! # States
//! Both words are zero, or the [mark](thread_mark) of a thread. `inside` contains the mark of the
//! thread that uses the value as its owner. `wanted` contains the mark of the other thread that has
//! the value, or waits for the owner to leave.
//!
//! # Memory ordering
//! | label | one side                      | other side                    | effect              |
//! |-------|-------------------------------|-------------------------------|---------------------|
//! | B1    | owner: stores `inside`, light | other: stores `wanted`, heavy | one sees the other  |
//! |       | fence, loads `wanted`         | fence, loads `inside`         |                     |
//! | B2    | owner: `inside` = 0, Release  | other: loads it, Acquire      | the owner's changes |
//! | B3    | other: `wanted` = 0, Release  | owner: loads it, Acquire      | the other's changes |
//! # Invariants
//! 1. The owner has the value while `inside` is set and the owner has seen `wanted` = 0. Another
//!    thread has the value while it holds the lock `others`, has set `wanted`, and has seen
//!    `inside` = 0.
//! 2. A thread that is inside a use cannot begin another one: a word contains its own mark then,
//!    and the call panics. No other thread stores that mark, so a Relaxed load is exact for it.
//! 3. A use ends when its guard is dropped, by a return or by a panic. The word of the use is zero
//!    again then, and `others` is free if the use held it.
//! # Source
//! Biased locking with an asymmetric Dekker duel: Dice, Huang, Yang: Asymmetric Dekker
//! synchronization. 2001.

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

/// The value of a word without a mark: the owner is outside, or no other thread wants the value.
const NONE: usize = 0;

/// The owner's access to the value. There is only one, which may move between threads.
pub struct Owner<T> {
    shared: Arc<Shared<T>>,
    not_sync: PhantomData<std::cell::Cell<()>>,
}

/// The access of all other threads to the value.
pub struct Others<T> {
    shared: Arc<Shared<T>>,
}

struct Shared<T> {
    inside: CachePadded<AtomicUsize>,
    wanted: CachePadded<AtomicUsize>,
    others: SimpleLock,
    value: UnsafeCell<T>,
}

// SAFETY: only one thread at a time has the value (invariant 1).
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

/// Creates the two accesses to a value: one for its owner, one for all other threads.
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
    /// Calls `change` with the value. Waits while another thread has it.
    ///
    /// `change` should be short: other threads that want the value spin meanwhile.
    ///
    /// # Panics
    /// If the calling thread is inside a use of this value already, through either access.
    #[inline]
    pub fn with<R>(&self, change: impl FnOnce(&mut T) -> R) -> R {
        let shared = &*self.shared;
        let _inside = shared.enter();
        // SAFETY: this thread has the value (invariant 1), and no other use on this thread does
        // (invariant 2).
        shared
            .value
            .with_mut(|value| change(unsafe { &mut *value }))
    }
}

impl<T> Others<T> {
    /// Calls `change` with the value. Waits while another thread has it. Costs a heavy fence.
    ///
    /// `change` should be short: other threads that want the value spin meanwhile.
    ///
    /// # Panics
    /// If the calling thread is inside a use of this value already, through either access.
    #[cold]
    pub fn with<R>(&self, change: impl FnOnce(&mut T) -> R) -> R {
        let shared = &*self.shared;
        let _wanted = shared.want();
        // SAFETY: this thread has the value (invariant 1), and no other use on this thread does
        // (invariant 2).
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
        // ORDERING(B1): `inside` is stored before `wanted` is loaded.
        light_fence();
        // ORDERING(B3): Acquire: the changes of another thread.
        if self.wanted.load(Acquire) != NONE {
            self.wait_inside(mark);
        }
        inside
    }

    /// Lets another thread go first, and then takes the value for the owner.
    #[cold]
    fn wait_inside(&self, mark: usize) {
        // Relaxed: exact for this thread's own mark (invariant 2).
        if self.wanted.load(Relaxed) == mark {
            refuse_nested();
        }
        loop {
            // ORDERING(B2): Release: earlier changes; this use has made none yet.
            self.inside.store(NONE, Release);
            let mut backoff = Backoff::new();
            // ORDERING(B3): Acquire: the changes of the other thread.
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
        // ORDERING(B1): `wanted` is stored before `inside` is loaded.
        heavy_fence();
        let mut backoff = Backoff::new();
        // ORDERING(B2): Acquire: the changes of the owner.
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

/// A guard: the owner is inside until this is dropped.
struct Inside<'shared, T>(&'shared Shared<T>);

impl<T> Drop for Inside<'_, T> {
    #[inline]
    fn drop(&mut self) {
        // ORDERING(B2): Release: the changes of this use.
        self.0.inside.store(NONE, Release);
    }
}

/// A guard: another thread holds the lock `others`, and wants or has the value, until this is
/// dropped.
struct Wanted<'shared, T>(&'shared Shared<T>);

impl<T> Drop for Wanted<'_, T> {
    fn drop(&mut self) {
        // ORDERING(B3): Release: the changes of this use.
        self.0.wanted.store(NONE, Release);
        // SAFETY: the guard was created by the thread that took the lock.
        unsafe { self.0.others.unlock() };
    }
}
