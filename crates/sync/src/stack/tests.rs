//! The stack, on real threads.

use std::thread;

use super::*;
use crate::prim::{AtomicPtr, AtomicUsize, LIGHT};

#[derive(Debug)]
struct Node {
    link: AtomicPtr<Node>,
    uses: AtomicUsize,
}

// SAFETY: one field.
unsafe impl Linked for Node {
    fn next(&self) -> &AtomicPtr<Self> {
        &self.link
    }
}

fn nodes(count: usize) -> Vec<&'static Node> {
    (0..count)
        .map(|_| {
            &*Box::leak(Box::new(Node {
                link: AtomicPtr::new(ptr::null_mut()),
                uses: AtomicUsize::new(0),
            }))
        })
        .collect()
}

#[test]
fn newest_comes_first_and_a_chain_keeps_its_order() {
    let stack = TaggedStack::new();
    let nodes = nodes(4);
    let at = |index: usize| NonNull::from(nodes[index]);
    // SAFETY: each node is pushed once, and lives for ever.
    unsafe { stack.push(at(0)) };
    // Relaxed: one thread.
    nodes[1].link.store(at(2).as_ptr(), Relaxed);
    // SAFETY: as above, linked from the first to the last.
    unsafe { stack.push_chain(at(1), at(2)) };
    // SAFETY: as above.
    unsafe { stack.push(at(3)) };
    assert!(!stack.is_empty());
    for expected in [3, 1, 2, 0] {
        assert_eq!(stack.pop(), Some(at(expected)));
    }
    assert!(stack.is_empty());
    assert_eq!((stack.pop(), stack.take_all()), (None, None));
}

/// Two threads each with a node at a time: who counts on it alone has it alone.
#[test]
fn node_belongs_to_one_thread_at_a_time() {
    let rounds = if LIGHT { 100 } else { 100_000 };
    let stack = TaggedStack::new();
    let nodes = nodes(3);
    for node in &nodes {
        // SAFETY: each node is pushed once, and lives for ever.
        unsafe { stack.push(NonNull::from(*node)) };
    }
    thread::scope(|scope| {
        for _ in 0..4 {
            scope.spawn(|| {
                for _ in 0..rounds {
                    let Some(node) = stack.pop() else { continue };
                    // SAFETY: it lives for ever.
                    let uses = &unsafe { node.as_ref() }.uses;
                    // Relaxed: ours alone, and published by the push.
                    let before = uses.load(Relaxed);
                    uses.store(before + 1, Relaxed);
                    assert_eq!(uses.load(Relaxed), before + 1);
                    // SAFETY: ours, and in no list.
                    unsafe { stack.push(node) };
                }
            });
        }
    });
    let mut left = 0;
    while stack.pop().is_some() {
        left += 1;
    }
    assert_eq!(left, nodes.len());
}
