//! The gates of a fork stack: two words with which idle workers ask a busy worker for work.
//!
//! The owner of the stack compares addresses that it has at hand with the two words. A push to a
//! slot below `push` passes, and so does a pop of a slot at or above `pop`. Other threads write the
//! two words only to close them, so the owner pays almost nothing until it is asked.
//!
//! An idle worker (an asker) closes both gates. The owner's next push or pop then fails its compare
//! and takes the slow path, in which the owner opens the gates again and answers. An asker that
//! goes to sleep leaves its bit, so that the owner notifies it of the answer.
//!
//! While the owner is *watched*, open gates let nothing pass either: every push and pop takes the
//! slow path, which records it. This costs nothing while the owner is not watched.
//!
//! # Memory ordering
//! - **G1** makes the bits of sleeping askers visible to the owner. Release side: `close_and_wait`
//!   executes a fence between setting its bit and closing the gates. Acquire side: `open_and_take`
//!   executes a fence after the owner saw a closed gate, before it takes the bits.
//! - **G2** guarantees that one of the two sides closes the gates last. One side:
//!   `open_unless_asked` executes a fence between opening the gates and checking for askers. Other
//!   side: `close_and_wait` executes a fence between setting its bit and closing the gates; the
//!   fence of a sleeper in `IdleSet::sleep` has the same effect.
//!
//! The owner's compares are Relaxed. If the owner sees a closed gate late, the asker loses time,
//! but no work is lost.
//! # Misuse
//! The gates are three words, and their functions access no other memory. If another thread calls a
//! function that only the owner may call, askers may be notified late, or not at all.
//! # Invariants
//! 1. If a bit is set, either the owner takes it later or the gates are closed. An owner that opens
//!    the gates takes the bits afterwards, or checks for askers and closes the gates again. An
//!    asker closes the gates after it has set its bit.

use std::ptr;

use crate::prim::{Acquire, AtomicBool, AtomicPtr, AtomicU64, Relaxed, SeqCst, fence};

/// The part of a fork stack that other workers write. `T` is the type of a slot.
#[derive(Debug)]
pub struct Gates<T> {
    push: AtomicPtr<T>,
    pop: AtomicPtr<T>,
    /// The sleeping askers: bit `worker_index mod 64` is set for each.
    askers: AtomicU64,
    is_watched: AtomicBool,
}

/// The value of `push` in watched gates that are open: not null, and below all slots.
const WATCHED: usize = 1;

impl<T> Gates<T> {
    crate::const_fn! {
        /// Creates gates that are closed.
        pub const fn new() -> Self {
            Self {
                push: AtomicPtr::new(ptr::null_mut()),
                pop: AtomicPtr::new(ptr::null_mut()),
                askers: AtomicU64::new(0),
                is_watched: AtomicBool::new(false),
            }
        }
    }

    /// Returns true if a push to `slot` may proceed without the slow path. Only for the owner.
    #[inline]
    pub fn lets_push(&self, slot: *mut T) -> bool {
        // Relaxed: see the header.
        slot < self.push.load(Relaxed)
    }

    /// Returns true if a pop of `slot` may proceed without the slow path. Only for the owner.
    #[inline]
    pub fn lets_pop(&self, slot: *mut T) -> bool {
        // Relaxed: see the header.
        slot >= self.pop.load(Relaxed)
    }

    /// Returns true if the gates are closed. Costs one load of a rarely written cache line.
    #[inline]
    pub fn are_closed(&self) -> bool {
        // Relaxed: see the header.
        self.push.load(Relaxed).is_null()
    }

    /// Begins or ends watching the owner. Takes effect when the gates are opened next. Only for the
    /// owner.
    pub fn watch(&self, is_watched: bool) {
        // Relaxed: only the owner reads it.
        self.is_watched.store(is_watched, Relaxed);
    }

    /// Returns true if the owner is watched. Only for the owner.
    #[inline]
    pub fn are_watched(&self) -> bool {
        // Relaxed: only the owner writes it.
        self.is_watched.load(Relaxed)
    }

