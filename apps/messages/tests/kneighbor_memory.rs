//! Messages allocate nothing once their cells and buffers exist, with every kind of mailbox. Many
//! iterations make as many allocations as one iteration does: those of the start and the end of a
//! run.

mod common;

use std::alloc::System;

use raddle::MailboxKind;
use raddle_messages::kneighbor::{KNeighbor, Shape};
use stats_alloc::{INSTRUMENTED_SYSTEM, Region, StatsAlloc};

use self::common::runtime;

#[global_allocator]
static ALLOCATOR: &StatsAlloc<System> = &INSTRUMENTED_SYSTEM;

/// Returns the number of allocations and reallocations in a run.
fn allocations(ring: &KNeighbor<'_>, iterations: u64) -> usize {
    let region = Region::new(ALLOCATOR);
    ring.run(iterations).expect("nothing is lost");
    let change = region.change();
    change.allocations + change.reallocations
}

// This must be the only test of the process, because the allocations of other tests would be
// counted, too.
#[test]
fn iterations_allocate_nothing() {
    for mailbox in MailboxKind::ALL {
        for (workers, elements, k, bytes) in [(1, 4, 3, 16), (2, 2, 3, 1_024), (3, 8, 2, 65_536)] {
            let runtime = runtime(workers, mailbox);
            let shape = Shape {
                elements,
                k,
                bytes,
                touch: bytes < 2_000,
            };
            let ring = KNeighbor::new(&runtime, shape);
            // The first runs allocate cells. Sometimes a later run does, too, if it has more
            // messages in flight from one worker than any run before. How many can be in flight
            // does not depend on the number of iterations: the messages and acknowledgements of
            // two iterations at most, and each worker keeps its own cells.
            let in_flight_max = 2 * 2 * elements * k;
            let extra_max = workers * in_flight_max;
            let extra: Vec<usize> = (0..10)
                .map(|_| {
                    let of_one = allocations(&ring, 1);
                    allocations(&ring, 2_000).saturating_sub(of_one)
                })
                .collect();
            let case = format!("{mailbox}, {workers} workers: {shape:?}: {extra:?}");
            assert!(extra.contains(&0), "{case}");
            assert!(extra.iter().all(|&blocks| blocks <= extra_max), "{case}");
        }
    }
}
