//! A queue that one owner fills without a lock, and that all threads empty under a lock: SINGLEPUT
//! in the study.
//!
//! Only the owner puts, at the tail. A thread that takes holds the lock, and takes at the head. In
//! the study, the two work on a linked list with a dummy element between them. Here they work on a
//! ring, which needs no allocation per element and keeps its slots next to each other. When the
//! ring is full, the owner takes the lock and replaces the ring by a larger one.
//!
//! # Memory ordering
//! | label | release side                 | acquire side          | what it publishes       |
//! |-------|------------------------------|-----------------------|-------------------------|
//! | P1    | `put` stores the tail        | `take_where` loads it | the value in its slot   |
//! | P2    | `take_where` stores the head | `put` loads it        | that the slots are free |
//! # Invariants
//! 1. The slots from head to tail contain a value each, and all other slots contain none. Head and
//!    tail only grow. A number modulo the capacity is the index of its slot.
//! 2. The thread that holds the lock owns the head and the values. The owner of the queue owns the
//!    tail, the slots without values, and the choice of the ring. It replaces the ring only under
//!    the lock.
//! # Source
//! DQ-SL-SP-PRIV-C in Hoffmann, Korch, Rauber, SC 2004, sect. 2.2; the list with the dummy element:
//! Michael, Scott: Nonblocking algorithms and preemption-safe locking on multiprogrammed shared
//! memory multiprocessors. JPDC 51(1), 1998.

use std::marker::PhantomData;
use std::mem::MaybeUninit;
use std::sync::Arc;

use crossbeam_utils::CachePadded;

use crate::lock::{Lock, Locked};
use crate::prim::{Acquire, AtomicUsize, LIGHT, Relaxed, Release, UnsafeCell};

/// The number of slots of a new ring.
const CAPACITY: usize = if LIGHT { 2 } else { 64 };

/// The end at which the owner puts. Each queue has one, which may move between threads.
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

/// Creates an empty queue and returns its two ends.
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

/// The state of a queue. The fields of the owner, those of the takers, and the slots are on
/// separate cache lines.
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

// SAFETY: values move from the owner to the thread that holds the lock (invariant 2).
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

    /// Writes a value into a slot.
    ///
    /// # Safety
    /// The slot contains no value and belongs to the caller.
    unsafe fn write(&self, number: usize, value: T) {
        self.slot(number).with_mut(|slot| {
            // SAFETY: the slot belongs to the caller (contract).
            unsafe { slot.write(MaybeUninit::new(value)) };
        });
    }

    /// Reads the value out of a slot.
    ///
    /// # Safety
    /// The slot contains a value that belongs to the caller and is not read again.
    unsafe fn read(&self, number: usize) -> T {
        self.slot(number).with(|slot| {
            // SAFETY: the value belongs to the caller (contract).
            let value = unsafe { slot.read() };
            // SAFETY: the slot contains a value (contract).
            unsafe { value.assume_init() }
        })
    }

    /// Returns true if the value in a slot is wanted.
    ///
    /// # Safety
    /// The slot contains a value that the caller may inspect.
    unsafe fn holds(&self, number: usize, wanted: impl FnOnce(&T) -> bool) -> bool {
        self.slot(number).with(|slot| {
            // SAFETY: the caller may inspect the value (contract).
            let value = unsafe { &*slot };
            // SAFETY: the slot contains a value (contract).
            wanted(unsafe { value.assume_init_ref() })
        })
    }
}

impl<L: Lock, T> Putter<L, T> {
    /// Puts a value at the tail. Takes no lock unless the ring is full.
    #[inline]
    pub fn put(&self, value: T) {
        let shared = &*self.shared;
        // Relaxed: only the owner writes the tail (invariant 2).
        let tail = shared.tail.load(Relaxed);
        // ORDERING(P2): Acquire: the slots before the head are free.
        let head = shared.head.load(Acquire);
        // SAFETY: only the owner, which is the caller, replaces the ring (invariant 2).
        let capacity = shared.ring.with(|ring| unsafe { &*ring }.slots.len());
        if tail.wrapping_sub(head) == capacity {
            // SAFETY: the caller is the owner, because there is one `Putter` and one thread has it.
            unsafe { shared.grow() };
        }
        shared.ring.with(|ring| {
            // SAFETY: as above.
            let ring = unsafe { &*ring };
            // SAFETY: there are fewer values than slots, and slots without values belong to the
            // owner (invariants 1 and 2).
            unsafe { ring.write(tail, value) };
        });
        // ORDERING(P1): Release: the value.
        shared.tail.store(tail.wrapping_add(1), Release);
    }
}

