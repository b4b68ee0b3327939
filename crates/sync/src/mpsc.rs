//! A queue with many producers and one consumer.
//!
//! The queue keeps its values next to each other, in blocks of slots. There are two kinds of slot
//! ([`Slot`]): one is a pointer, so that one transfer of a cache line brings the consumer eight
//! values; the other is a cache line that contains the value itself, so that a single transfer
//! brings a value of up to 56 bytes. The consumer checks the slot that it will read next, so that
//! it and the producers share no word that all of them write.
//!
//! # Operation
//! `tail.index` counts slots, with one *gap* after each block. A producer claims a slot by
//! advancing the index, and then stores its value there. The producer that claims the last slot of
//! a block appends the next block and skips the gap; other producers wait meanwhile. The consumer
//! follows the slots in order. It stops at a slot that is empty, even if a later slot is full: the
//! producer of the empty one is about to fill it.
//!
//! A block is used several times. Each time has a number, its *round*. A slot that contains a value
//! has a mark with the number of the round, so that emptying it takes no write: the next round has
//! another number. (A pointer is its own mark, and is set to null between two rounds.)
//!
//! A producer that is interrupted between its two steps delays the values behind its own, although
//! they have been put. One that is interrupted while it appends a block also stops other producers.
//! Those yield the CPU ([`crate::backoff`]), so that it goes on. Under a real-time policy a thread
//! yields only to threads of its own priority, so all users of a queue need the same one.
//!
//! # Memory ordering
//! | label | release side                       | acquire side           | what it publishes |
//! |-------|------------------------------------|------------------------|-------------------|
//! | M1    | `Slot::fill` marks the slot        | `Slot::take` finds it  | the value; `next` |
//! | M2    | `claim` stores a block's index     | `claim` loads it       | the new block     |
//! | M3    | `recycle` stores a spare block     | `new_block` takes it   | the empty slots   |
//!
//! # Invariants
//! 1. A block is freed or reused only when all its slots have been read. Marking its slot is the
//!    last access of each producer to a block, and a producer accesses a block only after it has
//!    claimed a slot of it.
//! 2. `tail.block` is the block of `tail.index`, except while the index is in a gap.
//! 3. `next` is set before the last slot is full.
//! 4. At the start of a round, no mark of the block has the number of the round: in the round
//!    before, all slots were marked with that round's number.
//!
//! # Source
//! The lists of blocks of crossbeam's channels, which std's `mpsc` uses as well.

mod slot;

use std::marker::PhantomData;
use std::ptr;
use std::sync::Arc;

use crossbeam_utils::CachePadded;

use crate::backoff::Backoff;
use crate::prim::{Acquire, AtomicPtr, AtomicU32, AtomicUsize, Relaxed, Release, UnsafeCell};

pub use slot::{LineSlot, PointerSlot, Slot};

/// The end at which any thread puts. A clone is an end of the same queue.
#[derive(Debug)]
pub struct Producer<S: Slot> {
    shared: Arc<Shared<S>>,
}

/// A slot that a producer has claimed. The values behind it arrive only when it is filled. So
/// dropping or forgetting it stops the queue for ever, and leaks what is put behind it.
#[derive(Debug)]
#[must_use = "the consumer waits until the slot is filled"]
pub struct Claimed<'a, S: Slot> {
    slot: &'a S,
    round: u32,
}

/// The end at which one thread takes. It may move between threads.
#[derive(Debug)]
pub struct Consumer<S: Slot> {
    shared: Arc<Shared<S>>,
    not_sync: PhantomData<std::cell::Cell<()>>,
}

impl<S: Slot> Clone for Producer<S> {
    fn clone(&self) -> Self {
        Self {
            shared: Arc::clone(&self.shared),
        }
    }
}

