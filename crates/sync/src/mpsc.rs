//! A queue with many producers and one consumer, for values that are pointers.
//!
//! Unlike a linked list of the values themselves, the queue keeps the pointers next to each other,
//! in blocks of 63 slots. A producer does not touch the value of another producer, and one
//! transfer of a cache line brings the consumer eight values. The consumer checks the slot that it
//! will read next, so that it and the producers share no word that all of them write.
//!
//! # Operation
//! `tail.index` counts slots, with one *gap* after each block. A producer claims a slot by
//! advancing the index, and then stores its value there. The producer that claims the last slot of
//! a block appends the next block and skips the gap; other producers wait meanwhile. The consumer
//! follows the slots in order. It stops at a slot that is empty, even if a later slot is full: the
//! producer of the empty one is about to fill it.
//!
//! A producer that is interrupted between its two steps delays the values behind its own, although
//! they have been put. One that is interrupted while it appends a block also stops other producers.
//! Those yield the CPU ([`crate::backoff`]), so that it goes on. Under a real-time policy a thread
//! yields only to threads of its own priority, so all users of a queue need the same one.
//!
//! # Memory ordering
//! | label | release side                       | acquire side           | what it publishes |
//! |-------|------------------------------------|------------------------|-------------------|
//! | M1    | `push` stores a slot               | `pop` loads it         | the value; `next` |
//! | M2    | `push` stores the index of a block | `push` loads the index | the new block     |
//! | M3    | `recycle` stores `spare`           | `new_block` takes it   | the empty slots   |
//!
//! # Invariants
//! 1. A block is freed or reused only when all its slots have been read. Storing its slot is the
//!    last access of each producer to a block, and a producer accesses a block only after it has
//!    claimed a slot of it.
//! 2. `tail.block` is the block of `tail.index`, except while the index is in a gap.
//! 3. `next` is set before the last slot is full.
//!
//! # Source
//! The lists of blocks of crossbeam's channels, which std's `mpsc` uses as well.

use std::marker::PhantomData;
use std::ptr;
use std::sync::Arc;

use crossbeam_utils::CachePadded;

use crate::backoff::Backoff;
use crate::deque::Word;
use crate::prim::{Acquire, AtomicPtr, AtomicUsize, LIGHT, Relaxed, Release, UnsafeCell};

/// The number of slots of a block. With `next`, a block is 512 bytes.
const SLOTS: usize = if LIGHT { 2 } else { 63 };

/// The distance of the first slots of two blocks, with the gap.
const LAP: usize = SLOTS + 1;

/// The end at which any thread puts. A clone is an end of the same queue.
#[derive(Debug)]
pub struct Producer<T: Word> {
    shared: Arc<Shared<T>>,
}

/// The end at which one thread takes. It may move between threads.
#[derive(Debug)]
pub struct Consumer<T: Word> {
    shared: Arc<Shared<T>>,
    not_sync: PhantomData<std::cell::Cell<()>>,
}

impl<T: Word> Clone for Producer<T> {
    fn clone(&self) -> Self {
        Self {
            shared: Arc::clone(&self.shared),
        }
    }
}

/// Creates an empty queue and returns its two ends.
pub fn mpsc<T: Word>() -> (Producer<T>, Consumer<T>) {
    let block = Block::new();
    let shared = Arc::new(Shared {
        tail: CachePadded::new(Tail {
            index: AtomicUsize::new(0),
            block: AtomicPtr::new(block),
        }),
        head: CachePadded::new(UnsafeCell::new(Head { slot: 0, block })),
        spare: AtomicPtr::new(ptr::null_mut()),
    });
    let producer = Producer {
        shared: Arc::clone(&shared),
    };
    let consumer = Consumer {
        shared,
        not_sync: PhantomData,
    };
    (producer, consumer)
}

/// The state of a queue. The producers' fields and the consumer's are on separate cache lines.
#[derive(Debug)]
struct Shared<T: Word> {
    tail: CachePadded<Tail<T>>,
    /// The consumer's, or that of the thread that drops the queue.
    head: CachePadded<UnsafeCell<Head<T>>>,
    /// An empty block for the next producer that needs one.
    spare: AtomicPtr<Block<T>>,
}

// SAFETY: values move from producers to the one consumer, which alone accesses `head`.
unsafe impl<T: Word> Sync for Shared<T> {}
// SAFETY: as above.
unsafe impl<T: Word> Send for Shared<T> {}

#[derive(Debug)]
struct Tail<T: Word> {
    index: AtomicUsize,
    block: AtomicPtr<Block<T>>,
}

/// The position of the value that is taken next.
#[derive(Debug)]
struct Head<T: Word> {
    slot: usize,
    block: *mut Block<T>,
}

#[derive(Debug)]
struct Block<T: Word> {
    next: AtomicPtr<Self>,
    /// Null while a slot is empty.
    slots: [AtomicPtr<T::Target>; SLOTS],
}

impl<T: Word> Block<T> {
    fn new() -> *mut Self {
        Box::into_raw(Box::new(Self {
            next: AtomicPtr::new(ptr::null_mut()),
            slots: std::array::from_fn(|_| AtomicPtr::new(ptr::null_mut())),
        }))
    }
}

