#![cfg(loom)]
//! A model of the way home: nodes that two threads free arrive, with what was written to them.

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

/// R1: the taker sees links and content.
#[test]
fn nodes_come_home_with_their_content() {
    loom::model(|| {
        let home: Arc<Returns<Node>> = Arc::new(Returns::new());
        let threads: Vec<_> = [1, 2]
            .into_iter()
            .map(|number| {
                let home = Arc::clone(&home);
                thread::spawn(move || {
                    let node = Box::new(Node {
                        next: AtomicPtr::new(ptr::null_mut()),
                        content: UnsafeCell::new(0),
                    });
                    node.content
                        .with_mut(|content| unsafe { *content = number });
                    // SAFETY: a fresh node, given away here.
                    unsafe { home.push(NonNull::from(Box::leak(node))) };
                })
            })
            .collect();
        let mut sum = 0;
        let mut take = || {
            let mut node = home.take_all().map_or(ptr::null_mut(), NonNull::as_ptr);
            while !node.is_null() {
                // SAFETY: taken from the list, ours alone.
                let taken = unsafe { Box::from_raw(node) };
                sum += taken.content.with(|content| unsafe { *content });
                // Relaxed: published by the push.
                node = taken.next.load(Relaxed);
            }
        };
        take();
        for thread in threads {
            thread.join().expect("no panic");
        }
        take();
        assert_eq!(sum, 3);
    });
}