impl<L: Lock, T> Takers<L, T> {
    /// Returns the number of values at some moment during the call.
    #[inline]
    pub fn len(&self) -> usize {
        // ORDERING(P2): Acquire: the tail loaded below is not before the head, because the thread
        // that moved the head had seen that tail.
        let head = self.shared.head.load(Acquire);
        // Relaxed: callers that rely on the answer execute a fence first.
        self.shared.tail.load(Relaxed).wrapping_sub(head)
    }

    /// Returns true if there was no value at some moment during the call.
    #[inline]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Takes the oldest value that is `wanted`. Waits for the lock.
    ///
    /// `wanted` is called under the lock. If it takes from the same queue, or puts into it, the
    /// thread may wait for itself, as inside [`Locked::with`].
    pub fn take_where(&self, wanted: impl FnMut(&T) -> bool) -> Option<T> {
        if self.is_empty() {
            return None;
        }
        let shared = &*self.shared;
        shared.taking.with(|()| shared.take_locked(wanted))
    }

    /// Takes a value as [`Takers::take_where`] does, unless another thread holds the lock.
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
    /// Replaces the full ring by a larger one.
    ///
    /// # Safety
    /// The caller is the owner.
    #[cold]
    unsafe fn grow(&self) {
        self.taking.with(|()| {
            self.ring.with_mut(|ring| {
                // SAFETY: the caller is the owner and holds the lock, so no other thread accesses
                // the ring.
                let ring = unsafe { &mut *ring };
                let larger = Ring::new(2 * ring.slots.len());
                // Relaxed: changes only under the lock, which this thread holds.
                let head = self.head.load(Relaxed);
                // Relaxed: only the owner writes the tail.
                let tail = self.tail.load(Relaxed);
                for offset in 0..tail.wrapping_sub(head) {
                    let number = head.wrapping_add(offset);
                    // SAFETY: the slot contains a value, which is read once.
                    let value = unsafe { ring.read(number) };
                    // SAFETY: the slot is new.
                    unsafe { larger.write(number, value) };
                }
                *ring = larger;
            });
        });
    }

    fn take_locked(&self, mut wanted: impl FnMut(&T) -> bool) -> Option<T> {
        // Relaxed: changes only under the lock, which this thread holds.
        let head = self.head.load(Relaxed);
        // ORDERING(P1): Acquire: the values.
        let tail = self.tail.load(Acquire);
        let len = tail.wrapping_sub(head);
        self.ring.with(|ring| {
            // SAFETY: the owner replaces the ring only under the lock, which this thread holds.
            let ring = unsafe { &*ring };
            let found = (0..len).find(|&offset| {
                // SAFETY: a slot from head to tail, and this thread holds the lock (invariants 1
                // and 2).
                unsafe { ring.holds(head.wrapping_add(offset), &mut wanted) }
            })?;
            // SAFETY: as above. The slot is filled again below, or ends up before the head.
            let value = unsafe { ring.read(head.wrapping_add(found)) };
            // Closes the gap: each older value moves one slot towards the tail.
            for offset in (0..found).rev() {
                let number = head.wrapping_add(offset);
                // SAFETY: as above.
                let older = unsafe { ring.read(number) };
                // SAFETY: the value of this slot has just been read.
                unsafe { ring.write(number.wrapping_add(1), older) };
            }
            // ORDERING(P2): Release: the slot is free.
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
        // Relaxed: no other thread is left.
        let (head, tail) = (self.head.load(Relaxed), self.tail.load(Relaxed));
        self.ring.with(|ring| {
            // SAFETY: no other thread is left.
            let ring = unsafe { &*ring };
            for offset in 0..tail.wrapping_sub(head) {
                // SAFETY: the slot contains a value, which is read once (invariant 1).
                drop(unsafe { ring.read(head.wrapping_add(offset)) });
            }
        });
    }
}

#[cfg(all(test, not(any(loom, shuttle))))]
mod tests;
