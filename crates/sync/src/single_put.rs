//! A queue that one owner fills without a lock and that all empty under one: the study's SINGLEPUT.
//!
//! Only the owner puts, at the tail; who takes has the lock, and the head. The study lets the two work on a linked list with a dummy
//! element between them; here they work on a ring, which needs no memory an element, and whose slots lie side by side. When
//! it is full, the owner takes the lock and moves it to a larger one.
//!
//! # Memory ordering
//! | label | release side                 | acquire side          | what it publishes       |
//! |-------|------------------------------|-----------------------|-------------------------|
//! | P1    | `put` stores the tail        | `take_where` loads it | the value in its slot   |
//! | P2    | `take_where` stores the head | `put` loads it        | that the slots are free |
//! # Invariants
//! 1. The slots from head to tail hold a value each, all others none. Both count on for ever; a slot is its number modulo the capacity.
//! 2. The head and the values are the lock's; the tail, the slots without values, and the choice of the ring are the owner's, who
//!    changes the ring only under the lock.
//! # Source
//! DQ-SL-SP-PRIV-C in Hoffmann, Korch, Rauber, SC 2004, sect. 2.2; the list with the dummy: Michael, Scott:
//! Nonblocking algorithms and preemption-safe locking on multiprogrammed shared memory multiprocessors. JPDC 51(1), 1998.

use std::marker::PhantomData;
use std::mem::MaybeUninit;
use std::sync::Arc;

use crossbeam_utils::CachePadded;

use crate::lock::{Lock, Locked};
use crate::prim::{Acquire, AtomicUsize, LIGHT, Relaxed, Release, UnsafeCell};

/// Slots of a new ring.
const CAPACITY: usize = if LIGHT { 2 } else { 64 };

/// The end at which one thread puts. There is one to a queue; it may move between threads.
#[derive(Debug)]
pub struct Putter<L, T> {
    shared: Arc<Shared<L, T>>,
    not_sync: PhantomData<std::cell::Cell<()>>,
}

/// The end at which any thread takes.
#[derive(Debug)]
pub struct Takers<L, T> {
    shared: Arc<Shared<L, T>>,
}

impl<L, T> Clone for Takers<L, T> {
    fn clone(&self) -> Self {
        Self {
            shared: Arc::clone(&self.shared),
        }
    }
}

/// Makes an empty queue and returns its two ends.
pub fn single_put<L: Lock, T>() -> (Putter<L, T>, Takers<L, T>) {
    let shared = Arc::new(Shared {
        tail: CachePadded::new(AtomicUsize::new(0)),
        head: CachePadded::new(AtomicUsize::new(0)),
        taking: CachePadded::new(Locked::new(())),
        ring: UnsafeCell::new(Ring::new(CAPACITY)),
    });
    let putter = Putter {
        shared: Arc::clone(&shared),
        not_sync: PhantomData,
    };
    (putter, Takers { shared })
}

/// What the owner writes, what takers write, and the slots, each on cache lines of its own.
#[derive(Debug)]
struct Shared<L, T> {
    tail: CachePadded<AtomicUsize>,
    head: CachePadded<AtomicUsize>,
    taking: CachePadded<Locked<L, ()>>,
    ring: UnsafeCell<Ring<T>>,
}

type Slot<T> = UnsafeCell<MaybeUninit<T>>;

#[derive(Debug)]
struct Ring<T> {
    slots: Box<[Slot<T>]>,
}

// SAFETY: values move from the owner to whoever has the lock (invariant 2).
unsafe impl<L: Lock, T: Send> Sync for Shared<L, T> {}
// SAFETY: as above.
unsafe impl<L: Lock, T: Send> Send for Shared<L, T> {}

impl<T> Ring<T> {
    fn new(capacity: usize) -> Self {
        Self {
            slots: (0..capacity)
                .map(|_| UnsafeCell::new(MaybeUninit::uninit()))
                .collect(),
        }
    }

    fn slot(&self, number: usize) -> &Slot<T> {
        &self.slots[number & (self.slots.len() - 1)]
    }

    /// # Safety
    /// The slot holds no value, and is the caller's.
    unsafe fn write(&self, number: usize, value: T) {
        self.slot(number).with_mut(|slot| {
            // SAFETY: ours (contract).
            unsafe { slot.write(MaybeUninit::new(value)) };
        });
    }

    /// # Safety
    /// The slot holds a value, which is the caller's, and is not read again.
    unsafe fn read(&self, number: usize) -> T {
        self.slot(number).with(|slot| {
            // SAFETY: ours (contract).
            let value = unsafe { slot.read() };
            // SAFETY: it holds a value (contract).
            unsafe { value.assume_init() }
        })
    }

    /// # Safety
    /// The slot holds a value, which the caller may look at.
    unsafe fn holds(&self, number: usize, wanted: impl FnOnce(&T) -> bool) -> bool {
        self.slot(number).with(|slot| {
            // SAFETY: ours to look at (contract).
            let value = unsafe { &*slot };
            // SAFETY: it holds a value (contract).
            wanted(unsafe { value.assume_init_ref() })
        })
    }
}

