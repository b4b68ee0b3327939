//! The allocations of reducers; merges do not allocate unless this is documented.

use std::alloc::System;

use raddle_collections::reduce::{Gather, MinAt, Reducer, Sum, SumExact};
use stats_alloc::{INSTRUMENTED_SYSTEM, Region, Stats, StatsAlloc};

#[global_allocator]
static ALLOCATOR: &StatsAlloc<System> = &INSTRUMENTED_SYSTEM;

/// Returns the allocations when `contributions` are merged into `reducer`.
fn allocations_of<R: Reducer>(reducer: &mut R, contributions: Vec<R>) -> Stats {
    let region = Region::new(ALLOCATOR);
    for contribution in contributions {
        reducer.merge(contribution).expect("they fit together");
    }
    region.change()
}

// There is only one test, since allocations of concurrent tests would be counted too.
#[test]
fn merging_allocates_only_as_documented() {
    assert_eq!(size_of::<SumExact<f64>>(), 16);
    assert_eq!(size_of::<SumExact<f32>>(), 16);
    assert_eq!(size_of::<Option<(Sum<u64>, MinAt<f64>)>>(), 32);

    let many = vec![(Sum(vec![1_u64; 8]), MinAt::new(0.5)); 100];
    let stats = allocations_of(&mut (Sum(vec![0; 8]), MinAt::new(1.0)), many);
    assert_eq!((stats.allocations, stats.reallocations), (0, 0));

    let mut sum = SumExact::new(0.1_f64);
    let stats = allocations_of(&mut sum, vec![SumExact::new(0.2)]);
    assert_eq!((stats.allocations, stats.bytes_allocated), (1, 552));
    let stats = allocations_of(&mut sum, vec![SumExact::new(0.3); 5_000]);
    assert_eq!((stats.allocations, stats.reallocations), (0, 0));
    let others = vec![sum.clone(); 100];
    let stats = allocations_of(&mut sum, others);
    assert_eq!((stats.allocations, stats.reallocations), (0, 0));
    let stats = allocations_of(&mut SumExact::new(0.1_f32), vec![SumExact::new(0.2); 10]);
    assert_eq!((stats.allocations, stats.bytes_allocated), (1, 96));

    // This holds whichever side has many items.
    let items = (0..1_000_u64).map(Gather::new).collect();
    let stats = allocations_of(&mut Gather::new(0), items);
    assert!(stats.allocations + stats.reallocations < 20, "{stats:?}");
    let region = Region::new(ALLOCATOR);
    let mut all = Gather::new(0);
    for item in 0..1_000_u64 {
        let mut next = Gather::new(item);
        next.merge(all).expect("they fit together");
        all = next;
    }
    let stats = region.change();
    assert!(stats.allocations + stats.reallocations < 20, "{stats:?}");
    // The larger side is not moved: adding two items does not move a thousand.
    let mut two = Gather::new(0);
    two.merge(Gather::new(1)).expect("they fit together");
    let stats = allocations_of(&mut two, vec![all]);
    assert!(stats.bytes_reallocated < 100, "{stats:?}");
}