/// Creates an empty queue and returns its two ends.
pub fn mpsc<S: Slot>() -> (Producer<S>, Consumer<S>) {
    let block = Block::new();
    let shared = Arc::new(Shared {
        tail: CachePadded::new(Tail {
            index: AtomicUsize::new(0),
            block: AtomicPtr::new(block),
        }),
        head: CachePadded::new(UnsafeCell::new(Head::at(block))),
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
struct Shared<S: Slot> {
    tail: CachePadded<Tail<S>>,
    /// The position of the consumer. Only the consumer accesses it, and the thread that drops the
    /// queue.
    head: CachePadded<UnsafeCell<Head<S>>>,
    /// An empty block for the next producer that needs one.
    spare: AtomicPtr<Block<S>>,
}

// SAFETY: values, which are Send, move from producers to the one consumer, which alone accesses
// `head`.
unsafe impl<S: Slot> Sync for Shared<S> {}
// SAFETY: as above.
unsafe impl<S: Slot> Send for Shared<S> {}

#[derive(Debug)]
struct Tail<S: Slot> {
    index: AtomicUsize,
    block: AtomicPtr<Block<S>>,
}

/// The position of the value that is taken next.
#[derive(Debug)]
struct Head<S: Slot> {
    slot: usize,
    block: *mut Block<S>,
    /// The round of the block.
    round: u32,
}

#[derive(Debug)]
struct Block<S: Slot> {
    next: AtomicPtr<Self>,
    /// The number of the round in which the block is used now. It changes between two rounds.
    round: AtomicU32,
    slots: S::Slots,
}

impl<S: Slot> Block<S> {
    fn new() -> *mut Self {
        Box::into_raw(Box::new(Self {
            next: AtomicPtr::new(ptr::null_mut()),
            round: AtomicU32::new(1),
            slots: S::slots(),
        }))
    }

    #[inline]
    fn slot(&self, index: usize) -> &S {
        &self.slots.as_ref()[index]
    }

    #[inline]
    fn round(&self) -> u32 {
        // Relaxed: published like the block (M1, M2).
        self.round.load(Relaxed)
    }
}

impl<S: Slot> Head<S> {
    /// Returns the position of the first slot of a block.
    fn at(block: *mut Block<S>) -> Self {
        // SAFETY: the consumer has read no slot of this block (invariant 1).
        let round = unsafe { &*block }.round();
        Self {
            slot: 0,
            block,
            round,
        }
    }
}

impl<S: Slot> Producer<S> {
    /// The distance of the first slots of two blocks, with the gap.
    const LAP: usize = S::COUNT + 1;

    /// Appends a value. Cost: a compare-and-swap; for each block also a swap, and an allocation if
    /// the consumer is behind.
    #[inline]
    pub fn push(&self, value: S::Value) {
        self.claim().fill(value);
    }

    /// Appends a slot, which the caller fills. Cost: that of [`push`](Self::push).
    #[inline]
    pub fn claim(&self) -> Claimed<'_, S> {
        let tail = &self.shared.tail;
        let mut backoff = Backoff::new();
        let mut next: *mut Block<S> = ptr::null_mut();
        loop {
            // ORDERING(M2): Acquire, the block that belongs to this index.
            let index = tail.index.load(Acquire);
            let slot = index % Self::LAP;
            if slot == S::COUNT {
                // Another producer is appending a block.
                backoff.pause();
                continue;
            }
            // Relaxed: published with the index (M2). If the index has advanced to another block
            // since, the exchange fails.
            let block = tail.block.load(Relaxed);
            let is_last = slot + 1 == S::COUNT;
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
            return Claimed {
                slot: block.slot(slot),
                round: block.round(),
            };
        }
    }
}

impl<S: Slot> Claimed<'_, S> {
    /// Stores the value of the slot.
    #[inline]
    pub fn fill(self, value: S::Value) {
        // SAFETY: it was claimed by `claim`, once. This is the last access.
        unsafe { self.slot.fill(value, self.round) };
    }
}

impl<T: Send> Claimed<'_, LineSlot<T>> {
    /// Calls `write` with the address of the value. Unlike with [`fill`](Self::fill), the value is
    /// not copied.
    ///
    /// # Safety
    /// `write` initialises the value.
    #[inline]
    pub unsafe fn fill_in_place(self, write: impl FnOnce(*mut T)) {
        // SAFETY: as in `fill`; the value is initialised (contract).
        unsafe { self.slot.fill_in_place(write, self.round) };
    }
}

impl<S: Slot> Consumer<S> {
    /// Takes the oldest value, or returns `None` if it is not there yet.
    #[inline]
    pub fn pop(&self) -> Option<S::Value> {
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
            !block.slot(head.slot).is_full(head.round)
        })
    }
}

impl<S: Slot> Shared<S> {
    #[inline]
    fn pop(&self, head: &mut Head<S>) -> Option<S::Value> {
        // SAFETY: the consumer has not read all slots of this block (invariant 1).
        let block = unsafe { &*head.block };
        // SAFETY: this is the consumer, and it reads each slot once in a round.
        let value = unsafe { block.slot(head.slot).take(head.round) }?;
        head.slot += 1;
        if head.slot == S::COUNT {
            // Relaxed: read with the last slot (M1, invariant 3).
            let next = block.next.load(Relaxed);
            self.clear_and_recycle(head.block);
            *head = Head::at(next);
        }
        Some(value)
    }

    /// Empties a block of which all slots were read, and keeps it for a producer.
    #[cold]
    fn clear_and_recycle(&self, block: *mut Block<S>) {
        // SAFETY: all slots were read, so no other thread accesses the block (invariant 1).
        let cleared = unsafe { &*block };
        // Relaxed, here and below: published by `recycle` (M3).
        cleared.next.store(ptr::null_mut(), Relaxed);
        cleared
            .round
            .store(cleared.round().wrapping_add(1), Relaxed);
        cleared.slots.as_ref().iter().for_each(S::clear);
        self.recycle(block);
    }

    /// Returns an empty block.
    #[cold]
    fn new_block(&self) -> *mut Block<S> {
        // ORDERING(M3): Acquire, the empty slots.
        let spare = self.spare.swap(ptr::null_mut(), Acquire);
        if spare.is_null() { Block::new() } else { spare }
    }

    /// Keeps an empty block that belongs to the caller, or frees it if another one is kept.
    #[cold]
    fn recycle(&self, block: *mut Block<S>) {
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

impl<S: Slot> Drop for Shared<S> {
    fn drop(&mut self) {
        let last = self.head.with_mut(|head| {
            // SAFETY: both ends are gone.
            let head = unsafe { &mut *head };
            while let Some(value) = self.pop(head) {
                drop(value);
            }
            head.block
        });
        // SAFETY: the consumer's block, from `Block::new`. It is the last one, unless a claimed
        // slot was not filled: then the blocks behind it leak.
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
