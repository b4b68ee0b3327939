//! The MCS lock: each waiter looks at a word of its own, in a node on its own stack. Fair.
//!
//! This is the form in which nodes are needed only while their threads wait: the holder's place in the queue is a node in the
//! lock itself, so that the lock needs nothing from its callers between `lock` and `unlock`.
//!
//! ```text
//!   tail ──────────────────────────────────┐            free:  tail = null
//!                                          ▼            held, nobody waits:  tail = HELD
//!   holder ──next──► waiter ──next──► waiter            held, some wait:  as drawn
//! ```
//!
//! HELD stands for the holder's node. Its address would go stale when the lock is moved, which a program may do with a lock that it
//! has and whose guard it has forgotten.
//! # Memory ordering
//! | label | release side                               | acquire side                            | what it publishes                       |
//! |-------|--------------------------------------------|-----------------------------------------|-----------------------------------------|
//! | L5    | `unlock` stores `waiting` false            | the waiter loads it                     | what the last holder did                |
//! | L6    | `unlock` CAS `tail` to null                | `lock`, `try_lock` find it null         | what the last holder did                |
//! | L7    | a newcomer stores its predecessor's `next` | `unlock`, and the heir, load it         | the newcomer's node                     |
//! | L8    | who waits swaps itself into `tail`; the heir CAS `tail` to HELD | a newcomer swaps it out | the node that it writes `next` of |
//! # Invariants
//! 1. `tail` is, or stands for, the last node of the queue, whose `next` is null until the thread that swapped it out stores it.
//! 2. A waiter's node is in the queue from its swap until it has moved its successor over to `holder`; nobody else touches it
//!    after that.
//! # Source
//! Mellor-Crummey, Scott: Algorithms for scalable synchronization on shared-memory multiprocessors. ACM TOCS 9(1),
//! 1991; the form without nodes for holders (K42): Scott: Shared-memory synchronization. 2013, sect. 4.3.

use std::ptr;

use super::Lock;
use crate::backoff::Backoff;
use crate::prim::{AcqRel, Acquire, AtomicBool, AtomicPtr, Relaxed, Release};

/// Stands for the node of whoever has the lock.
const HELD: *mut Node = ptr::without_provenance_mut(1);

/// A fair lock whose waiters each look at their own word.
#[derive(Debug)]
pub struct McsLock {
    tail: AtomicPtr<Node>,
    /// The node of whoever has the lock.
    holder: Node,
}

#[derive(Debug)]
struct Node {
    next: AtomicPtr<Node>,
    waiting: AtomicBool,
}

impl Node {
    crate::const_fn! {
        const fn new() -> Self {
            Self {
                next: AtomicPtr::new(ptr::null_mut()),
                waiting: AtomicBool::new(true),
            }
        }
    }

    fn as_ptr(&self) -> *mut Self {
        ptr::from_ref(self).cast_mut()
    }

    /// The successor, which has swapped this node out of `tail` and is about to say so.
    fn wait_for_next(&self) -> *mut Self {
        let mut backoff = Backoff::new();
        loop {
            // ORDERING(L7): Acquire, the successor's node.
            let next = self.next.load(Acquire);
            if !next.is_null() {
                return next;
            }
            backoff.pause();
        }
    }
}

impl Default for McsLock {
    fn default() -> Self {
        Self::new()
    }
}

impl McsLock {
    crate::const_fn! {
        /// A free lock.
        pub const fn new() -> Self {
            Self {
                tail: AtomicPtr::new(ptr::null_mut()),
                holder: Node::new(),
            }
        }
    }

    /// True when somebody waits for the lock, which somebody has.
    pub fn is_contended(&self) -> bool {
        // Relaxed: a hint.
        let tail = self.tail.load(Relaxed);
        !tail.is_null() && tail != HELD
    }

    #[cold]
    fn lock_slow(&self) {
        let node = Node::new();
        // ORDERING(L6, L8): Acquire, what the last holder did, or the node before ours; Release, our node.
        let before = self.tail.swap(node.as_ptr(), AcqRel);
        if !before.is_null() {
            let before = if before == HELD {
                &self.holder
            } else {
                // SAFETY: the node before ours stays until we have stored its `next` (invariants 1 and 2).
                unsafe { &*before }
            };
            // ORDERING(L7): Release, our node.
            before.next.store(node.as_ptr(), Release);
            let mut backoff = Backoff::new();
            // ORDERING(L5): Acquire, what the last holder did.
            while node.waiting.load(Acquire) {
                backoff.pause();
            }
        }
        self.leave_queue(&node);
    }

    /// The lock is ours: puts `holder` into the place of our node, which is about to go.
    fn leave_queue(&self, node: &Node) {
        // Relaxed: published by the CAS below, or overwritten.
        self.holder.next.store(ptr::null_mut(), Relaxed);
        // ORDERING(L8): Release, the null just stored.
        let alone = self
            .tail
            .compare_exchange(node.as_ptr(), HELD, Release, Relaxed)
            .is_ok();
        if !alone {
            // Relaxed: read again by this thread only.
            self.holder.next.store(node.wait_for_next(), Relaxed);
        }
    }
}

// SAFETY: one node at a time is at the head of the queue, and only `unlock` moves the head.
unsafe impl Lock for McsLock {
    #[inline]
    fn lock(&self) {
        if !self.try_lock() {
            self.lock_slow();
        }
    }

    #[inline]
    fn try_lock(&self) -> bool {
        // ORDERING(L6): Acquire, what the last holder did. That the holder's `next` is null was published when it was stored.
        self.tail
            .compare_exchange(ptr::null_mut(), HELD, Acquire, Relaxed)
            .is_ok()
    }

    #[inline]
    unsafe fn unlock(&self) {
        // ORDERING(L7): Acquire, the successor's node.
        let mut next = self.holder.next.load(Acquire);
        if next.is_null() {
            // ORDERING(L6): Release, what we did.
            if self
                .tail
                .compare_exchange(HELD, ptr::null_mut(), Release, Relaxed)
                .is_ok()
            {
                return;
            }
            next = self.holder.wait_for_next();
        }
        // SAFETY: a waiter, whose node stays until it has the lock (invariant 2).
        let next = unsafe { &*next };
        // ORDERING(L5): Release, what we did.
        next.waiting.store(false, Release);
    }
}
