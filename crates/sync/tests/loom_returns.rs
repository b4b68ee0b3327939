//! A model of the way home: nodes that two threads free arrive, with what was written to them.

#![cfg(loom)]

use std::ptr::{self, NonNull};

use loom::sync::Arc;
use loom::thread;
use raddle_sync::prim::{AtomicPtr, Relaxed, UnsafeCell};
use raddle_sync::returns::{Linked, Returns};

struct Node {
    next: AtomicPtr<Node>,
    content: UnsafeCell<usize>,
}

// SAFETY: one field, touched by the list alone.
unsafe impl Linked for Node {
    fn next(&self) -> &AtomicPtr<Self> {
        &self.next
    }
}

// SAFETY: loom checks every access to the content; the link is the list's.
unsafe impl Sync for Node {}
// SAFETY: as above.
unsafe impl Send for Node {}

fn node() -> Node {
    Node {
        next: AtomicPtr::new(ptr::null_mut()),
        content: UnsafeCell::new(0),
    }
}

/// R1: the taker sees links and content.
#[test]
fn nodes_come_home_with_their_content() {
    loom::model(|| {
        let shared = Arc::new((Returns::new(), [node(), node()]));
        let threads: Vec<_> = (0..2)
            .map(|index| {
                let shared = Arc::clone(&shared);
                thread::spawn(move || {
                    let node = &shared.1[index];
                    node.content
                        .with_mut(|content| unsafe { *content = index + 1 });
                    // SAFETY: in no list, given away here, and valid as long as the model's memory.
                    unsafe { shared.0.push(NonNull::from(node)) };
                })
            })
            .collect();
        // Taken while the threads push, not after: joining them would order everything.
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
