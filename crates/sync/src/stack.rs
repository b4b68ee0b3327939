//! A lock-free stack of elements that contain their own link, with a version against ABA.
//!
//! A thread that pops reads the link of an element that another thread may be popping at the same
//! moment, and may even push again. The compare-and-swap then fails, because every change of the
//! head increments its version. If only pointers were compared, a head that came back would hide
//! that its link has changed. Elements are [`Word`]s, which may be inspected after they were taken.
//! The version has 64 bits and never wraps around.
//!
//! # Memory ordering
//! | label | release side | acquire side | what it publishes |
//! | --- | --- | --- | --- |
//! | V1 | `push` CAS of head | a load of the head, or a failed CAS | links and elements |
//! | V2 | `push` stores a link | `take_where` loads it in a search | the incremented version |
//!
//! V1 applies to every call that takes or inspects elements. V2 publishes that the element had been
//! taken, and therefore the version that was incremented then.
//!
//! Taking releases nothing. The elements that remain were published by the earlier pushes, and the
//! CAS continues the release sequences of those.
//! # Source
//! Treiber: Systems programming: coping with parallelism. IBM RJ 5118, 1986; IBM System/370
//! Principles of operation (the version); SQ-LF in Hoffmann, Korch, Rauber, SC 2004, figures 7 and
//! 8, which have a version of 32 bits.

use std::mem::ManuallyDrop;
use std::ptr::{self, NonNull};

use crate::backoff::Backoff;
use crate::deque::{Picked, Word};
use crate::prim::{Acquire, AtomicPair, LIGHT, Ordering, Pair, Relaxed, Release};
use crate::push_list::Linked;

/// The number of elements that a search inspects between two checks of the version.
const LOOKS_PER_VERSION: usize = if LIGHT { 1 } else { 32 };

/// A stack that any thread pushes to and takes from. Dropping the stack does not drop the elements
/// that are left on it.
#[derive(Debug)]
pub struct TaggedStack<T: Word> {
    head: AtomicPair<T::Target>,
}

impl<T: Word<Target: Linked>> Default for TaggedStack<T> {
    fn default() -> Self {
        Self::new()
    }
}

impl<T: Word<Target: Linked>> TaggedStack<T> {
    /// Creates an empty stack.
    pub fn new() -> Self {
        Self {
            head: AtomicPair::null(),
        }
    }

    /// Returns true if the stack is empty at this moment.
    #[inline]
    pub fn is_empty(&self) -> bool {
        // Relaxed: callers that rely on the answer execute a fence first.
        self.head.load(Relaxed).pointer.is_null()
    }

    /// Pushes `element`.
    #[inline]
    pub fn push(&self, element: T) {
        let node = element.into_raw();
        self.push_chain(node, node);
    }

    /// Pushes the elements that are linked from `first` to `last` in one step. `first` ends up on
    /// top.
    #[inline]
    fn push_chain(&self, first: *mut T::Target, last: *mut T::Target) {
        // Relaxed: the CAS checks this guess, and nothing is read through it.
        let mut head = self.head.load(Relaxed);
        let mut backoff = Backoff::new();
        loop {
            link_of::<T>(last, |link| {
                // ORDERING(V2): Release: the element had been taken before.
                link.store(head.pointer, Release);
            });
            // ORDERING(V1): Release: the links and the elements.
            match self
                .head
                .compare_exchange(head, changed(head, first), Release, Relaxed)
            {
                Ok(()) => return,
                Err(seen) => head = seen,
            }
            backoff.retreat();
        }
    }

    /// Pops the newest element.
    #[inline]
    pub fn pop(&self) -> Option<T> {
        self.pop_if(|_| true)
    }

    /// Pops the newest element if it is `wanted`.
    #[inline]
    fn pop_if(&self, wanted: impl Fn(&T) -> bool) -> Option<T> {
        // ORDERING(V1): Acquire: the link of the element.
        let mut head = self.head.load(Acquire);
        let mut backoff = Backoff::new();
        while !head.pointer.is_null() && is_wanted(head.pointer, &wanted) {
            // Relaxed: either published with the head (V1), or stale; in that case the CAS fails.
            let next = next_of::<T>(head.pointer, Relaxed);
            // ORDERING(V1): Acquire on failure, like the load above. On success, the element was
            // acquired with the head.
            match self
                .head
                .compare_exchange(head, changed(head, next), Relaxed, Acquire)
            {
                // SAFETY: the pointer was pushed as a value, and only this thread has taken it.
                Ok(()) => return Some(unsafe { T::from_raw(head.pointer) }),
                Err(seen) => head = seen,
            }
            backoff.retreat();
        }
        None
    }

