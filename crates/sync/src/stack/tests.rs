//! Tests of the stack, on real threads.

use std::thread;

use super::*;
use crate::prim::{AtomicPtr, AtomicUsize};

#[derive(Debug)]
struct Node {
    link: AtomicPtr<Node>,
    uses: AtomicUsize,
}

// SAFETY: `next` always returns the same field.
unsafe impl Linked for Node {
    fn next(&self) -> &AtomicPtr<Self> {
        &self.link
    }
}

/// A node that lives until its test frees it.
#[derive(Debug, PartialEq)]
struct Element(*mut Node);

// SAFETY: a node consists of two atomics.
unsafe impl Send for Element {}

// SAFETY: the conversions keep the pointer, and the node stays valid.
unsafe impl Word for Element {
    type Target = Node;

    fn into_raw(self) -> *mut Node {
        self.0
    }

    unsafe fn from_raw(pointer: *mut Node) -> Self {
        Self(pointer)
    }
}

impl Element {
    fn new() -> Self {
        Self(Box::into_raw(Box::new(Node {
            link: AtomicPtr::new(ptr::null_mut()),
            uses: AtomicUsize::new(0),
        })))
    }

    fn uses(&self) -> &AtomicUsize {
        // SAFETY: the node lives until the test frees it.
        &unsafe { &*self.0 }.uses
    }

    /// Frees the node.
    ///
    /// # Safety
    /// No thread accesses the node any more, and it is freed only once.
    unsafe fn free(node: *mut Node) {
        // SAFETY: created in `new`; the rest by the contract of this function.
        drop(unsafe { Box::from_raw(node) });
    }
}

#[test]
fn newest_comes_first() {
    let stack = TaggedStack::new();
    let elements: Vec<Element> = (0..3).map(|_| Element::new()).collect();
    let expected: Vec<*mut Node> = elements.iter().rev().map(|element| element.0).collect();
    for element in elements {
        stack.push(element);
    }
    assert!(!stack.is_empty());
    let taken: Vec<*mut Node> = std::iter::from_fn(|| stack.pop())
        .map(|element| element.0)
        .collect();
    assert_eq!(taken, expected);
    assert!(stack.is_empty());
    for node in taken {
        // SAFETY: taken once, and only this thread uses the stack.
        unsafe { Element::free(node) };
    }
}

#[test]
fn a_wanted_element_is_taken_from_the_middle_and_the_others_keep_their_order() {
    let stack = TaggedStack::new();
    let addresses: Vec<*mut Node> = (0..4)
        .map(|_| {
            let element = Element::new();
            let address = element.0;
            stack.push(element);
            address
        })
        .collect();
    let picked = stack.take_where(|_| false);
    assert_eq!((picked.value, picked.hid), (None, false));
    let picked = stack.take_where(|element| element.0 == addresses[1]);
    assert_eq!(
        (picked.value, picked.hid),
        (Some(Element(addresses[1])), true)
    );
    let left: Vec<*mut Node> = std::iter::from_fn(|| stack.pop())
        .map(|element| element.0)
        .collect();
    assert_eq!(left, [addresses[3], addresses[2], addresses[0]]);
    for node in addresses {
        // SAFETY: all nodes were taken, each once, and only this thread uses the stack.
        unsafe { Element::free(node) };
    }
}

/// Checks that only one thread has an element: some threads pop, others pick, and each increments
/// the count of the element it has taken non-atomically.
#[test]
fn element_belongs_to_one_thread_at_a_time() {
    let rounds = if LIGHT { 100 } else { 100_000 };
    let stack = TaggedStack::new();
    for _ in 0..3 {
        stack.push(Element::new());
    }
    thread::scope(|scope| {
        for thread in 0..4 {
            let stack = &stack;
            scope.spawn(move || {
                for round in 0..rounds {
                    let taken = match thread {
                        // Relaxed: any answer will do.
                        0 => {
                            stack
                                .take_where(|element| element.uses().load(Relaxed) % 2 == round % 2)
                                .value
                        }
                        _ => stack.pop(),
                    };
                    let Some(element) = taken else { continue };
                    // Relaxed: owned by this thread, and published by the push.
                    let before = element.uses().load(Relaxed);
                    element.uses().store(before + 1, Relaxed);
                    assert_eq!(element.uses().load(Relaxed), before + 1);
                    stack.push(element);
                }
            });
        }
    });
    let left: Vec<*mut Node> = std::iter::from_fn(|| stack.pop())
        .map(|element| element.0)
        .collect();
    assert_eq!(left.len(), 3);
    for node in left {
        // SAFETY: taken once, and the other threads have ended.
        unsafe { Element::free(node) };
    }
}
