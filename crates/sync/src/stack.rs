//! A lock-free stack of elements that carry their own link, with a version against ABA.
//!
//! Who pops reads the link of an element that another thread may just be popping, and even pushing again: the
//! compare-and-swap then fails, because every change of the head counts up its version. (Were only pointers compared, a head
//! that came back would hide that its link has changed.) Elements are [`Word`]s, which may be looked at after they were taken.
//! The version has 64 bits, and never comes round.
//!
//! # Memory ordering
//! | label | release side | acquire side | what it publishes |
//! | --- | --- | --- | --- |
//! | V1 | `push` CAS of the head | whoever takes or looks loads it, or fails its CAS | the links, and the elements |
//! | V2 | `push` stores a link | `take_where`, looking, loads it | that the element had been taken, and the version counted up |
//!
//! Taking releases nothing: what it leaves was published by the pushes before, whose release its CAS carries on.
//! # Source
//! Treiber: Systems programming: coping with parallelism. IBM RJ 5118, 1986; IBM System/370 Principles of operation
//! (the version); SQ-LF in Hoffmann, Korch, Rauber, SC 2004, figures 7 and 8, which have a version of 32 bits.

use std::mem::ManuallyDrop;
use std::ptr::{self, NonNull};

use crate::backoff::Backoff;
use crate::deque::{Picked, Word};
use crate::prim::{Acquire, AtomicPair, LIGHT, Ordering, Pair, Relaxed, Release};
use crate::returns::Linked;

/// Elements that are looked at between two looks at the version.
const LOOKS_PER_VERSION: usize = if LIGHT { 1 } else { 32 };

/// A stack of elements that any thread pushes and takes. What is left on it when it goes is not dropped.
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
    /// The empty stack.
    pub fn new() -> Self {
        Self {
            head: AtomicPair::null(),
        }
    }

    /// True when the stack is empty at this moment.
    #[inline]
    pub fn is_empty(&self) -> bool {
        // Relaxed: who relies on the answer puts a fence before it.
        self.head.load(Relaxed).pointer.is_null()
    }

    /// Puts `element` on the stack.
    #[inline]
    pub fn push(&self, element: T) {
        let node = element.into_raw();
        self.push_chain(node, node);
    }

    /// Puts elements that are linked from `first` to `last` on the stack in one step, `first` on top.
    #[inline]
    fn push_chain(&self, first: *mut T::Target, last: *mut T::Target) {
        // Relaxed: a guess that the CAS checks; nothing is read through it.
        let mut head = self.head.load(Relaxed);
        let mut backoff = Backoff::new();
        loop {
            link_of::<T>(last, |link| {
                // ORDERING(V2): Release, the element had been taken before.
                link.store(head.pointer, Release);
            });
            // ORDERING(V1): Release, the links and the elements.
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

    /// Takes the newest element.
    #[inline]
    pub fn pop(&self) -> Option<T> {
        self.pop_if(|_| true)
    }

    /// Takes the newest element if it is `wanted`.
    #[inline]
    fn pop_if(&self, wanted: impl Fn(&T) -> bool) -> Option<T> {
        // ORDERING(V1): Acquire, the element's link.
        let mut head = self.head.load(Acquire);
        let mut backoff = Backoff::new();
        while !head.pointer.is_null() && is_wanted(head.pointer, &wanted) {
            // Relaxed: published with the head (V1), or stale, and then the CAS fails.
            let next = next_of::<T>(head.pointer, Relaxed);
            // ORDERING(V1): Acquire on failure, as for the load above; what success takes was acquired with the head.
            match self
                .head
                .compare_exchange(head, changed(head, next), Relaxed, Acquire)
            {
                // SAFETY: pushed as a value, and taken by us alone.
                Ok(()) => return Some(unsafe { T::from_raw(head.pointer) }),
                Err(seen) => head = seen,
            }
            backoff.retreat();
        }
        None
    }

    /// Takes the newest element that is `wanted`, from under those that are not.
    ///
    /// Elements left behind are out of the others' sight for a moment; the result says so, and the caller makes sure that
    /// somebody looks again. Where nothing is wanted, nothing moves. Cost: that of [`pop`](Self::pop) where the newest is wanted, and a
    /// look at every element otherwise.
    pub fn take_where(&self, wanted: impl Fn(&T) -> bool) -> Picked<T> {
        if let Some(value) = self.pop_if(&wanted) {
            return Picked {
                value: Some(value),
                hid: false,
            };
        }
        if !self.may_hold(&wanted) {
            return Picked::default();
        }
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

    /// False when no element was wanted at some moment during the call.
    fn may_hold(&self, wanted: impl Fn(&T) -> bool) -> bool {
        // ORDERING(V1): Acquire, the links.
        let head = self.head.load(Acquire);
        let mut node = head.pointer;
        let mut looks = 0;
        while !node.is_null() {
            if is_wanted(node, &wanted) {
                return true;
            }
            // ORDERING(V2): Acquire; if the element was taken meanwhile, the version that is looked at below tells.
            node = next_of::<T>(node, Acquire);
            looks += 1;
            if (looks % LOOKS_PER_VERSION == 0 || node.is_null())
                // Relaxed: ordered by V2 after whatever changed a link that was seen.
                && self.head.load(Relaxed).number != head.number
            {
                return true;
            }
        }
        false
    }

    /// Takes all elements in one step; the newest links to the others.
    fn take_all(&self) -> Option<*mut T::Target> {
        // ORDERING(V1): Acquire, the links and the elements.
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

/// The newest wanted element out of a chain that is ours, and the first and the last of the others.
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
            // SAFETY: pushed as a value; the whole chain is ours.
            value = Some(unsafe { T::from_raw(node) });
        } else {
            if left_first.is_null() {
                left_first = node;
            } else {
                // Relaxed: ours, and published when the chain is put back.
                link_of::<T>(left_last, |link| link.store(node, Relaxed));
            }
            left_last = node;
        }
        node = next;
    }
    let rest = (!left_first.is_null()).then_some((left_first, left_last));
    (value, rest)
}

/// Looks at an element that is in the stack, or was.
fn is_wanted<T: Word>(node: *mut T::Target, wanted: impl Fn(&T) -> bool) -> bool {
    // SAFETY: looked at only, which `Word` allows for what another thread has taken.
    wanted(&ManuallyDrop::new(unsafe { T::from_raw(node) }))
}

fn link_of<T: Word<Target: Linked>>(
    node: *mut T::Target,
    change: impl FnOnce(&crate::prim::AtomicPtr<T::Target>),
) {
    // SAFETY: an element of ours, not null.
    change(unsafe { &*node }.next());
}

/// What a node links to, or, when it was taken meanwhile, anything.
fn next_of<T: Word<Target: Linked>>(node: *mut T::Target, order: Ordering) -> *mut T::Target {
    let node = NonNull::new(node).expect("callers have looked");
    // SAFETY: an element that is in the stack or was, and may be looked at (`Word`).
    let link = unsafe { node.as_ref() }.next();
    // ORDERING: the caller's.
    link.load(order)
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
