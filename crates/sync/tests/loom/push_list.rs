//! A model of the list that is taken as a whole: nodes that two threads push arrive with their
//! content.

use std::ptr::{self, NonNull};

use loom::sync::Arc;
use loom::thread;
use raddle_sync::prim::{AtomicPtr, Relaxed, UnsafeCell};
use raddle_sync::push_list::{Linked, PushList};

struct Node {
    next: AtomicPtr<Node>,
    content: UnsafeCell<usize>,
}

// SAFETY: `next` always returns the same field, which only the list accesses.
unsafe impl Linked for Node {
    fn next(&self) -> &AtomicPtr<Self> {
        &self.next
    }
}

// SAFETY: loom checks every access to the content; only the list accesses the link.
unsafe impl Sync for Node {}
// SAFETY: as above.
unsafe impl Send for Node {}

fn node() -> Node {
    Node {
        next: AtomicPtr::new(ptr::null_mut()),
        content: UnsafeCell::new(0),
    }
}

/// Checks R1: the taker sees the links and the content.
#[test]
fn nodes_arrive_with_their_content() {
    loom::model(|| {
        let shared = Arc::new((PushList::new(), [node(), node()]));
        let threads: Vec<_> = (0..2)
            .map(|index| {
                let shared = Arc::clone(&shared);
                thread::spawn(move || {
                    let node = &shared.1[index];
                    node.content
                        .with_mut(|content| unsafe { *content = index + 1 });
                    // SAFETY: the node is in no list, is given up here, and lives as long as the
                    // model's memory.
                    unsafe { shared.0.push(NonNull::from(node)) };
                })
            })
            .collect();
        // The nodes are taken while the threads push. Joining the threads first would order
        // everything.
        let mut sum = 0;
        while sum < 3 {
            let mut next = shared.0.take_all().map_or(ptr::null_mut(), NonNull::as_ptr);
            // SAFETY: null, or one of the two nodes.
            while let Some(node) = unsafe { next.as_ref() } {
                sum += node.content.with(|content| unsafe { *content });
                // Relaxed: published by the push.
                next = node.next.load(Relaxed);
            }
            thread::yield_now();
        }
        for thread in threads {
            thread.join().expect("no panic");
        }
        assert_eq!(sum, 3);
    });
}
