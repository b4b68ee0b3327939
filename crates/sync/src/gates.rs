//! The gates of a fork stack: how hungry workers make a busy one look up, at no cost to it until they do.
//!
//! The owner compares addresses it has at hand with two words that others seldom write: a push below `push`, and a pop at
//! or above `pop`, pass. Closing both makes the next push or pop fail its compare and go the slow way, where the owner
//! opens the gates again and answers. Askers that go to sleep leave a bit, to be told of the answer.
//!
//! # Memory ordering
//! | label | release side                                  | acquire side                                    | what it publishes  |
//! |-------|-----------------------------------------------|-------------------------------------------------|--------------------|
//! | G1    | `close_and_wait` fences between its bit and closing | `open` fences after the closed gate was seen, before it takes the bits | who wants to be told |
//! | G2    | `follow` fences between opening and looking for who asks | `close_and_wait` fences between its bit and closing; a sleeper's fence in `IdleSet::sleep` does the same | one of the two closes last |
//!
//! The owner's compares are Relaxed: a closed gate that is seen late costs the asker time, never work.
//! # Misuse
//! The gates are three words, and their functions touch no other memory. Where another thread calls a function that
//! is for the owner alone, askers may hear late of an answer or not at all.
//! # Invariants
//! 1. A bit that is set is taken by the owner, or the gates are closed: who opens takes the bits after that, or looks for
//!    them and closes again, and an asker closes after it has set its bit.

use std::ptr;

use crate::prim::{Acquire, AtomicPtr, AtomicU64, Relaxed, SeqCst, fence};

/// The part of a fork stack that other workers write. `T` is what a slot holds.
#[derive(Debug)]
pub struct Gates<T> {
    push: AtomicPtr<T>,
    pop: AtomicPtr<T>,
    /// Sleeping askers: bit `worker_index mod 64`.
    askers: AtomicU64,
}

impl<T> Gates<T> {
    crate::const_fn! {
        /// Gates that are closed.
        pub const fn new() -> Self {
            Self {
                push: AtomicPtr::new(ptr::null_mut()),
                pop: AtomicPtr::new(ptr::null_mut()),
                askers: AtomicU64::new(0),
            }
        }
    }

    /// True when a push to `slot` needs no second look. For the owner alone.
    #[inline]
    pub fn lets_push(&self, slot: *mut T) -> bool {
        // Relaxed: see the header.
        slot < self.push.load(Relaxed)
    }

    /// True when a pop of `slot` needs no second look. For the owner alone.
    #[inline]
    pub fn lets_pop(&self, slot: *mut T) -> bool {
        // Relaxed: see the header.
        slot >= self.pop.load(Relaxed)
    }

    /// True when somebody closed the gates. One load of a line that is seldom written.
    #[inline]
    pub fn are_closed(&self) -> bool {
        // Relaxed: see the header.
        self.push.load(Relaxed).is_null()
    }

    /// Closes the gates. Costs two stores, which nobody waits for; who asks again and again looks first.
    #[inline]
    pub fn close(&self) {
        // Relaxed: the gates carry nothing but themselves.
        self.push.store(ptr::null_mut(), Relaxed);
        // Relaxed: as above.
        self.pop
            .store(ptr::without_provenance_mut(usize::MAX), Relaxed);
    }

    /// Closes the gates for an asker that will sleep, and is to be told when there is an answer.
    ///
    /// Gates that are closed already are closed again: their owner may be opening them just now.
    pub fn close_and_wait(&self, asker: usize) {
        // Relaxed: published by the stores that follow.
        self.askers.fetch_or(1 << (asker % 64), Relaxed);
        // ORDERING(G1, G2): the bit is out before the gates are closed.
        fence(SeqCst);
        self.close();
    }

    /// Opens the gates for pushes below `end` and pops from `base`.
    ///
    /// # Safety
    /// The caller is the owner: it pushes and pops by these gates, below `end` there is room, and forks below `base` are published.
    pub unsafe fn open(&self, end: *mut T, base: *mut T) {
        // Relaxed: an ask that is overwritten here is answered by the caller, or left its bit.
        self.push.store(end, Relaxed);
        // Relaxed: as above.
        self.pop.store(base, Relaxed);
    }

    /// Lets the open gates follow the base, and leaves closed ones closed.
    ///
    /// An ask that comes just then may be overwritten: so the owner looks again for who asks, among those that left a bit
    /// and by `anyone_sleeps` among the others, and closes the gates for them.
    ///
    /// # Safety
    /// As [`open`](Self::open).
    pub unsafe fn follow(&self, end: *mut T, base: *mut T, anyone_sleeps: impl FnOnce() -> bool) {
        if !self.are_closed() {
            // SAFETY: as the caller promises.
            unsafe { self.open_unless_asked(end, base, anyone_sleeps) };
        }
    }

    /// Opens the gates, and closes them again if somebody asks: an ask may just have been overwritten.
    ///
    /// # Safety
    /// As [`open`](Self::open).
    pub unsafe fn open_unless_asked(
        &self,
        end: *mut T,
        base: *mut T,
        anyone_sleeps: impl FnOnce() -> bool,
    ) {
        // SAFETY: as the caller promises.
        unsafe { self.open(end, base) };
        // ORDERING(G2): opened before the look for who asks.
        fence(SeqCst);
        // Relaxed: ordered by the fence.
        if self.askers.load(Relaxed) != 0 || anyone_sleeps() {
            self.close();
        }
    }

    /// Opens the gates and takes the bits of the sleeping askers, which are to be told.
    ///
    /// # Safety
    /// As [`open`](Self::open).
    pub unsafe fn open_and_take(&self, end: *mut T, base: *mut T) -> u64 {
        // SAFETY: as the caller promises.
        unsafe { self.open(end, base) };
        // ORDERING(G1): Acquire, whoever closed the gate that brought us here has its bit set.
        fence(Acquire);
        self.take_askers()
    }

    /// True when somebody who asked sleeps, and is to be told. For the owner alone.
    #[inline]
    pub fn has_askers(&self) -> bool {
        // Relaxed: ordered by a fence of the caller's.
        self.askers.load(Relaxed) != 0
    }

    /// Takes the bits of the sleeping askers. For the owner alone.
    #[inline]
    pub fn take_askers(&self) -> u64 {
        // Relaxed: a look that spares an exchange.
        if self.askers.load(Relaxed) == 0 {
            return 0;
        }
        // Relaxed: a bit carries nothing but itself.
        self.askers.swap(0, Relaxed)
    }
}

impl<T> Default for Gates<T> {
    fn default() -> Self {
        Self::new()
    }
}
