//! A stack of forks that its owner uses with plain loads and stores, and from which other threads
//! can take the oldest.
//!
//! ```text
//!   first                 base                    top                    end
//!     │  published forks    │  private forks        │  free slots          │
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
//! The push and pop of an *offer* bypass the gates. The owner of an offer publishes it only if
//! something else makes the owner answer, but a thief can raid it. While a loop runs a few items,
//! it offers the remaining ones.
//!
//! # A raid
//! 1. Under the lock, the thief sets `raided` and closes the gates. The owner opens gates only
//!    under the lock, and only while `raided` is not set. So the gates stay closed until the raid
//!    ends.
//! 2. The thief has the system execute a fence in every thread ([`heavy_fence`]).
//! 3. Under the lock, the thief compares `base` and `top`. If they differ, it publishes the fork at
//!    `base`.
//!
//! A pop lowers `top` first, and then checks its gate (the pop of an offer checks `raided`). If the
//! check comes before the fence of step 2, the lowered `top` is visible in step 3, and the thief
//! leaves the fork alone. If it comes after the fence, the pop meets the closed gate (or `raided`),
//! and the owner takes the lock before it decides. The lock is held for a few instructions, never
//! during the fence.
//!
//! # Memory ordering
//! | label | one side                                  | other side                              |
//! |-------|-------------------------------------------|-----------------------------------------|
//! | K1    | owner: lowers `top`, signal fence, checks | thief: closes the gates, sets `raided`, |
//! |       | the gates or `raided`                     | heavy fence, reads `top`                |
//! | K2    | owner: stores `top`, Release              | thief: loads `top`, Acquire             |
//! | K3    | thief: clears `raided`, Release           | owner: `pop_offer` loads it, Acquire    |
//!
//! K1 lets at least one side see the other's store. K2 publishes the fork and its slot, K3 the new
//! `base`.
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

/// One entry: a fork while it is private, and the result of `publish` once it is public.
pub type Slot = AtomicPtr<()>;

/// The stack of one owner. See the [module](self) for the protocol.
#[derive(Debug)]
pub struct SplitStack {
    own: CachePadded<Own>,
    gates: CachePadded<Gates<Slot>>,
    raids: CachePadded<Raids>,
}

/// The fields that the owner writes all the time.
#[derive(Debug)]
struct Own {
    top: AtomicPtr<Slot>,
    base: AtomicPtr<Slot>,
    first: AtomicPtr<Slot>,
    end: AtomicPtr<Slot>,
    /// The number of forks that the owner has popped and run itself.
    inline: AtomicU64,
    /// The number of offers that the owner has popped.
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
    /// The slot of the fork. It must be set to the published form of the fork.
    pub slot: *mut Slot,
    /// A bit for each sleeping asker: bit `worker_index mod 64`.
    pub askers: u64,
}

/// A snapshot of the progress of an owner. If two snapshots are equal, the owner has not finished a
/// fork in between.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Progress {
    base: usize,
    inline: u64,
    offers: u64,
}