impl<L: Lock, T> Putter<L, T> {
    /// Puts a value at the end. Takes no lock unless the ring is full.
    #[inline]
    pub fn put(&self, value: T) {
        let shared = &*self.shared;
        // Relaxed: our own (invariant 2).
        let tail = shared.tail.load(Relaxed);
        // ORDERING(P2): Acquire, the slots before the head are free.
        let head = shared.head.load(Acquire);
        // SAFETY: only the owner, who we are, changes the ring (invariant 2).
        let capacity = shared.ring.with(|ring| unsafe { &*ring }.slots.len());
        if tail.wrapping_sub(head) == capacity {
            // SAFETY: we are the owner: there is one `Putter`, and one thread has it.
            unsafe { shared.grow() };
        }
        shared.ring.with(|ring| {
            // SAFETY: as above.
            let ring = unsafe { &*ring };
            // SAFETY: free: there are fewer values than slots, and slots without values are ours (invariants 1 and 2).
            unsafe { ring.write(tail, value) };
        });
        // ORDERING(P1): Release, the value.
        shared.tail.store(tail.wrapping_add(1), Release);
    }
}

impl<L: Lock, T> Takers<L, T> {
    /// The number of values at some moment during the call.
    #[inline]
    pub fn len(&self) -> usize {
        // ORDERING(P2): Acquire, so that the tail that we see is not before the head: whoever moved that had seen it.
        let head = self.shared.head.load(Acquire);
        // Relaxed: who relies on the answer puts a fence before it.
        self.shared.tail.load(Relaxed).wrapping_sub(head)
    }

    /// True when there was no value at some moment during the call.
    #[inline]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Takes the oldest value that is `wanted`, after waiting for the lock.
    ///
    /// `wanted` is asked under the lock: if it takes from the same queue, or puts into it, it may wait for itself, as
    /// inside [`Locked::with`].
    pub fn take_where(&self, wanted: impl FnMut(&T) -> bool) -> Option<T> {
        if self.is_empty() {
            return None;
        }
        let shared = &*self.shared;
        shared.taking.with(|()| shared.take_locked(wanted))
    }

    /// As [`Takers::take_where`], and nothing at all when somebody else has the lock.
    pub fn try_take_where(&self, wanted: impl FnMut(&T) -> bool) -> Option<T> {
        if self.is_empty() {
            return None;
        }
        let shared = &*self.shared;
        shared
            .taking
            .try_with(|()| shared.take_locked(wanted))
            .flatten()
    }
}

impl<L: Lock, T> Shared<L, T> {
    /// # Safety
    /// The caller is the owner.
    #[cold]
    unsafe fn grow(&self) {
        self.taking.with(|()| {
            self.ring.with_mut(|ring| {
                // SAFETY: we have the lock, and are the owner: nobody else touches the ring.
                let ring = unsafe { &mut *ring };
                let larger = Ring::new(2 * ring.slots.len());
                // Relaxed: the lock's, which we have.
                let head = self.head.load(Relaxed);
                // Relaxed: our own.
                let tail = self.tail.load(Relaxed);
                for offset in 0..tail.wrapping_sub(head) {
                    let number = head.wrapping_add(offset);
                    // SAFETY: a value, read once.
                    let value = unsafe { ring.read(number) };
                    // SAFETY: a fresh slot.
                    unsafe { larger.write(number, value) };
                }
                *ring = larger;
            });
        });
    }

    fn take_locked(&self, mut wanted: impl FnMut(&T) -> bool) -> Option<T> {
        // Relaxed: the lock's, which we have.
        let head = self.head.load(Relaxed);
        // ORDERING(P1): Acquire, the values.
        let tail = self.tail.load(Acquire);
        let len = tail.wrapping_sub(head);
        self.ring.with(|ring| {
            // SAFETY: the owner changes the ring under the lock only, which we have.
            let ring = unsafe { &*ring };
            let found = (0..len).find(|&offset| {
                // SAFETY: from head to tail, and we have the lock (invariants 1 and 2).
                unsafe { ring.holds(head.wrapping_add(offset), &mut wanted) }
            })?;
            // SAFETY: as above; its slot is filled again, or left behind the head.
            let value = unsafe { ring.read(head.wrapping_add(found)) };
            for offset in (0..found).rev() {
                let number = head.wrapping_add(offset);
                // SAFETY: as above.
                let older = unsafe { ring.read(number) };
                // SAFETY: the slot after it has just been read.
                unsafe { ring.write(number.wrapping_add(1), older) };
            }
            // ORDERING(P2): Release, the slot is free.
            self.head.store(head.wrapping_add(1), Release);
            Some(value)
        })
    }
}

impl<L, T> Drop for Shared<L, T> {
    fn drop(&mut self) {
        if !std::mem::needs_drop::<T>() {
            return;
        }
        // Relaxed: nobody else is left.
        let (head, tail) = (self.head.load(Relaxed), self.tail.load(Relaxed));
        self.ring.with(|ring| {
            // SAFETY: nobody else is left.
            let ring = unsafe { &*ring };
            for offset in 0..tail.wrapping_sub(head) {
                // SAFETY: a value, read once (invariant 1).
                drop(unsafe { ring.read(head.wrapping_add(offset)) });
            }
        });
    }
}

#[cfg(all(test, not(any(loom, shuttle))))]
mod tests;
