//! Models of the stack with a version: an element is one thread's at a time, also when it comes back under a pop.

#![cfg(loom)]

use std::ptr;

use loom::cell::UnsafeCell;
use loom::model::Builder;
use loom::sync::Arc;
use loom::thread;
use raddle_sync::deque::Word;
use raddle_sync::prim::AtomicPtr;
use raddle_sync::returns::Linked;
use raddle_sync::stack::TaggedStack;

fn model(check: impl Fn() + Sync + Send + 'static) {
    let mut builder = Builder::new();
    builder.preemption_bound = Some(3);
    builder.check(check);
}

#[derive(Debug)]
struct Node {
    number: usize,
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

/// A node that lives as long as its model.
struct Element(*mut Node);

// SAFETY: whoever has the element has the node's value alone: what these models check.
unsafe impl Send for Element {}

// SAFETY: the pointer goes out and comes back, and the node stays a node.
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
    fn new(number: usize) -> Self {
        let node = Node {
            number,
            link: AtomicPtr::new(ptr::null_mut()),
            value: UnsafeCell::new(0),
        };
        Self(Box::into_raw(Box::new(node)))
    }

    fn number(&self) -> usize {
        // SAFETY: the node is there, and its number never changes.
        unsafe { (*self.0).number }
    }

    /// What only the one who has the element may do.
    fn change(self) -> Self {
        // SAFETY: the node is there.
        let node = unsafe { &*self.0 };
        // SAFETY: ours: loom reports when it is not.
        node.value.with_mut(|value| unsafe { *value += 1 });
        self
    }
}

type Stack = TaggedStack<Element>;

/// A stack of elements from zero on, the first on top.
fn stack(count: usize) -> Arc<Stack> {
    let stack = Arc::new(Stack::new());
    for number in (0..count).rev() {
        stack.push(Element::new(number).change());
    }
    stack
}

/// Empties the stack; the numbers of what was there, in order.
fn rest(stack: &Stack) -> Vec<usize> {
    std::iter::from_fn(|| stack.pop())
        .map(|element| {
            let element = element.change();
            let number = element.number();
            // SAFETY: made by `Element::new`, and out of the stack for good.
            drop(unsafe { Box::from_raw(element.0) });
            number
        })
        .collect()
}

/// The version: one thread reads the top and its link; the other pops two and puts the first back. Were the head compared
/// without its version, the first thread would put the second element, which is the other's, on top.
#[test]
fn head_that_came_back_is_not_taken_for_unchanged() {
    model(|| {
        let stack = stack(3);
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
        for taken in [mine, other.join().expect("no panic")]
            .into_iter()
            .flatten()
        {
            stack.push(taken);
        }
        let mut all = rest(&stack);
        all.sort_unstable();
        assert_eq!(all, [0, 1, 2]);
    });
}

/// V1: what was written into an element before its push is seen after it is popped, and the link leads to elements.
#[test]
fn popped_element_shows_what_its_last_owner_wrote() {
    model(|| {
        let stack = stack(2);
        let other = {
            let stack = Arc::clone(&stack);
            thread::spawn(move || {
                for _ in 0..2 {
                    if let Some(element) = stack.pop() {
                        stack.push(element.change());
                    }
                }
            })
        };
        if let Some(element) = stack.pop() {
            stack.push(element.change());
        }
        other.join().expect("no panic");
        assert_eq!(rest(&stack).len(), 2);
    });
}

/// V1 for the way that picks, beside one that pushes: links that were not published yet would hide what is below.
///
/// The one that picks is the spawned thread: with the roles exchanged, loom leaves out the schedules that matter.
#[test]
fn picked_element_is_found_below_what_is_being_pushed() {
    model(|| {
        let stack = stack(1);
        let picking = {
            let stack = Arc::clone(&stack);
            thread::spawn(move || stack.take_where(|element| element.number() == 0).value)
        };
        for number in [1, 2] {
            stack.push(Element::new(number).change());
        }
        let picked = picking.join().expect("no panic");
        let picked = picked.expect("it was always there").change();
        assert_eq!(picked.number(), 0);
        stack.push(picked);
        assert_eq!(rest(&stack).len(), 3);
    });
}

/// V2: who looks for an element that is there all the time finds it, though the one above it goes to another stack, where its
/// link ends. Roles as above.
#[test]
fn wanted_element_is_not_overlooked() {
    model(|| {
        let (stack, elsewhere) = (stack(2), self::stack(0));
        let looking = {
            let stack = Arc::clone(&stack);
            thread::spawn(move || stack.take_where(|element| element.number() == 1).value)
        };
        if let Some(element) = stack.pop() {
            elsewhere.push(element.change());
        }
        let picked = looking.join().expect("no panic");
        let found = picked.is_some() || rest(&elsewhere) == [1];
        assert!(found, "it was always there");
        if let Some(picked) = picked {
            stack.push(picked.change());
        }
        rest(&elsewhere);
        rest(&stack);
    });
}