impl SplitStack {
    crate::const_fn! {
        /// Creates a stack without slots and with closed gates.
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

    /// Allocates slots for `slot_count` forks. Opens the gates, unless `anyone_sleeps`: a sleeper
    /// may have asked before.
    ///
    /// # Panics
    /// If the stack has slots already.
    pub fn allocate(&self, slot_count: usize, anyone_sleeps: impl FnOnce() -> bool) {
        let slots = null_slots(slot_count);
        self.raids.locked(|| {
            // Relaxed, here and below: ordered by the lock, or read by the owner alone.
            assert!(
                self.own.first.load(Relaxed).is_null(),
                "the slots of a stack are allocated once"
            );
            let first = Box::into_raw(slots).cast::<Slot>();
            let end = first.wrapping_add(slot_count);
            self.own.first.store(first, Relaxed);
            self.own.base.store(first, Relaxed);
            self.own.end.store(end, Relaxed);
            // ORDERING(K2): Release: the slots.
            self.own.top.store(first, Release);
            // SAFETY: these are the end and the base of this stack.
            unsafe { self.gates.open_unless_asked(end, first, anyone_sleeps) };
        });
    }

    /// Returns the gates that threads without work close to ask this owner for a fork.
    #[inline]
    pub fn gates(&self) -> &Gates<Slot> {
        &self.gates
    }

    /// Begins or ends watching the owner: while it is watched, every push and pop takes the slow
    /// path. Only for the owner.
    ///
    /// `anyone_sleeps` is as for [`allocate`](Self::allocate).
    pub fn watch(&self, is_watched: bool, anyone_sleeps: impl FnOnce() -> bool) {
        self.raids.locked(|| {
            self.gates.watch(is_watched);
            // Closed gates stay closed, as they are during a raid (invariant 3).
            // Relaxed, here and below: ordered by the lock.
            let (end, base) = (self.own.end.load(Relaxed), self.own.base.load(Relaxed));
            // SAFETY: called by the owner, with the end of its slots and its base.
            unsafe { self.gates.follow(end, base, anyone_sleeps) };
        });
    }

    /// Returns the number of forks that the owner has popped and run itself.
    pub fn inline_count(&self) -> u64 {
        // Relaxed: a statistic.
        self.own.inline.load(Relaxed)
    }

    /// Returns the number of forks and offers that the owner has popped. Changes only while the
    /// owner makes some.
    pub fn activity(&self) -> u64 {
        // Relaxed: a hint.
        self.inline_count()
            .wrapping_add(self.own.offers.load(Relaxed))
    }

    /// Returns the slot of the next fork. Changes only by calls of the owner.
    #[inline]
    pub fn top(&self) -> *mut Slot {
        // Relaxed: only the owner writes it.
        self.own.top.load(Relaxed)
    }

    /// Returns the number of slots below `slot`. Changes for no slot once there are slots.
    pub fn depth_of(&self, slot: *mut Slot) -> usize {
        // Relaxed: set once, before there are forks.
        let first = self.own.first.load(Relaxed);
        slot.addr().saturating_sub(first.addr()) / size_of::<Slot>()
    }

    /// Returns true if a push to `slot`, the top, need not answer. False on a stack without slots.
    /// Only for the owner.
    #[inline]
    pub fn lets_push(&self, slot: *mut Slot) -> bool {
        self.gates.lets_push(slot)
    }

    /// Returns true if there is a free slot at `slot`, the top.
    #[inline]
    pub fn has_capacity(&self, slot: *mut Slot) -> bool {
        // Relaxed: only the owner writes it.
        slot != self.own.end.load(Relaxed)
    }

    /// Pushes a fork at `slot`.
    ///
    /// # Safety
    /// The caller is the owner, `slot` is the top, and the slot is free.
    #[inline]
    pub unsafe fn push(&self, slot: *mut Slot, fork: *mut ()) {
        // SAFETY: an allocated slot (contract), which lives as long as the stack.
        let place = unsafe { &*slot };
        // Relaxed: published by the store of `top`.
        place.store(fork, Relaxed);
        // ORDERING(K2): Release: the fork and its slot.
        self.own.top.store(slot.wrapping_add(1), Release);
    }

    /// Pops the fork at `slot`. Returns true if the fork is private and belongs to the caller.
    /// Otherwise [`pop_slow`](Self::pop_slow) decides.
    ///
    /// # Safety
    /// The caller is the owner, and `slot` is the slot of the newest fork that was not popped.
    #[inline]
    #[must_use = "the fork belongs to the caller only if this is true"]
    pub unsafe fn pop(&self, slot: *mut Slot) -> bool {
        // Relaxed: ordered by the fence.
        self.own.top.store(slot, Relaxed);
        // ORDERING(K1): `top` is lowered before the gate is checked.
        signal_fence();
        self.gates.lets_pop(slot)
    }

    /// Pops the fork at `slot` as [`pop`](Self::pop) does, on a stack with
    /// [watched](crate::gates) gates.
    ///
    /// # Safety
    /// As for [`pop`](Self::pop).
    #[inline]
    #[must_use = "the fork belongs to the caller only if this is true"]
    pub unsafe fn pop_watched(&self, slot: *mut Slot) -> bool {
        // Relaxed: ordered by the fence.
        self.own.top.store(slot, Relaxed);
        // ORDERING(K1): `top` is lowered before the gates are checked. A thief closes both.
        signal_fence();
        // Relaxed: the owner has opened the gates, after the last change of the base.
        !self.gates.are_closed() && slot >= self.own.base.load(Relaxed)
    }

    /// Completes a pop that met a closed gate or a published fork. Returns `None` if the fork is
    /// private and belongs to the caller.
    ///
    /// Otherwise returns the published form of the fork, and removes it from the stack.
    ///
    /// # Safety
    /// As for [`pop`](Self::pop), which has returned false.
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
            // The fork is published: it leaves the stack, and the base moves down to its slot.
            self.own.base.store(slot, Relaxed);
            // Leaves closed gates closed, as they are during a raid (invariant 3).
            // SAFETY: called by the owner, with the end of its slots and its base.
            unsafe {
                self.gates
                    .follow(self.own.end.load(Relaxed), slot, anyone_sleeps);
            }
            // SAFETY: an allocated slot (contract).
            let place = unsafe { &*slot };
            Some(place.load(Relaxed))
        })
    }

    /// Pops an offer. Returns `None` if the offer still belongs to the caller, and otherwise its
    /// published form, like [`pop_slow`](Self::pop_slow).
    ///
    /// # Safety
    /// As for [`pop`](Self::pop).
    #[inline]
    pub unsafe fn pop_offer(
        &self,
        slot: *mut Slot,
        anyone_sleeps: impl FnOnce() -> bool,
    ) -> Option<*mut ()> {
        // Relaxed: ordered by the fence.
        self.own.top.store(slot, Relaxed);
        // ORDERING(K1): `top` is lowered before `raided` is checked.
        signal_fence();
        // ORDERING(K3): Acquire: the base after the last raid.
        // Relaxed for the base: only this thread, or a raid that was seen to end, changes it.
        if self.raids.raided.load(Acquire) || self.own.base.load(Relaxed) > slot {
            // SAFETY: by the contract of this function.
            let published = unsafe { self.pop_raided(slot, anyone_sleeps) };
            if published.is_some() {
                return published;
            }
        }
        Self::count(&self.own.offers);
        None
    }

    /// Calls [`pop_slow`](Self::pop_slow), outside the hot path of `pop_offer`.
    ///
    /// # Safety
    /// As for [`pop`](Self::pop).
    #[cold]
    #[inline(never)]
    unsafe fn pop_raided(
        &self,
        slot: *mut Slot,
        anyone_sleeps: impl FnOnce() -> bool,
    ) -> Option<*mut ()> {
        // SAFETY: by the contract of this function.
        unsafe { self.pop_slow(slot, anyone_sleeps) }
    }

    /// Counts a fork that its owner has popped and runs itself. Only for the owner.
    #[inline]
    pub fn count_inline(&self) {
        Self::count(&self.own.inline);
    }

    #[inline]
    fn count(counter: &AtomicU64) {
        // Relaxed: a statistic that only the owner writes.
        counter.store(counter.load(Relaxed).wrapping_add(1), Relaxed);
    }

    /// Opens the gates and makes the oldest private fork public. Returns `None`, and leaves the
    /// gates unchanged, if there is no private fork.
    ///
    /// # Safety
    /// The caller is the owner, and calls [`publish`](Self::publish) before its next pop.
    pub unsafe fn answer(&self) -> Option<Answer> {
        self.raids.locked(|| {
            // Relaxed, here and below: ordered by the lock, or written only by the owner.
            let slot = self.own.base.load(Relaxed);
            if slot == self.own.top.load(Relaxed) {
                return None;
            }
            // The oldest private fork becomes public. The gates open, except during a raid
            // (invariant 3).
            let base = slot.wrapping_add(1);
            self.own.base.store(base, Relaxed);
            let askers = if self.raids.raided.load(Relaxed) {
                self.gates.take_askers()
            } else {
                // SAFETY: called by the owner, with the end of its slots and its base.
                unsafe { self.gates.open_and_take(self.own.end.load(Relaxed), base) }
            };
            // SAFETY: a slot between base and top, which is allocated.
            let place = unsafe { &*slot };
            Some(Answer {
                fork: place.load(Relaxed),
                slot,
                askers,
            })
        })
    }

    /// Opens the gates although no fork becomes public, because the owner answers with other work.
    /// Takes and returns the bits of the sleeping askers.
    ///
    /// # Safety
    /// The caller is the owner.
    pub unsafe fn open_gates(&self) -> u64 {
        self.raids.locked(|| {
            // Relaxed, here and below: ordered by the lock, or written only by the owner. During a
            // raid the gates stay closed (invariant 3).
            if self.raids.raided.load(Relaxed) {
                return self.gates.take_askers();
            }
            let (end, base) = (self.own.end.load(Relaxed), self.own.base.load(Relaxed));
            // SAFETY: called by the owner, with the end of its slots and its base.
            unsafe { self.gates.open_and_take(end, base) }
        })
    }

    /// Stores the published form of a fork in its slot.
    ///
    /// # Safety
    /// The caller is the owner, `slot` is the slot of an [`Answer`], and its fork was not popped.
    pub unsafe fn publish(&self, slot: *mut Slot, published: *mut ()) {
        // SAFETY: an allocated slot (contract).
        let place = unsafe { &*slot };
        // Relaxed: below the base, only the owner reads it.
        place.store(published, Relaxed);
    }

    /// Returns the owner's progress, or `None` if the owner has no private fork. A hint for threads
    /// that may raid.
    pub fn progress(&self) -> Option<Progress> {
        // Relaxed, here and below: a hint.
        let base = self.own.base.load(Relaxed);
        (base < self.own.top.load(Relaxed)).then(|| Progress {
            base: base.addr(),
            inline: self.own.inline.load(Relaxed),
            offers: self.own.offers.load(Relaxed),
        })
    }

    /// Publishes the owner's oldest private fork on behalf of the owner. Returns false if there is
    /// none, during another raid, and if the system has no heavy fence.
    ///
    /// `publish` receives the fork and its slot, and returns the published form of the fork. It
    /// runs under the lock, so it must be short. Costs a heavy fence (about a microsecond, and an
    /// interrupt of each CPU that runs a thread of the process).
    ///
    /// The gates are closed afterwards, so that the owner publishes its next fork itself.
    pub fn raid(&self, publish: impl FnOnce(*mut (), *mut Slot) -> *mut ()) -> bool {
        if !can_interrupt() || !self.begin_raid() {
            return false;
        }
        // Ends the raid even if `publish` panics.
        let _end = EndRaid(&self.raids.raided);
        // ORDERING(K1): the gates are closed before `top` is read.
        heavy_fence();
        self.raids.locked(|| {
            // Relaxed: ordered by the lock.
            let slot = self.own.base.load(Relaxed);
            // ORDERING(K2): Acquire: the fork and its slot.
            let found = slot < self.own.top.load(Acquire);
            if found {
                // SAFETY: a slot between base and top, which is allocated.
                let place = unsafe { &*slot };
                // Relaxed, here and below: ordered by K2 and the lock.
                place.store(publish(place.load(Relaxed), slot), Relaxed);
                self.own.base.store(slot.wrapping_add(1), Relaxed);
            }
            found
        })
    }

    /// Ends a raid by a thread that does not exist in this process. For the owner, in a child
    /// process that its own thread has created by fork(2).
    ///
    /// The raid may be half done, so the slot of the oldest private fork may contain its published
    /// form already. Pops work as before. [`answer`](Self::answer) must not be called any more.
    ///
    /// # Safety
    /// The caller is the only thread of its process that uses the stack, now and later, and does
    /// not call [`answer`](Self::answer).
    pub unsafe fn forget_raids(&self) {
        // Relaxed: there is no other thread.
        self.raids.raided.store(false, Relaxed);
        // SAFETY: the thread that may hold the lock is in another process (contract).
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

/// A guard that ends a raid.
struct EndRaid<'a>(&'a AtomicBool);