    /// Closes the gates. Costs two stores that the caller does not wait for.
    ///
    /// A thread that asks repeatedly should check [`are_closed`](Self::are_closed) first.
    #[inline]
    pub fn close(&self) {
        // Relaxed: the gates publish no other memory.
        self.push.store(ptr::null_mut(), Relaxed);
        // Relaxed: as above.
        self.pop
            .store(ptr::without_provenance_mut(usize::MAX), Relaxed);
    }

    /// Closes the gates for an asker that is about to sleep, and registers it for a notification.
    ///
    /// Closes the gates even if they are closed already, because the owner may be opening them at
    /// the same moment.
    pub fn close_and_wait(&self, asker: usize) {
        // Relaxed: the fence below orders the bit before the gates.
        self.askers.fetch_or(1 << (asker % 64), Relaxed);
        // ORDERING(G1, G2): the bit is visible before the gates are closed.
        fence(SeqCst);
        self.close();
    }

    /// Opens the gates for pushes below `end` and pops from `base`.
    ///
    /// # Safety
    /// The caller is the owner, which pushes and pops by these gates. The slots below `end` are
    /// allocated, and the forks below `base` are published.
    pub unsafe fn open(&self, end: *mut T, base: *mut T) {
        let (end, base) = match self.are_watched() {
            true => (
                ptr::without_provenance_mut(WATCHED),
                ptr::without_provenance_mut(usize::MAX),
            ),
            false => (end, base),
        };
        // Relaxed: the caller answers a request that this overwrites, or the asker left its bit.
        self.push.store(end, Relaxed);
        // Relaxed: as above.
        self.pop.store(base, Relaxed);
    }

    /// Updates open gates after the base has changed, and leaves closed gates closed.
    ///
    /// The update may overwrite a request that arrives at the same moment. The owner therefore
    /// checks for askers again: for their bits, and by `anyone_sleeps` for sleepers without a bit.
    /// If there are any, it closes the gates for them.
    ///
    /// # Safety
    /// As for [`open`](Self::open).
    pub unsafe fn follow(&self, end: *mut T, base: *mut T, anyone_sleeps: impl FnOnce() -> bool) {
        if !self.are_closed() {
            // SAFETY: as the caller promises.
            unsafe { self.open_unless_asked(end, base, anyone_sleeps) };
        }
    }

    /// Opens the gates. Closes them again if there are askers, since opening may have overwritten a
    /// request.
    ///
    /// # Safety
    /// As for [`open`](Self::open).
    pub unsafe fn open_unless_asked(
        &self,
        end: *mut T,
        base: *mut T,
        anyone_sleeps: impl FnOnce() -> bool,
    ) {
        // SAFETY: as the caller promises.
        unsafe { self.open(end, base) };
        // ORDERING(G2): the gates are open before the check for askers.
        fence(SeqCst);
        // Relaxed: ordered by the fence.
        if self.askers.load(Relaxed) != 0 || anyone_sleeps() {
            self.close();
        }
    }

    /// Opens the gates, and takes and returns the bits of the sleeping askers. The caller notifies
    /// these workers.
    ///
    /// # Safety
    /// As for [`open`](Self::open).
    pub unsafe fn open_and_take(&self, end: *mut T, base: *mut T) -> u64 {
        // SAFETY: as the caller promises.
        unsafe { self.open(end, base) };
        // ORDERING(G1): Acquire: the bit of the asker that closed the gate is visible now.
        fence(Acquire);
        self.take_askers()
    }

    /// Returns true if an asker sleeps and waits for a notification. Only for the owner.
    #[inline]
    pub fn has_askers(&self) -> bool {
        // Relaxed: the caller has executed a fence.
        self.askers.load(Relaxed) != 0
    }

    /// Takes and returns the bits of the sleeping askers. Only for the owner.
    #[inline]
    pub fn take_askers(&self) -> u64 {
        // Relaxed: this check only avoids an exchange.
        if self.askers.load(Relaxed) == 0 {
            return 0;
        }
        // Relaxed: a bit publishes no other memory.
        self.askers.swap(0, Relaxed)
    }
}

impl<T> Default for Gates<T> {
    fn default() -> Self {
        Self::new()
    }
}
