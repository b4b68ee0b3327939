//! A stack of forks that its owner uses with plain loads and stores, and from which other threads
//! can take the oldest.
//!
//! ```text
//!   first                 base                    top                    end
//!     │  published forks    │  private forks        │  room                │
//!     ▼                     ▼                       ▼                      ▼
//!   ┌─────────────────────┬───────────────────────┬──────────────────────┐
//!   └─────────────────────┴───────────────────────┴──────────────────────┘
//! ```
//! The owner pushes and pops private forks at `top`. A private fork becomes public at `base`, in
//! one of two ways:
//!
//! - The owner *answers*. A thread that wants work closes the [gates](crate::gates); the next push
//!   or pop of the owner meets a closed gate and publishes the oldest private fork. This costs the
//!   owner nothing until it is asked.
//! - A thief *raids*. When the owner runs a long leaf, it neither pushes nor pops. The thief then
//!   publishes the oldest private fork itself, without the owner's cooperation. This costs the
//!   thief a heavy fence, and the owner nothing.
//!
//! An *offer* is a fork whose push and pop pass by the gates: its owner publishes it only if
//! something else makes it answer, but a thief can raid it. Loops offer what is left of them while
//! they run a few items.
//!
//! # A raid
//! 1. Under the lock, the thief sets `raided` and closes the gates. The owner opens gates only
//!    under the lock, and only while `raided` is not set. So the gates stay closed until the raid
//!    ends.
//! 2. The thief has the system execute a fence in every thread ([`heavy_fence`]).
//! 3. Under the lock, the thief compares `base` and `top`. If they differ, it publishes the fork at
//!    `base`.
//!
//! A pop lowers `top` first and looks at its gate (an offer: at `raided`) after that. If the look
//! came before the fence of step 2, the lowered `top` is visible in step 3, and the thief leaves
//! the fork alone. If it came after the fence, it met the closed gate (or `raided`), and the owner
//! takes the lock before it decides. The lock is held for a few instructions, never over the fence.
//!
//! # Memory ordering
//! | label | one side                                                  | other side                                          |
//! |-------|-----------------------------------------------------------|-----------------------------------------------------|
//! | K1    | owner: lowers `top`, signal fence, looks at gate or `raided` | thief: closes and sets `raided`, heavy fence, reads `top` |
//! | K2    | owner: stores `top`, Release                              | thief: loads `top`, Acquire: the fork and its slot  |
//! | K3    | thief: clears `raided`, Release                           | owner: `pop_offer` loads it, Acquire: the new `base` |
//!
//! Everything else is ordered by the lock.
//! # Invariants
//! 1. Only the owner changes `top`. `base` changes under the lock.
//! 2. Slots below `base` hold what `publish` returned; slots from `base` to `top` hold forks that
//!    no other thread has seen.
//! 3. While `raided` is set, the gates are closed.
//! # Source
//! The split of a stack into a private and a public part: van Dijk, van de Pol: Lace: non-blocking
//! split deque for work-stealing. Euro-Par 2014 workshops. Publication on request: Acar,
//! Charguéraud, Rainwater: Scheduling parallel programs by work stealing with private deques. PPoPP
//! 2013. The fence that only one side pays for: Dice, Huang, Yang: Asymmetric Dekker
//! synchronization. 2001.

use std::ptr;

use crossbeam_utils::CachePadded;

use crate::gates::Gates;
use crate::lock::{Lock, SimpleLock};
use crate::prim::{
    Acquire, AtomicBool, AtomicPtr, AtomicU64, Relaxed, Release, can_interrupt, heavy_fence,
    signal_fence,
};

/// One entry: a fork while private, what `publish` returned once public.
pub type Slot = AtomicPtr<()>;

/// The stack of one owner. See the [module](self) for the protocol.
#[derive(Debug)]
pub struct SplitStack {
    own: CachePadded<Own>,
    gates: CachePadded<Gates<Slot>>,
    raids: CachePadded<Raids>,
}

