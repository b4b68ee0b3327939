//! Messages that are sent while their runtime ends are dropped, whatever their size, their sender
//! and the kind of mailbox.
//!
//! A queue that keeps values in its slots must not only free its blocks at the end: a sender may
//! have filled a slot after the last worker had looked for messages that are left.

use std::sync::Arc;
use std::thread;

use raddle_runtime::{MailboxKind, Post};
use raddle_sync::prim::{AtomicBool, Relaxed};

use crate::common::runtime_with;

const ROUNDS: usize = 40;
const SENDERS: usize = 3;

/// Sends messages of all sizes to both workers, in each way.
fn send(post: &Post, held: &Arc<()>) {
    for to in 0..2 {
        let small = Arc::clone(held);
        post.send(to, move || drop(small));
        let (medium, words) = (Arc::clone(held), [1_u64; 8]);
        post.send(to, move || drop((medium, words)));
        let (large, words) = (Arc::clone(held), [1_u64; 30]);
        post.send(to, move || drop((large, words)));
        let urgent = Arc::clone(held);
        post.send_urgent(to, move || drop(urgent));
        let outside = Arc::clone(held);
        post.send_outside(to, move || drop(outside));
    }
}

#[test]
fn messages_sent_while_a_runtime_ends_are_dropped() {
    for round in 0..ROUNDS {
        for mailbox in MailboxKind::ALL {
            let held = Arc::new(());
            let runtime = runtime_with(2, |builder| builder.mailbox(mailbox));
            let (post, is_over) = (runtime.post(), AtomicBool::new(false));
            thread::scope(|scope| {
                for _ in 0..SENDERS {
                    scope.spawn(|| {
                        // Relaxed: the scope joins the threads.
                        while !is_over.load(Relaxed) {
                            send(&post, &held);
                        }
                    });
                }
                // The workers send, too, to each other and to themselves.
                for worker in 0..2 {
                    let (own, held) = (post.clone(), Arc::clone(&held));
                    post.send(worker, move || (0..50).for_each(|_| send(&own, &held)));
                }
                drop(runtime);
                // Relaxed: as above.
                is_over.store(true, Relaxed);
            });
            // The mailboxes still exist.
            assert_eq!(Arc::strong_count(&held), 1, "{mailbox}, round {round}");
            drop(post);
        }
    }
}
