//! Messages allocate nothing once their cells and buffers are there, whatever the mailboxes are: many iterations ask the system
//! allocator for as much as one does, which is what the beginning and the end of a run take.

use std::alloc::System;

use raddle::{MailboxKind, Runtime};
use raddle_messages::kneighbor::{KNeighbor, Shape};
use stats_alloc::{INSTRUMENTED_SYSTEM, Region, StatsAlloc};

#[global_allocator]
static ALLOCATOR: &StatsAlloc<System> = &INSTRUMENTED_SYSTEM;

/// What the system allocator is asked for during a run of so many iterations: to allocate, and to make larger.
fn asked_for(ring: &KNeighbor<'_>, iterations: u64) -> usize {
    let region = Region::new(ALLOCATOR);
    ring.run(iterations).expect("nothing is lost");
    let change = region.change();
    change.allocations + change.reallocations
}

// One test alone: others at its side would be counted too.
#[test]
fn iterations_allocate_nothing() {
    for mailbox in MailboxKind::ALL {
        for (workers, elements, k, bytes) in [(1, 4, 3, 16), (2, 2, 3, 1_024), (3, 8, 2, 65_536)] {
            let runtime = Runtime::builder()
                .workers(workers)
                .mailbox(mailbox)
                .build()
                .expect("it comes up");
            let shape = Shape {
                elements,
                k,
                bytes,
                touch: bytes < 2_000,
            };
            let ring = KNeighbor::new(&runtime, shape);
            // The first runs make cells, and now and then a later one that has more messages under way than any before it: a few blocks
            // of them, however many iterations there are.
            let more_than_one: Vec<usize> = (0..10)
                .map(|_| {
                    let of_one = asked_for(&ring, 1);
                    asked_for(&ring, 2_000).saturating_sub(of_one)
                })
                .collect();
            let case = format!("{mailbox}, {workers} workers: {shape:?}: {more_than_one:?}");
            assert!(more_than_one.contains(&0), "{case}");
            assert!(more_than_one.iter().all(|&blocks| blocks < 20), "{case}");
        }
    }
}