impl<T: Word> Producer<T> {
    /// Appends a value. Cost: a compare-and-swap; every 63 values also a swap, and an allocation if
    /// the consumer is behind.
    #[inline]
    pub fn push(&self, value: T) {
        let tail = &self.shared.tail;
        let mut backoff = Backoff::new();
        let mut next: *mut Block<T> = ptr::null_mut();
        loop {
            // ORDERING(M2): Acquire, the block that belongs to this index.
            let index = tail.index.load(Acquire);
            let slot = index % LAP;
            if slot == SLOTS {
                // Another producer is appending a block.
                backoff.pause();
                continue;
            }
            // Relaxed: published with the index (M2). If the index has advanced to another block
            // since, the exchange fails.
            let block = tail.block.load(Relaxed);
            let is_last = slot + 1 == SLOTS;
            if is_last && next.is_null() {
                next = self.shared.new_block();
            }
            // Relaxed on success: the claim publishes nothing. It continues the release sequence of
            // the index (M2).
            let claim = tail
                .index
                .compare_exchange_weak(index, index + 1, Relaxed, Relaxed);
            if claim.is_err() {
                continue;
            }
            // SAFETY: this thread has claimed a slot of the block (invariant 1).
            let block = unsafe { &*block };
            if is_last {
                // Relaxed: published with the index (M2).
                tail.block.store(next, Relaxed);
                // ORDERING(M2): Release, the new block, which belongs to this index.
                tail.index.store(index + 2, Release);
                // Relaxed: published with the slot (M1).
                block.next.store(next, Relaxed);
            } else if !next.is_null() {
                // Another producer has claimed the last slot.
                self.shared.recycle(next);
            }
            // ORDERING(M1): Release, the value, and `next` with the last slot. The last access.
            block.slots[slot].store(value.into_raw(), Release);
            return;
        }
    }
}

impl<T: Word> Consumer<T> {
    /// Takes the oldest value, or returns `None` if it is not there yet.
    #[inline]
    pub fn pop(&self) -> Option<T> {
        // SAFETY: there is one consumer, and the reference ends before `pop` does.
        self.shared
            .head
            .with_mut(|head| unsafe { self.shared.pop(&mut *head) })
    }

    /// Returns true if there was no value to take at some moment during the call.
    #[inline]
    pub fn is_empty(&self) -> bool {
        self.shared.head.with(|head| {
            // SAFETY: there is one consumer.
            let head = unsafe { &*head };
            // SAFETY: the consumer has not read all slots of this block (invariant 1).
            let block = unsafe { &*head.block };
            // Relaxed: nothing is read through it.
            block.slots[head.slot].load(Relaxed).is_null()
        })
    }
}

impl<T: Word> Shared<T> {
    #[inline]
    fn pop(&self, head: &mut Head<T>) -> Option<T> {
        // SAFETY: the consumer has not read all slots of this block (invariant 1).
        let block = unsafe { &*head.block };
        // ORDERING(M1): Acquire, the value, and `next` with the last slot.
        let pointer = block.slots[head.slot].load(Acquire);
        if pointer.is_null() {
            return None;
        }
        head.slot += 1;
        if head.slot == SLOTS {
            // Relaxed: read with the last slot (M1, invariant 3).
            let next = block.next.load(Relaxed);
            self.clear_and_recycle(head.block);
            *head = Head {
                slot: 0,
                block: next,
            };
        }
        // SAFETY: `push` stored it, and each slot is read once.
        Some(unsafe { T::from_raw(pointer) })
    }

    /// Empties a block of which all slots were read, and keeps it for a producer.
    #[cold]
    fn clear_and_recycle(&self, block: *mut Block<T>) {
        // SAFETY: all slots were read, so no other thread accesses the block (invariant 1).
        let cleared = unsafe { &*block };
        // Relaxed, here and below: published by `recycle` (M3).
        cleared.next.store(ptr::null_mut(), Relaxed);
        for slot in &cleared.slots {
            slot.store(ptr::null_mut(), Relaxed);
        }
        self.recycle(block);
    }

    /// Returns an empty block.
    #[cold]
    fn new_block(&self) -> *mut Block<T> {
        // ORDERING(M3): Acquire, the empty slots.
        let spare = self.spare.swap(ptr::null_mut(), Acquire);
        if spare.is_null() { Block::new() } else { spare }
    }

    /// Keeps an empty block that belongs to the caller, or frees it if another one is kept.
    #[cold]
    fn recycle(&self, block: *mut Block<T>) {
        // ORDERING(M3): Release, the empty slots.
        let kept = self
            .spare
            .compare_exchange(ptr::null_mut(), block, Release, Relaxed);
        if kept.is_err() {
            // SAFETY: it came from `Block::new`, and belongs to the caller.
            drop(unsafe { Box::from_raw(block) });
        }
    }
}

impl<T: Word> Drop for Shared<T> {
    fn drop(&mut self) {
        let last = self.head.with_mut(|head| {
            // SAFETY: both ends are gone.
            let head = unsafe { &mut *head };
            while let Some(value) = self.pop(head) {
                drop(value);
            }
            head.block
        });
        // SAFETY: the last block of the queue, from `Block::new`.
        drop(unsafe { Box::from_raw(last) });
        // Relaxed: this thread is the only one.
        let spare = self.spare.load(Relaxed);
        if !spare.is_null() {
            // SAFETY: from `Block::new`, and not in use.
            drop(unsafe { Box::from_raw(spare) });
        }
    }
}

#[cfg(all(test, not(any(loom, shuttle))))]
mod tests;
