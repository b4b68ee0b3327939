//! What shelves keep, and what they give back.

use std::sync::Arc;

use proptest::prelude::*;

use super::*;

/// Bytes that are on the shelves, counted anew.
fn on_shelves(store: &Store) -> usize {
    let of = |shelf: &Shelf<Vec<Event>>| -> usize {
        shelf.open().iter().map(Buffer::byte_count).sum::<usize>()
    };
    store
        .shelves
        .iter()
        .map(|shelves| of(&shelves.events))
        .sum()
}

proptest! {
    #[test]
    fn shelves_keep_no_more_than_the_bound(
        triangles in 1_usize..4_000,
        steps in prop::collection::vec((any::<bool>(), 0_usize..20_000), 1..60),
    ) {
        let store = Store::new(2);
        store.expect(triangles);
        let mut held: Vec<Vec<Event>> = Vec::new();
        for (puts, capacity) in steps {
            match held.pop() {
                Some(buffer) if puts => store.put(buffer),
                other => {
                    held.extend(other);
                    let buffer = store.take::<Event>(capacity);
                    prop_assert!(buffer.is_empty() && buffer.capacity() >= capacity);
                    held.push(buffer);
                }
            }
            let kept = store.kept.load(Relaxed);
            prop_assert_eq!(kept, on_shelves(&store));
            prop_assert!(kept <= triangles * BYTES_PER_TRIANGLE);
        }
    }
}

#[test]
fn a_buffer_comes_back_and_larger_ones_replace_smaller_ones() {
    let store = Store::new(1);
    // 300,000 bytes.
    store.expect(1_000);
    let buffer = Vec::<Event>::with_capacity(2_500);
    let at = buffer.as_ptr();
    store.put(buffer);
    let again = store.take::<Event>(2_400);
    assert_eq!(again.as_ptr(), at);
    store.put(again);
    let capacities = || -> Vec<usize> {
        let buffers = store.shelves[0].events.open();
        buffers.iter().map(Vec::capacity).collect()
    };
    store.put(Vec::<Event>::with_capacity(34_000));
    assert_eq!(capacities(), [2_500, 34_000]);
    store.put(Vec::<Event>::with_capacity(3_000));
    assert_eq!(capacities(), [3_000, 34_000]);
    // More than there is room for even when the smallest is gone.
    store.put(Vec::<Event>::with_capacity(30_000));
    assert_eq!(capacities(), [34_000]);
    store.put(Vec::<Event>::with_capacity(100));
    assert_eq!(capacities(), [34_000], "small ones are for the allocator");
}

#[test]
fn what_another_worker_keeps_is_found() {
    let runtime = raddle::Runtime::builder().workers(2).build();
    let runtime = runtime.expect("two workers can be had");
    let store = Arc::new(Store::new(2));
    store.expect(10_000);
    runtime.install(|| {
        let other = 1 - raddle::worker_index().expect("a worker");
        let buffer = Vec::<Event>::with_capacity(5_000);
        let at = buffer.as_ptr();
        store.keep(buffer, &store.shelves[other].events);
        let found = store.take::<Event>(5_000);
        assert_eq!(found.as_ptr(), at);
    });
    assert_eq!(store.kept.load(Relaxed), 0);
}

#[test]
fn what_was_kept_for_larger_builds_goes() {
    let store = Store::new(1);
    store.expect(10_000);
    store.put(Vec::<Event>::with_capacity(50_000));
    store.put_workspace(Workspace::within(Stack {
        names: vec![Name::default(); 10_000],
        ..Stack::default()
    }));
    assert_eq!(store.kept.load(Relaxed), 440_000);
    store.expect(1_000);
    assert_eq!((store.kept.load(Relaxed), on_shelves(&store)), (0, 0));
}
