//! What reducers take from the system allocator, and that merging takes nothing.

use std::alloc::System;

use raddle_collections::reduce::{Gather, MinAt, Reducer, Sum, SumExact};
use stats_alloc::{INSTRUMENTED_SYSTEM, Region, Stats, StatsAlloc};

#[global_allocator]
static ALLOCATOR: &StatsAlloc<System> = &INSTRUMENTED_SYSTEM;

/// What the system allocator is asked for when `contributions` join `reducer`.
fn asked_for<R: Reducer>(reducer: &mut R, contributions: Vec<R>) -> Stats {
    let region = Region::new(ALLOCATOR);
    for contribution in contributions {
        reducer.merge(contribution).expect("they fit together");
    }
    region.change()
}

// One test alone: others at its side would be counted too.
#[test]
fn merging_allocates_only_what_is_said() {
    assert_eq!(size_of::<SumExact<f64>>(), 16);
    assert_eq!(size_of::<SumExact<f32>>(), 16);
    assert_eq!(size_of::<Option<(Sum<u64>, MinAt<f64>)>>(), 32);

    let many = vec![(Sum(vec![1_u64; 8]), MinAt::new(0.5)); 100];
    let asked = asked_for(&mut (Sum(vec![0; 8]), MinAt::new(1.0)), many);
    assert_eq!((asked.allocations, asked.reallocations), (0, 0));

    let mut sum = SumExact::new(0.1_f64);
    let asked = asked_for(&mut sum, vec![SumExact::new(0.2)]);
    assert_eq!((asked.allocations, asked.bytes_allocated), (1, 552));
    let asked = asked_for(&mut sum, vec![SumExact::new(0.3); 5_000]);
    assert_eq!((asked.allocations, asked.reallocations), (0, 0));
    let others = vec![sum.clone(); 100];
    let asked = asked_for(&mut sum, others);
    assert_eq!((asked.allocations, asked.reallocations), (0, 0));
    let asked = asked_for(&mut SumExact::new(0.1_f32), vec![SumExact::new(0.2); 10]);
    assert_eq!((asked.allocations, asked.bytes_allocated), (1, 96));

    // Whichever side the many stand on.
    let items = (0..1_000_u64).map(Gather::new).collect();
    let asked = asked_for(&mut Gather::new(0), items);
    assert!(asked.allocations + asked.reallocations < 20, "{asked:?}");
    let region = Region::new(ALLOCATOR);
    let mut all = Gather::new(0);
    for item in 0..1_000_u64 {
        let mut next = Gather::new(item);
        next.merge(all).expect("they fit together");
        all = next;
    }
    let asked = region.change();
    assert!(asked.allocations + asked.reallocations < 20, "{asked:?}");
    // The larger side keeps its place: two more do not move a thousand.
    let mut two = Gather::new(0);
    two.merge(Gather::new(1)).expect("they fit together");
    let asked = asked_for(&mut two, vec![all]);
    assert!(asked.bytes_reallocated < 100, "{asked:?}");
}