/// What the owner writes all the time.
#[derive(Debug)]
struct Own {
    top: AtomicPtr<Slot>,
    base: AtomicPtr<Slot>,
    first: AtomicPtr<Slot>,
    end: AtomicPtr<Slot>,
    /// Forks that the owner has popped and run itself.
    inline: AtomicU64,
    /// Offers that the owner has popped.
    offers: AtomicU64,
}

#[derive(Debug)]
struct Raids {
    raided: AtomicBool,
    lock: SimpleLock,
}

/// A fork that its owner has just made public.
#[derive(Clone, Copy, Debug)]
pub struct Answer {
    /// The fork.
    pub fork: *mut (),
    /// Its slot, which is to hold what stands for the fork from now on.
    pub slot: *mut Slot,
    /// A bit for each sleeping asker: bit `worker_index mod 64`.
    pub askers: u64,
}

/// How far an owner has come. If two readings are equal, the owner has not finished a fork in
/// between.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Progress {
    base: usize,
    inline: u64,
    offers: u64,
}

impl SplitStack {
    crate::const_fn! {
        /// A stack without room, with closed gates.
        pub const fn new() -> Self {
            Self {
                own: CachePadded::new(Own {
                    top: AtomicPtr::new(ptr::null_mut()),
                    base: AtomicPtr::new(ptr::null_mut()),
                    first: AtomicPtr::new(ptr::null_mut()),
                    end: AtomicPtr::new(ptr::null_mut()),
                    inline: AtomicU64::new(0),
                    offers: AtomicU64::new(0),
                }),
                gates: CachePadded::new(Gates::new()),
                raids: CachePadded::new(Raids {
                    raided: AtomicBool::new(false),
                    lock: SimpleLock::new(),
                }),
            }
        }
    }

    /// Makes room for `slot_count` forks. The gates open unless `anyone_sleeps`: a sleeper may have
    /// asked before.
    ///
    /// # Panics
    /// When the stack has room already.
    pub fn make_room(&self, slot_count: usize, anyone_sleeps: impl FnOnce() -> bool) {
        let slots: Box<[Slot]> = (0..slot_count)
            .map(|_| Slot::new(ptr::null_mut()))
            .collect();
        self.raids.locked(|| {
            // Relaxed, here and below: ordered by the lock, or read by the owner alone.
            assert!(
                self.own.first.load(Relaxed).is_null(),
                "a stack gets its room once"
            );
            let first = Box::into_raw(slots).cast::<Slot>();
            let end = first.wrapping_add(slot_count);
            self.own.first.store(first, Relaxed);
            self.own.base.store(first, Relaxed);
            self.own.end.store(end, Relaxed);
            // ORDERING(K2): Release, the slots.
            self.own.top.store(first, Release);
            // SAFETY: these are the room and the base of this stack.
            unsafe { self.gates.open_unless_asked(end, first, anyone_sleeps) };
        });
    }

    /// What threads without work close to ask this owner for a fork.
    #[inline]
    pub fn gates(&self) -> &Gates<Slot> {
        &self.gates
    }

    /// The number of forks that the owner has popped and run itself.
    pub fn inline_count(&self) -> u64 {
        // Relaxed: a statistic.
        self.own.inline.load(Relaxed)
    }

    /// The number of forks and offers that the owner has popped. Changes only while the owner makes
    /// some.
    pub fn activity(&self) -> u64 {
        // Relaxed: a hint.
        self.inline_count()
            .wrapping_add(self.own.offers.load(Relaxed))
    }

    /// The slot that the next fork will have. Changes only by calls of the owner.
    #[inline]
    pub fn top(&self) -> *mut Slot {
        // Relaxed: the owner's own.
        self.own.top.load(Relaxed)
    }

    /// Returns true if a push to `slot`, the top, need not answer. For the owner; false on a stack
    /// without room.
    #[inline]
    pub fn lets_push(&self, slot: *mut Slot) -> bool {
        self.gates.lets_push(slot)
    }

