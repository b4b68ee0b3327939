//! A lock-free stack of nodes that carry their own link, with a version against ABA.
//!
//! Who pops reads the link of a node that another thread may just be popping, and even pushing again: the compare-and-swap
//! then fails, because every change of the head counts up its version. (Were only pointers compared, a head that came back would hide
//! that its link has changed.) So nodes must stay nodes as long as anybody pops. The version has 64 bits, and never comes round.
//!
//! # Memory ordering
//! | label | release side                | acquire side                          | what it publishes               |
//! |-------|-----------------------------|---------------------------------------|---------------------------------|
//! | V1    | `push` CAS of the head      | `pop`, `take_all` load it, or fail their CAS | the node's link, and the node |
//!
//! A `pop` releases nothing: what it leaves was published by the pushes before, whose release its CAS carries on.
//! # Source
//! Treiber: Systems programming: coping with parallelism. IBM RJ 5118, 1986; IBM System/370 Principles of operation
//! (the version); SQ-LF in Hoffmann, Korch, Rauber, SC 2004, figures 7 and 8, which have a version of 32 bits.

use std::ptr::{self, NonNull};

use crate::backoff::Backoff;
use crate::prim::{Acquire, AtomicPair, Pair, Relaxed, Release};
use crate::returns::Linked;

/// A stack of nodes that any thread pushes and pops.
#[derive(Debug)]
pub struct TaggedStack<T> {
    head: AtomicPair<T>,
}

impl<T: Linked> Default for TaggedStack<T> {
    fn default() -> Self {
        Self::new()
    }
}

impl<T: Linked> TaggedStack<T> {
    crate::const_fn! {
        /// The empty stack.
        pub const fn new() -> Self {
            Self {
                head: AtomicPair::null(),
            }
        }
    }

    /// True when the stack is empty at this moment.
    #[inline]
    pub fn is_empty(&self) -> bool {
        // Relaxed: who relies on the answer puts a fence before it.
        self.head.load(Relaxed).pointer.is_null()
    }

    /// Puts `node` on the stack.
    ///
    /// # Safety
    /// The node is in no list and the caller's alone; with the call it stops being so. It stays a node, in memory that is
    /// used for nothing else, as long as this stack is used.
    #[inline]
    pub unsafe fn push(&self, node: NonNull<T>) {
        // SAFETY: a chain of one.
        unsafe { self.push_chain(node, node) };
    }

    /// Puts a chain of nodes, linked from `first` to `last`, on the stack in one step, `first` on top.
    ///
    /// # Safety
    /// As for [`TaggedStack::push`], for each node.
    #[inline]
    pub unsafe fn push_chain(&self, first: NonNull<T>, last: NonNull<T>) {
        // SAFETY: the node is valid and ours until the CAS succeeds (contract).
        let link = unsafe { last.as_ref() }.next();
        // Relaxed: a guess that the CAS checks; nothing is read through it.
        let mut head = self.head.load(Relaxed);
        let mut backoff = Backoff::new();
        loop {
            // Relaxed: published by the CAS.
            link.store(head.pointer, Relaxed);
            // ORDERING(V1): Release, the links and the nodes.
            match self
                .head
                .compare_exchange(head, changed(head, first.as_ptr()), Release, Relaxed)
            {
                Ok(()) => return,
                Err(seen) => head = seen,
            }
            backoff.retreat();
        }
    }

    /// Takes the newest node; it is the caller's then.
    #[inline]
    pub fn pop(&self) -> Option<NonNull<T>> {
        // ORDERING(V1): Acquire, the node's link.
        let mut head = self.head.load(Acquire);
        let mut backoff = Backoff::new();
        loop {
            let node = NonNull::new(head.pointer)?;
            // SAFETY: a node that is or was on this stack, and so still is one (contract of `push`).
            let link = unsafe { node.as_ref() }.next();
            // Relaxed: published by the push (V1), or stale, and then the CAS fails.
            let next = link.load(Relaxed);
            // ORDERING(V1): Acquire on failure, as for the load above; what success takes was acquired with the head.
            match self
                .head
                .compare_exchange(head, changed(head, next), Relaxed, Acquire)
            {
                Ok(()) => return Some(node),
                Err(seen) => head = seen,
            }
            backoff.retreat();
        }
    }

    /// Takes all nodes in one step; the newest links to the others through [`Linked::next`].
    pub fn take_all(&self) -> Option<NonNull<T>> {
        // ORDERING(V1): Acquire, the links and the nodes.
        let mut head = self.head.load(Acquire);
        loop {
            let node = NonNull::new(head.pointer)?;
            // ORDERING(V1): as in `pop`.
            match self
                .head
                .compare_exchange(head, changed(head, ptr::null_mut()), Relaxed, Acquire)
            {
                Ok(()) => return Some(node),
                Err(seen) => head = seen,
            }
        }
    }
}

/// The head after a change.
fn changed<T>(head: Pair<T>, pointer: *mut T) -> Pair<T> {
    Pair {
        pointer,
        number: head.number.wrapping_add(1),
    }
}

#[cfg(all(test, not(any(loom, shuttle))))]
mod tests;