    /// Takes the newest element that is `wanted`, even from below unwanted ones.
    ///
    /// The elements that are left behind are invisible to other threads for a moment. The result
    /// reports this, and the caller then makes sure that some thread looks again. If no element is
    /// wanted, nothing moves. Costs as much as [`pop`](Self::pop) if the newest element is wanted,
    /// and otherwise a look at every element.
    pub fn take_where(&self, wanted: impl Fn(&T) -> bool) -> Picked<T> {
        if let Some(value) = self.pop_if(&wanted) {
            return Picked {
                value: Some(value),
                hid: false,
            };
        }
        // The newest element is not wanted. Search the others without moving any.
        if !self.may_hold(&wanted) {
            return Picked::default();
        }
        // Some element may be wanted. Take all, pick it, and push the others back.
        let Some(first) = self.take_all() else {
            return Picked::default();
        };
        let (value, rest) = pick(first, wanted);
        if let Some((first, last)) = rest {
            self.push_chain(first, last);
        }
        Picked {
            value,
            hid: rest.is_some(),
        }
    }

    /// Searches without moving elements. Returns false if no element was wanted at some moment
    /// during the call, and true if one may be.
    fn may_hold(&self, wanted: impl Fn(&T) -> bool) -> bool {
        // ORDERING(V1): Acquire: the links.
        let head = self.head.load(Acquire);
        let mut node = head.pointer;
        let mut looks = 0;
        while !node.is_null() {
            if is_wanted(node, &wanted) {
                return true;
            }
            // ORDERING(V2): Acquire. If the element was taken meanwhile, the check of the version
            // below detects that.
            node = next_of::<T>(node, Acquire);
            looks += 1;
            if (looks % LOOKS_PER_VERSION == 0 || node.is_null())
                // Relaxed: V2 orders this load after the change of any link that was seen.
                && self.head.load(Relaxed).number != head.number
            {
                return true;
            }
        }
        false
    }

    /// Takes all elements in one step. Returns the newest, which links to the others.
    fn take_all(&self) -> Option<*mut T::Target> {
        // ORDERING(V1): Acquire: the links and the elements.
        let mut head = self.head.load(Acquire);
        let mut backoff = Backoff::new();
        while !head.pointer.is_null() {
            let empty = changed(head, ptr::null_mut());
            // ORDERING(V1): as in `pop`.
            match self.head.compare_exchange(head, empty, Relaxed, Acquire) {
                Ok(()) => return Some(head.pointer),
                Err(seen) => head = seen,
            }
            backoff.retreat();
        }
        None
    }
}

/// The first and the last node of a chain.
type Ends<T> = (*mut <T as Word>::Target, *mut <T as Word>::Target);

/// Removes the newest wanted element from a chain that the caller owns. Returns it, and the first
/// and the last of the other elements.
fn pick<T: Word<Target: Linked>>(
    first: *mut T::Target,
    wanted: impl Fn(&T) -> bool,
) -> (Option<T>, Option<Ends<T>>) {
    let mut value = None;
    let (mut left_first, mut left_last): (*mut T::Target, _) = (ptr::null_mut(), ptr::null_mut());
    let mut node = first;
    while !node.is_null() {
        // Relaxed: acquired with the head.
        let next = next_of::<T>(node, Relaxed);
        if value.is_none() && is_wanted(node, &wanted) {
            // SAFETY: the node was pushed as a value, and the caller owns the whole chain.
            value = Some(unsafe { T::from_raw(node) });
        } else {
            if left_first.is_null() {
                left_first = node;
            } else {
                // Relaxed: owned by the caller, and published when the chain is pushed again.
                link_of::<T>(left_last, |link| link.store(node, Relaxed));
            }
            left_last = node;
        }
        node = next;
    }
    let rest = (!left_first.is_null()).then_some((left_first, left_last));
    (value, rest)
}

/// Calls `wanted` for an element that is in the stack, or was.
fn is_wanted<T: Word>(node: *mut T::Target, wanted: impl Fn(&T) -> bool) -> bool {
    // SAFETY: only inspected, which `Word` allows even if another thread has taken the element.
    wanted(&ManuallyDrop::new(unsafe { T::from_raw(node) }))
}

fn link_of<T: Word<Target: Linked>>(
    node: *mut T::Target,
    change: impl FnOnce(&crate::prim::AtomicPtr<T::Target>),
) {
    // SAFETY: a node that the caller owns, and not null.
    change(unsafe { &*node }.next());
}

/// Returns the link of a node. The result is arbitrary if the node was taken meanwhile.
fn next_of<T: Word<Target: Linked>>(node: *mut T::Target, order: Ordering) -> *mut T::Target {
    let node = NonNull::new(node).expect("callers pass no null pointer");
    // SAFETY: an element that is in the stack or was, which `Word` allows to inspect.
    let link = unsafe { node.as_ref() }.next();
    // ORDERING: chosen by the caller.
    link.load(order)
}

/// Returns the head after a change to `pointer`, with the next version.
fn changed<T>(head: Pair<T>, pointer: *mut T) -> Pair<T> {
    Pair {
        pointer,
        number: head.number.wrapping_add(1),
    }
}

#[cfg(all(test, not(any(loom, shuttle))))]
mod tests;
