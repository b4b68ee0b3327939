//! Tests of which buffers the free lists keep and return.

use std::sync::Arc;

use proptest::prelude::*;

use super::*;

/// Counts the bytes in the free lists.
fn on_free_lists(store: &Store) -> usize {
    let of = |free_list: &FreeList<Vec<Event>>| -> usize {
        free_list
            .lock()
            .iter()
            .map(Buffer::byte_count)
            .sum::<usize>()
    };
    store
        .free_lists
        .iter()
        .map(|free_lists| of(&free_lists.events))
        .sum()
}

proptest! {
    #[test]
    fn free_lists_keep_no_more_than_the_bound(
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
            prop_assert_eq!(kept, on_free_lists(&store));
            prop_assert!(kept <= triangles * BYTES_PER_TRIANGLE);
        }
    }
}

#[test]
fn a_buffer_is_reused_and_larger_ones_replace_smaller_ones() {
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
        let buffers = store.free_lists[0].events.lock();
        buffers.iter().map(Vec::capacity).collect()
    };
    store.put(Vec::<Event>::with_capacity(34_000));
    assert_eq!(capacities(), [2_500, 34_000]);
    store.put(Vec::<Event>::with_capacity(3_000));
    assert_eq!(capacities(), [3_000, 34_000]);
    // This buffer exceeds the limit even after the smallest one is freed.
    store.put(Vec::<Event>::with_capacity(30_000));
    assert_eq!(capacities(), [34_000]);
    store.put(Vec::<Event>::with_capacity(100));
    assert_eq!(
        capacities(),
        [34_000],
        "small buffers are left to the allocator"
    );
}

#[test]
fn a_buffer_on_another_workers_shelf_is_found() {
    let runtime = raddle::Runtime::builder().workers(2).build();
    let runtime = runtime.expect("two workers can be started");
    let store = Arc::new(Store::new(2));
    store.expect(10_000);
    runtime.install(|| {
        let other = 1 - raddle::worker_index().expect("a worker");
        let buffer = Vec::<Event>::with_capacity(5_000);
        let at = buffer.as_ptr();
        store.keep(buffer, &store.free_lists[other].events);
        let found = store.take::<Event>(5_000);
        assert_eq!(found.as_ptr(), at);
    });
    assert_eq!(store.kept.load(Relaxed), 0);
}

#[test]
fn buffers_of_larger_builds_are_freed() {
    let store = Store::new(1);
    store.expect(10_000);
    store.put(Vec::<Event>::with_capacity(50_000));
    store.put_workspace(Workspace::within(Stack {
        names: vec![Name::default(); 10_000],
        ..Stack::default()
    }));
    assert_eq!(store.kept.load(Relaxed), 440_000);
    store.expect(1_000);
    assert_eq!((store.kept.load(Relaxed), on_free_lists(&store)), (0, 0));
}
