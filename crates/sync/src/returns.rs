//! Where memory that was freed on another thread comes home, and messages arrive: many push, one takes all.
//!
//! Since the taker takes the whole list at once, no thread ever pops a single node, and there is no ABA.
//!
//! # Memory ordering
//! | label | release side            | acquire side             | what it publishes                     |
//! |-------|-------------------------|--------------------------|---------------------------------------|
//! | R1    | `push` CAS of the head  | `take_all` swaps it out  | the node's link, and that it is free  |
//! # Source
//! Treiber: Systems programming: coping with parallelism. IBM RJ 5118, 1986; the push half of it.

use std::ptr::{self, NonNull};

use crate::prim::{Acquire, AtomicPtr, Relaxed, Release};

/// A node that carries its own link.
///
/// # Safety
/// `next` always returns the same word, and nobody but the list touches it while the node is in a list.
pub unsafe trait Linked: Sized {
    /// The link to the next node.
    fn next(&self) -> &AtomicPtr<Self>;
}

/// A stack of nodes that threads push and one thread takes as a whole.
#[derive(Debug)]
pub struct Returns<T> {
    head: AtomicPtr<T>,
}

impl<T: Linked> Default for Returns<T> {
    fn default() -> Self {
        Self::new()
    }
}

impl<T: Linked> Returns<T> {
    /// The empty stack.
    pub fn new() -> Self {
        Self {
            head: AtomicPtr::new(ptr::null_mut()),
        }
    }

    /// Puts `node` on the stack.
    ///
    /// # Safety
    /// The node is valid, is in no list, and is the caller's alone; with the call it stops being so.
    pub unsafe fn push(&self, node: NonNull<T>) {
        // Relaxed: a guess that the CAS checks; nothing is read through it.
        let mut head = self.head.load(Relaxed);
        loop {
            // SAFETY: the node is valid and ours until the CAS succeeds (contract).
            let next = unsafe { node.as_ref() }.next();
            // Relaxed: published by the CAS.
            next.store(head, Relaxed);
            // ORDERING(R1): Release, the taker reads the link and reuses the node.
            match self
                .head
                .compare_exchange_weak(head, node.as_ptr(), Release, Relaxed)
            {
                Ok(_) => return,
                Err(seen) => head = seen,
            }
        }
    }

    /// True when nothing was there at some moment during the call.
    #[inline]
    pub fn is_empty(&self) -> bool {
        // Relaxed: a hint, or after a fence of the caller's.
        self.head.load(Relaxed).is_null()
    }

    /// Takes all nodes, the last one that was pushed first; the result links to the rest through [`Linked::next`].
    #[inline]
    pub fn take_all(&self) -> Option<NonNull<T>> {
        // An empty look costs no exchange; what is missed now is found next time.
        if self.is_empty() {
            return None;
        }
        // ORDERING(R1): Acquire, the links and the nodes are now ours.
        NonNull::new(self.head.swap(ptr::null_mut(), Acquire))
    }
}
