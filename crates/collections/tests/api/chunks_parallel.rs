//! Chunked arrays that several workers write, and parallel loops over them.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Mutex;

use proptest::prelude::*;
use raddle_collections::{ChunkedArray, MissingChunks};
use raddle_runtime::{map_reduce, scope};

use crate::common::runtime;

/// Works for a time that depends on the index, so that loops are split.
fn busy(index: usize) -> u64 {
    (0..(index * 7919) % 2_000).fold(index as u64, |sum, turn| sum.rotate_left(5) ^ turn as u64)
}

/// Returns the lengths of one large chunk among small and empty ones.
fn lopsided(len: usize) -> Vec<usize> {
    let mut lens = vec![1, 0, 3, 0, 0];
    lens.extend([2; 200]);
    lens.push(len);
    lens.extend([1; 300]);
    lens
}

fn array_of(lens: &[usize]) -> ChunkedArray<usize> {
    let mut next = 0;
    let chunk = |&len: &usize| {
        next += len;
        (next - len..next).collect()
    };
    ChunkedArray::from_chunks(lens.iter().map(chunk))
}

#[test]
fn loops_visit_every_element_once_with_its_index() {
    for worker_count in [1, 2, 8] {
        let runtime = runtime(worker_count);
        for lens in [
            vec![],
            vec![0],
            vec![1],
            vec![5_000],
            vec![1; 700],
            lopsided(4_000),
        ] {
            runtime.install(|| {
                let mut array = array_of(&lens);
                let seen: Vec<Mutex<u32>> = (0..array.len()).map(|_| Mutex::new(0)).collect();
                array.for_each(|index, element| {
                    assert_eq!(*element, index);
                    std::hint::black_box(busy(index));
                    *seen[index].lock().expect("no thread panics") += 1;
                });
                assert!(
                    seen.into_iter()
                        .all(|count| count.into_inner().expect("no thread panics") == 1)
                );

                let doubled = array.map(|index, element| {
                    std::hint::black_box(busy(index));
                    index + element
                });
                assert!(doubled.chunks().map(<[_]>::len).eq(lens.iter().copied()));

                array.for_each_mut(|index, element| {
                    std::hint::black_box(busy(index));
                    *element += index;
                });
                assert_eq!(array, doubled);
                assert!(
                    array
                        .iter()
                        .enumerate()
                        .all(|(index, element)| *element == 2 * index)
                );
            });
        }
    }
}

#[test]
fn sums_have_the_same_bits_as_sums_over_indices() {
    for worker_count in [1, 2, 8] {
        let runtime = runtime(worker_count);
        for lens in [
            vec![],
            vec![0, 0],
            vec![1],
            vec![1_024, 1],
            vec![2_048, 3],
            lopsided(30_000),
        ] {
            runtime.install(|| {
                let value = |index: usize| 1.0 / (index as f64 + 1.0);
                let array = array_of(&lens);
                let sum = array.map_reduce(|| 0.0, |index, _| value(index), |a, b| a + b);
                let expected = map_reduce(0..array.len(), || 0.0, value, |a, b| a + b);
                assert_eq!(f64::to_bits(sum), f64::to_bits(expected));
            });
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(32))]
    #[test]
    fn reductions_keep_the_order(lens in proptest::collection::vec(0..90_usize, 0..40)) {
        let array = array_of(&lens);
        let text = |index, element: &usize| format!("{index}:{element} ");
        let joined = array.map_reduce(String::new, text, |left, right| left + &right);
        let elements = array.iter().enumerate();
        let expected: String = elements.map(|(index, element)| text(index, element)).collect();
        prop_assert_eq!(joined, expected);
    }
}

#[test]
fn chunks_are_in_order_whichever_task_ends_first() {
    for worker_count in [1, 8] {
        runtime(worker_count).install(|| {
            let make = |chunk: usize| vec![busy(chunk * 31); chunk % 5];
            let built = ChunkedArray::build(400, make);
            let builder = ChunkedArray::builder(400);
            scope(|scope| {
                for chunk in (0..400).rev() {
                    let builder = &builder;
                    scope.spawn(move || builder.set(chunk, make(chunk)));
                }
            });
            assert_eq!(builder.chunk_count(), 400);
            let set = builder.finish().expect("all were set");
            assert_eq!(set, built);
            assert_eq!(set, (0..400).flat_map(make).collect::<Vec<_>>());
            assert!(
                set.chunks()
                    .enumerate()
                    .all(|(chunk, items)| items.len() == chunk % 5)
            );
        });
    }
}

#[test]
fn chunks_that_were_never_set_are_an_error() {
    let builder = ChunkedArray::builder(5);
    for chunk in [0, 1, 3] {
        builder.set(chunk, vec![chunk]);
    }
    let error: MissingChunks = builder.finish().expect_err("two are missing");
    assert_eq!((error.first, error.missing, error.chunk_count), (2, 2, 5));
    assert_eq!(
        error.to_string(),
        "2 of 5 chunks were never set, the first of them is chunk 2"
    );
    assert!(
        ChunkedArray::<u8>::builder(0)
            .finish()
            .is_ok_and(|array| array.is_empty())
    );
}

#[test]
fn a_chunk_set_twice_or_unknown_is_refused_without_effect() {
    let builder = ChunkedArray::builder(1);
    let message = |chunk, items: Vec<u8>| {
        let panic = catch_unwind(AssertUnwindSafe(|| builder.set(chunk, items)));
        panic.map_err(|panic| *panic.downcast::<String>().expect("a message"))
    };
    assert_eq!(message(0, vec![1, 2]), Ok(()));
    let twice = "chunk 0 is set twice: to 2 elements before, to 1 elements now";
    assert_eq!(message(0, vec![3]), Err(twice.to_owned()));
    let unknown = "there is no chunk 1: the array has 1";
    assert_eq!(message(1, vec![]), Err(unknown.to_owned()));
    assert_eq!(builder.finish().expect("it was set"), [1, 2]);
}

#[test]
fn a_panic_of_the_body_is_propagated_by_the_loop() {
    let mut array = array_of(&lopsided(2_000));
    let assert_propagated = |outcome: std::thread::Result<()>| {
        let panic = outcome.expect_err("a body panicked");
        assert_eq!(panic.downcast_ref::<&str>(), Some(&"on purpose"));
    };
    let fail_at_900 = |index| assert!(index != 900, "on purpose");
    assert_propagated(catch_unwind(AssertUnwindSafe(|| {
        array.for_each(|index, _| fail_at_900(index))
    })));
    assert_propagated(catch_unwind(AssertUnwindSafe(|| {
        array.for_each_mut(|index, _| fail_at_900(index))
    })));
    assert_propagated(catch_unwind(AssertUnwindSafe(|| {
        drop(array.map(|index, _| fail_at_900(index)))
    })));
}