    /// Returns true if there is room at `slot`, the top.
    #[inline]
    pub fn has_room(&self, slot: *mut Slot) -> bool {
        // Relaxed: the owner's own.
        slot != self.own.end.load(Relaxed)
    }

    /// Pushes a fork at `slot`.
    ///
    /// # Safety
    /// The caller is the owner, `slot` is the top, and there is room.
    #[inline]
    pub unsafe fn push(&self, slot: *mut Slot, fork: *mut ()) {
        // SAFETY: a slot within the room (contract), which lives as long as the stack.
        let place = unsafe { &*slot };
        // Relaxed: published by the store of `top`.
        place.store(fork, Relaxed);
        // ORDERING(K2): Release, the fork and its slot.
        self.own.top.store(slot.wrapping_add(1), Release);
    }

    /// Pops the fork at `slot`. Returns true if it is private, and the caller's; otherwise
    /// [`pop_slow`](Self::pop_slow) decides.
    ///
    /// # Safety
    /// The caller is the owner, and `slot` is that of the newest fork that was not popped.
    #[inline]
    #[must_use = "only on true the fork is the caller's"]
    pub unsafe fn pop(&self, slot: *mut Slot) -> bool {
        // Relaxed: ordered by the fence.
        self.own.top.store(slot, Relaxed);
        // ORDERING(K1): lowered before the look at the gate.
        signal_fence();
        self.gates.lets_pop(slot)
    }

    /// Ends a pop that met a closed gate or a published fork. Returns `None` if the fork is
    /// private, and the caller's.
    ///
    /// Otherwise returns what stands for the published fork, which is off the stack then.
    ///
    /// # Safety
    /// As [`pop`](Self::pop), which has returned false.
    pub unsafe fn pop_slow(
        &self,
        slot: *mut Slot,
        anyone_sleeps: impl FnOnce() -> bool,
    ) -> Option<*mut ()> {
        self.raids.locked(|| {
            // Relaxed, here and below: ordered by the lock.
            let base = self.own.base.load(Relaxed);
            if slot >= base {
                return None;
            }
            debug_assert_eq!(
                slot.wrapping_add(1),
                base,
                "joins return in the order of their forks"
            );
            self.own.base.store(slot, Relaxed);
            // Leaves closed gates closed, as they are during a raid (invariant 3).
            // SAFETY: called by the owner, with the end of its room and its base.
            unsafe {
                self.gates
                    .follow(self.own.end.load(Relaxed), slot, anyone_sleeps);
            }
            // SAFETY: a slot within the room (contract).
            let place = unsafe { &*slot };
            Some(place.load(Relaxed))
        })
    }

    /// Pops an offer. Returns `None` if it is still the caller's, as [`pop_slow`](Self::pop_slow)
    /// does.
    ///
    /// # Safety
    /// As [`pop`](Self::pop).
    #[inline]
    pub unsafe fn pop_offer(
        &self,
        slot: *mut Slot,
        anyone_sleeps: impl FnOnce() -> bool,
    ) -> Option<*mut ()> {
        // Relaxed: ordered by the fence.
        self.own.top.store(slot, Relaxed);
        // ORDERING(K1): lowered before the look at `raided`.
        signal_fence();
        // ORDERING(K3): Acquire, the base after the last raid.
        // Relaxed for the base: it changes by this thread, or by a raid that has been seen to end.
        if self.raids.raided.load(Acquire) || self.own.base.load(Relaxed) > slot {
            // SAFETY: as the caller promises.
            let published = unsafe { self.pop_raided(slot, anyone_sleeps) };
            if published.is_some() {
                return published;
            }
        }
        Self::count(&self.own.offers);
        None
    }

