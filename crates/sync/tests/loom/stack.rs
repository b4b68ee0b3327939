//! Models of the stack with a version: an element belongs to one thread at a time, even if it comes
//! back during a pop.

use std::ptr;

use loom::cell::UnsafeCell;
use loom::model::Builder;
use loom::sync::Arc;
use loom::thread;
use raddle_sync::deque::Word;
use raddle_sync::prim::AtomicPtr;
use raddle_sync::push_list::Linked;
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
    /// Written by the thread that has the node.
    value: UnsafeCell<u32>,
}

// SAFETY: `next` always returns the same field.
unsafe impl Linked for Node {
    fn next(&self) -> &AtomicPtr<Self> {
        &self.link
    }
}

/// A node that lives as long as its model.
struct Element(*mut Node);

// SAFETY: the thread that has the element has exclusive access to its value, as these models check.
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
    fn new(number: usize) -> Self {
        let node = Node {
            number,
            link: AtomicPtr::new(ptr::null_mut()),
            value: UnsafeCell::new(0),
        };
        Self(Box::into_raw(Box::new(node)))
    }

    fn number(&self) -> usize {
        // SAFETY: the node exists, and its number never changes.
        unsafe { (*self.0).number }
    }

    /// Changes the value, which only the thread that has the element may do.
    fn change(self) -> Self {
        // SAFETY: the node exists.
        let node = unsafe { &*self.0 };
        // SAFETY: this thread has the element; loom reports conflicting accesses.
        node.value.with_mut(|value| unsafe { *value += 1 });
        self
    }
}

type Stack = TaggedStack<Element>;

/// Creates a stack of `count` elements with numbers from zero on; zero is on top.
fn stack(count: usize) -> Arc<Stack> {
    let stack = Arc::new(Stack::new());
    for number in (0..count).rev() {
        stack.push(Element::new(number).change());
    }
    stack
}

/// Empties the stack. Returns the numbers of its elements in order.
fn rest(stack: &Stack) -> Vec<usize> {
    std::iter::from_fn(|| stack.pop())
        .map(|element| {
            let element = element.change();
            let number = element.number();
            // SAFETY: created by `Element::new`, and removed from the stack for good.
            drop(unsafe { Box::from_raw(element.0) });
            number
        })
        .collect()
}

/// Checks the version: one thread reads the top and its link. The other pops two elements and
/// pushes the first one again. Without the version, the first thread would put the second element,
/// which belongs to the other thread, on top.
#[test]
fn a_head_that_came_back_does_not_count_as_unchanged() {
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

/// Checks V1: a pop shows what was written into the element before its push, and the link leads to
/// valid elements.
#[test]
fn a_popped_element_shows_the_writes_of_its_last_owner() {
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

/// Checks V1 for `take_where` during a push: a link that is not published yet would hide the
/// elements below it.
///
/// The spawned thread picks. With the roles exchanged, loom omits the schedules that matter.
#[test]
fn a_wanted_element_is_found_below_a_push_in_progress() {
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
        let picked = picked.expect("the element was always there").change();
        assert_eq!(picked.number(), 0);
        stack.push(picked);
        assert_eq!(rest(&stack).len(), 3);
    });
}

/// Checks V2: a search finds an element that is always there, although the element above it moves
/// to another stack, where its link ends. Roles as above.
#[test]
fn a_wanted_element_is_not_missed() {
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
        assert!(found, "the element was always there");
        if let Some(picked) = picked {
            stack.push(picked.change());
        }
        rest(&elsewhere);
        rest(&stack);
    });
}
