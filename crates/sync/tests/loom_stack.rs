//! Models of the stack with a version: a node is one thread's at a time, also when it comes back under a pop.

#![cfg(loom)]

use std::ptr::{self, NonNull};

use loom::cell::UnsafeCell;
use loom::model::Builder;
use loom::sync::Arc;
use loom::sync::atomic::AtomicPtr;
use loom::sync::atomic::Ordering::Relaxed;
use loom::thread;
use raddle_sync::returns::Linked;
use raddle_sync::stack::TaggedStack;

fn model(check: impl Fn() + Sync + Send + 'static) {
    let mut builder = Builder::new();
    builder.preemption_bound = Some(3);
    builder.check(check);
}

struct Node {
    link: AtomicPtr<Node>,
    /// Written by whoever has the node.
    value: UnsafeCell<u32>,
}

// SAFETY: one field.
unsafe impl Linked for Node {
    fn next(&self) -> &AtomicPtr<Self> {
        &self.link
    }
}

/// The stack and nodes that live as long.
struct Stack {
    stack: TaggedStack<Node>,
    nodes: Vec<Node>,
}

// SAFETY: whoever pops a node has it alone: what these models check.
unsafe impl Sync for Stack {}

impl Stack {
    /// A stack of `pushed` nodes, the first on top, out of `count`.
    fn new(pushed: usize, count: usize) -> Arc<Self> {
        let stack = Arc::new(Self {
            stack: TaggedStack::new(),
            nodes: (0..count)
                .map(|_| Node {
                    link: AtomicPtr::new(ptr::null_mut()),
                    value: UnsafeCell::new(0),
                })
                .collect(),
        });
        for index in (0..pushed).rev() {
            stack.push(index);
        }
        stack
    }

    fn push(&self, index: usize) {
        // SAFETY: the caller has the node, which lives as long as the stack.
        unsafe { self.stack.push(NonNull::from(&self.nodes[index])) };
    }

    fn pop(&self) -> Option<usize> {
        let node = self.stack.pop()?;
        let index = self
            .nodes
            .iter()
            .position(|other| ptr::eq(other, node.as_ptr()))
            .expect("one of ours");
        self.change(index);
        Some(index)
    }

    /// What only the one who has the node may do.
    fn change(&self, index: usize) {
        let value = &self.nodes[index].value;
        // SAFETY: the caller's: loom reports when it is not.
        value.with_mut(|value| unsafe { *value += 1 });
    }
}

/// The version: one thread reads the top and its link; the other pops two and puts the first back. Were the head compared
/// without its version, the first thread would put the second node, which is the other's, on top.
#[test]
fn head_that_came_back_is_not_taken_for_unchanged() {
    model(|| {
        let stack = Stack::new(3, 3);
        let other = {
            let stack = Arc::clone(&stack);
            thread::spawn(move || {
                let first = stack.pop();
                let second = stack.pop();
                if let Some(first) = first {
                    stack.push(first);
                }
                second
            })
        };
        let mine = stack.pop();
        let second = other.join().expect("no panic");
        let mut all: Vec<usize> = std::iter::from_fn(|| stack.pop()).collect();
        all.extend(mine);
        all.extend(second);
        all.sort_unstable();
        assert_eq!(all, [0, 1, 2]);
    });
}

/// V1: what was written into a node before its push is seen after its pop, and the link leads to nodes.
#[test]
fn popped_node_shows_what_its_last_owner_wrote() {
    model(|| {
        let stack = Stack::new(2, 2);
        let other = {
            let stack = Arc::clone(&stack);
            thread::spawn(move || {
                for _ in 0..2 {
                    if let Some(node) = stack.pop() {
                        stack.push(node);
                    }
                }
            })
        };
        let mine = stack.pop();
        if let Some(node) = mine {
            stack.push(node);
        }
        other.join().expect("no panic");
        assert_eq!(std::iter::from_fn(|| stack.pop()).count(), 2);
    });
}

/// V1, for the way that takes everything, and chains that are put back.
#[test]
fn chain_that_was_taken_and_put_back_is_whole() {
    model(|| {
        let stack = Stack::new(1, 2);
        let other = {
            let stack = Arc::clone(&stack);
            thread::spawn(move || {
                stack.change(1);
                stack.push(1);
            })
        };
        let first = stack.stack.take_all().expect("the node that was there");
        let mut last = first;
        loop {
            // SAFETY: a node that we have taken.
            let node = unsafe { last.as_ref() };
            // SAFETY: ours: loom reports when it is not.
            node.value.with_mut(|value| unsafe { *value += 1 });
            let Some(next) = NonNull::new(node.link.load(Relaxed)) else {
                break;
            };
            last = next;
        }
        // SAFETY: ours, linked from the first to the last.
        unsafe { stack.stack.push_chain(first, last) };
        other.join().expect("no panic");
        assert_eq!(std::iter::from_fn(|| stack.pop()).count(), 2);
    });
}