    /// [`pop_slow`](Self::pop_slow), out of the way of those who pop offers all the time.
    ///
    /// # Safety
    /// As [`pop`](Self::pop).
    #[cold]
    #[inline(never)]
    unsafe fn pop_raided(
        &self,
        slot: *mut Slot,
        anyone_sleeps: impl FnOnce() -> bool,
    ) -> Option<*mut ()> {
        // SAFETY: as the caller promises.
        unsafe { self.pop_slow(slot, anyone_sleeps) }
    }

    /// Counts a fork that its owner has popped and runs itself. For the owner.
    #[inline]
    pub fn count_inline(&self) {
        Self::count(&self.own.inline);
    }

    #[inline]
    fn count(counter: &AtomicU64) {
        // Relaxed: a statistic that only the owner writes.
        counter.store(counter.load(Relaxed).wrapping_add(1), Relaxed);
    }

    /// Opens the gates and makes the oldest private fork public. Returns `None`, with the gates
    /// unchanged, without one.
    ///
    /// # Safety
    /// The caller is the owner, and calls [`publish`](Self::publish) before its next pop.
    pub unsafe fn answer(&self) -> Option<Answer> {
        self.raids.locked(|| {
            // Relaxed, here and below: ordered by the lock, or the owner's own.
            let slot = self.own.base.load(Relaxed);
            if slot == self.own.top.load(Relaxed) {
                return None;
            }
            let base = slot.wrapping_add(1);
            self.own.base.store(base, Relaxed);
            let askers = if self.raids.raided.load(Relaxed) {
                self.gates.take_askers()
            } else {
                // SAFETY: called by the owner, with the end of its room and its base.
                unsafe { self.gates.open_and_take(self.own.end.load(Relaxed), base) }
            };
            // SAFETY: a slot between base and top, within the room.
            let place = unsafe { &*slot };
            Some(Answer {
                fork: place.load(Relaxed),
                slot,
                askers,
            })
        })
    }

    /// Puts what stands for a published fork into its slot.
    ///
    /// # Safety
    /// The caller is the owner, and `slot` is that of an [`Answer`] whose fork was not popped.
    pub unsafe fn publish(&self, slot: *mut Slot, stands_for_it: *mut ()) {
        // SAFETY: a slot within the room (contract).
        let place = unsafe { &*slot };
        // Relaxed: below the base, only the owner reads it.
        place.store(stands_for_it, Relaxed);
    }

    /// Returns the owner's progress, or `None` if it has no private fork. A hint, for threads that
    /// may raid.
    pub fn progress(&self) -> Option<Progress> {
        // Relaxed, here and below: a hint.
        let base = self.own.base.load(Relaxed);
        (base < self.own.top.load(Relaxed)).then(|| Progress {
            base: base.addr(),
            inline: self.own.inline.load(Relaxed),
            offers: self.own.offers.load(Relaxed),
        })
    }

    /// Publishes the owner's oldest private fork for it. Returns false without one, during another
    /// raid, and where the system has no heavy fence.
    ///
    /// `publish` gets the fork and its slot and returns what stands for the fork from now on. It
    /// runs under the lock: it must be short. Costs a heavy fence (about a microsecond, and an
    /// interrupt of each CPU that runs a thread of the process).
    ///
    /// The gates are closed afterwards, so that the owner publishes its next fork itself.
    pub fn raid(&self, publish: impl FnOnce(*mut (), *mut Slot) -> *mut ()) -> bool {
        if !can_interrupt() || !self.begin_raid() {
            return false;
        }
        // Also when `publish` panics.
        let _end = EndRaid(&self.raids.raided);
        // ORDERING(K1): closed before `top` is read.
        heavy_fence();
        self.raids.locked(|| {
            // Relaxed: ordered by the lock.
            let slot = self.own.base.load(Relaxed);
            // ORDERING(K2): Acquire, the fork and its slot.
            let found = slot < self.own.top.load(Acquire);
            if found {
                // SAFETY: a slot between base and top, within the room.
                let place = unsafe { &*slot };
                // Relaxed, here and below: K2, and the lock.
                place.store(publish(place.load(Relaxed), slot), Relaxed);
                self.own.base.store(slot.wrapping_add(1), Relaxed);
            }
            found
        })
    }

