//! A list that many threads push to and one thread takes as a whole.
//!
//! The runtime delivers urgent messages through it: each worker owns one list, and any thread
//! pushes to it. Nodes carry their own links, so a push allocates nothing. Because the owner takes
//! the whole list at once, no thread ever pops a single node, and there is no ABA problem.
//!
//! # Memory ordering
//! | label | release side | acquire side | what it publishes |
//! | --- | --- | --- | --- |
//! | R1 | `push` CAS of the head | `take_all` swaps it out | the node and its link |
//! # Source
//! Treiber: Systems programming: coping with parallelism. IBM RJ 5118, 1986; the push half of it.

use std::ptr::{self, NonNull};

use crate::prim::{Acquire, AtomicPtr, Relaxed, Release};

/// A node that carries its own link.
///
/// # Safety
/// `next` always returns the same word, and only the list accesses that word while the node is in a
/// list.
pub unsafe trait Linked: Sized {
    /// Returns the link to the next node.
    fn next(&self) -> &AtomicPtr<Self>;
}

/// A list of nodes that many threads push to and one thread takes as a whole.
#[derive(Debug)]
pub struct PushList<T> {
    head: AtomicPtr<T>,
}

impl<T: Linked> Default for PushList<T> {
    fn default() -> Self {
        Self::new()
    }
}

impl<T: Linked> PushList<T> {
    /// Creates an empty list.
    pub fn new() -> Self {
        Self {
            head: AtomicPtr::new(ptr::null_mut()),
        }
    }

    /// Pushes `node`.
    ///
    /// # Safety
    /// The node is valid, is in no list, and belongs to the caller alone. The call gives up this
    /// ownership.
    pub unsafe fn push(&self, node: NonNull<T>) {
        // Relaxed: the CAS checks this guess, and nothing is read through it.
        let mut head = self.head.load(Relaxed);
        loop {
            // SAFETY: the node is valid and ours until the CAS succeeds (contract).
            let next = unsafe { node.as_ref() }.next();
            // Relaxed: published by the CAS.
            next.store(head, Relaxed);
            // ORDERING(R1): Release: the taker reads the node and its link.
            match self
                .head
                .compare_exchange_weak(head, node.as_ptr(), Release, Relaxed)
            {
                Ok(_) => return,
                Err(seen) => head = seen,
            }
        }
    }

    /// Returns true if the list was empty at some moment during the call.
    #[inline]
    pub fn is_empty(&self) -> bool {
        // Relaxed: a hint, or ordered by a fence of the caller.
        self.head.load(Relaxed).is_null()
    }

    /// Takes all nodes. Returns the node that was pushed last; [`Linked::next`] leads to the
    /// others.
    #[inline]
    pub fn take_all(&self) -> Option<NonNull<T>> {
        // Checking an empty list costs no exchange; the next call finds a node that this one
        // misses.
        if self.is_empty() {
            return None;
        }
        // ORDERING(R1): Acquire: the links and the nodes belong to the caller now.
        NonNull::new(self.head.swap(ptr::null_mut(), Acquire))
    }
}