impl Drop for EndRaid<'_> {
    fn drop(&mut self) {
        // ORDERING(K3): Release: the base.
        self.0.store(false, Release);
    }
}

impl Raids {
    /// Calls `change` under the lock.
    fn locked<R>(&self, change: impl FnOnce() -> R) -> R {
        /// A guard that unlocks, even if `change` panics.
        struct Unlock<'a>(&'a SimpleLock);
        impl Drop for Unlock<'_> {
            fn drop(&mut self) {
                // SAFETY: created right after this thread took the lock.
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
        // Relaxed: no other thread can access the stack any more.
        let first = self.own.first.load(Relaxed);
        if first.is_null() {
            return;
        }
        let count = (self.own.end.load(Relaxed).addr() - first.addr()) / size_of::<Slot>();
        let slots = ptr::slice_from_raw_parts_mut(first, count);
        // SAFETY: created by `Box::into_raw` in `allocate`.
        drop(unsafe { Box::from_raw(slots) });
    }
}

/// Returns slots that are null. The system provides their memory when they are first used.
#[cfg(not(any(loom, shuttle)))]
fn null_slots(count: usize) -> Box<[Slot]> {
    // SAFETY: a null pointer is all zeros.
    unsafe { Box::new_zeroed_slice(count).assume_init() }
}

/// Returns slots that are null.
#[cfg(any(loom, shuttle))]
fn null_slots(count: usize) -> Box<[Slot]> {
    (0..count).map(|_| Slot::new(ptr::null_mut())).collect()
}

#[cfg(all(test, not(any(loom, shuttle))))]
mod tests {
    use super::*;

    /// Reproduces a bug: a child process of fork(2) hung if a raid was under way in its parent.
    #[test]
    fn owner_in_a_child_process_goes_on_without_the_thief() {
        let stack = SplitStack::new();
        stack.allocate(2, || false);
        let mut jobs = [1_u8, 2];
        let slots = [stack.top(), stack.top().wrapping_add(1)];
        for (slot, job) in slots.into_iter().zip(&mut jobs) {
            // SAFETY: this thread is the owner, and the stack has two slots.
            unsafe { stack.push(slot, ptr::from_mut(job).cast()) };
        }
        // The state that a thief may leave: it holds the lock, and has changed the oldest slot.
        assert!(stack.begin_raid());
        stack.raids.lock.lock();
        // SAFETY: a slot of this stack.
        let oldest = unsafe { &*slots[0] };
        oldest.store(ptr::null_mut(), Relaxed);

        // SAFETY: there is no other thread, and `answer` is not called.
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