    /// Ends a raid whose thread does not exist in this process. For the owner, in a child process
    /// that its own thread has made by fork(2).
    ///
    /// A raid may have ended halfway, so the slot of the oldest private fork may hold what stands
    /// for it already. Pops work as before; [`answer`](Self::answer) must not be called any more.
    ///
    /// # Safety
    /// The caller is the only thread of its process that uses the stack, now and later, and does not
    /// call [`answer`](Self::answer).
    pub unsafe fn forget_raids(&self) {
        // Relaxed: there is no other thread.
        self.raids.raided.store(false, Relaxed);
        // SAFETY: whoever holds the lock is in another process (contract).
        unsafe { self.raids.lock.unlock() };
    }

    fn begin_raid(&self) -> bool {
        self.raids.locked(|| {
            // Relaxed, here and below: ordered by the lock, and by the fence that follows.
            if self.raids.raided.load(Relaxed) {
                return false;
            }
            self.raids.raided.store(true, Relaxed);
            self.gates.close();
            true
        })
    }
}

/// Ends a raid.
struct EndRaid<'a>(&'a AtomicBool);

impl Drop for EndRaid<'_> {
    fn drop(&mut self) {
        // ORDERING(K3): Release, the base.
        self.0.store(false, Release);
    }
}

impl Raids {
    /// Calls `change` under the lock.
    fn locked<R>(&self, change: impl FnOnce() -> R) -> R {
        /// Unlocks, also when `change` panics.
        struct Unlock<'a>(&'a SimpleLock);
        impl Drop for Unlock<'_> {
            fn drop(&mut self) {
                // SAFETY: made right after this thread got the lock.
                unsafe { self.0.unlock() };
            }
        }
        self.lock.lock();
        let _unlock = Unlock(&self.lock);
        change()
    }
}

impl Default for SplitStack {
    fn default() -> Self {
        Self::new()
    }
}

impl Drop for SplitStack {
    fn drop(&mut self) {
        // Relaxed: nobody else has the stack any more.
        let first = self.own.first.load(Relaxed);
        if first.is_null() {
            return;
        }
        let count = (self.own.end.load(Relaxed).addr() - first.addr()) / size_of::<Slot>();
        let slots = ptr::slice_from_raw_parts_mut(first, count);
        // SAFETY: made by `Box::into_raw` in `make_room`.
        drop(unsafe { Box::from_raw(slots) });
    }
}

#[cfg(all(test, not(any(loom, shuttle))))]
mod tests {
    use super::*;

    /// A child process of fork(2) stood still when a raid was under way in its parent.
    #[test]
    fn owner_in_a_child_process_goes_on_without_the_thief() {
        let stack = SplitStack::new();
        stack.make_room(2, || false);
        let mut jobs = [1_u8, 2];
        let slots = [stack.top(), stack.top().wrapping_add(1)];
        for (slot, job) in slots.into_iter().zip(&mut jobs) {
            // SAFETY: this thread is the owner, and there is room for two.
            unsafe { stack.push(slot, ptr::from_mut(job).cast()) };
        }
        // As far as a thief may have come: it holds the lock, and has changed the oldest slot.
        assert!(stack.begin_raid());
        stack.raids.lock.lock();
        // SAFETY: a slot of this stack.
        let oldest = unsafe { &*slots[0] };
        oldest.store(ptr::null_mut(), Relaxed);

        // SAFETY: there is no other thread, and nobody answers.
        unsafe { stack.forget_raids() };
        for slot in [slots[1], slots[0]] {
            // SAFETY: this thread is the owner, and this is the newest fork.
            assert!(!unsafe { stack.pop(slot) }, "the gates are closed");
            // SAFETY: the same.
            let published = unsafe { stack.pop_slow(slot, || false) };
            assert_eq!(published, None);
        }
    }
}
