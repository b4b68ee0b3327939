//! Loops: every item runs once, every result is in its place, and sums do not depend on the number
//! of workers.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Mutex;

use proptest::prelude::*;
use raddle_runtime::{
    PoolKind, Runtime, for_each, for_each_chunk_mut, for_each_mut, for_each_piece, map, map_reduce,
};

use crate::common::runtime_with;

fn runtimes() -> Vec<Runtime> {
    [
        (1, PoolKind::SqTl),
        (2, PoolKind::DqTlPrivC),
        (2, PoolKind::DqBlTlC),
        (8, PoolKind::Deque),
    ]
    .into_iter()
    .map(|(workers, pool)| runtime_with(workers, |builder| builder.pool(pool)))
    .collect()
}

/// Takes time that depends on the index, so that loops split.
fn busy(index: usize) -> u64 {
    (0..(index * 7919) % 2_000).fold(index as u64, |sum, turn| sum.rotate_left(5) ^ turn as u64)
}

#[test]
fn body_runs_once_for_every_index() {
    for runtime in runtimes() {
        for len in [0, 1, 2, 63, 64, 1_000, 20_000] {
            let seen: Vec<Mutex<u32>> = (0..len).map(|_| Mutex::new(0)).collect();
            runtime.install(|| {
                for_each(0..len, |index| {
                    std::hint::black_box(busy(index));
                    *seen[index].lock().expect("no panic") += 1;
                });
            });
            assert!(
                seen.into_iter()
                    .all(|count| count.into_inner().expect("no panic") == 1)
            );
        }
    }
}

#[test]
fn pieces_cover_the_range_and_none_is_empty() {
    for runtime in runtimes() {
        for len in [0, 1, 2, 63, 64, 1_000, 20_000] {
            let parts = Mutex::new(Vec::new());
            runtime.install(|| {
                for_each_piece(0..len, |part: std::ops::Range<usize>| {
                    part.clone().for_each(|index| {
                        std::hint::black_box(busy(index));
                    });
                    parts.lock().expect("no panic").push(part);
                });
            });
            let mut parts = parts.into_inner().expect("no panic");
            parts.sort_by_key(|part| part.start);
            assert!(parts.iter().all(|part| !part.is_empty()), "{parts:?}");
            let end = parts.iter().fold(0, |end, part| {
                assert_eq!(part.start, end, "{parts:?}");
                part.end
            });
            assert_eq!(end, len);
        }
    }
}

#[test]
fn elements_chunks_and_results_match_their_indices() {
    for runtime in runtimes() {
        runtime.install(|| {
            let mut elements = vec![0; 5_000];
            for_each_mut(&mut elements, |index, element| *element = busy(index));
            assert!(
                elements
                    .iter()
                    .enumerate()
                    .all(|(index, element)| *element == busy(index))
            );
            assert_eq!(map(0..5_000, busy), elements);
            let mut chunks = vec![0; 1_003];
            for_each_chunk_mut(&mut chunks, 10, |index, chunk| chunk.fill(index));
            assert!(
                chunks
                    .iter()
                    .enumerate()
                    .all(|(place, index)| place / 10 == *index)
            );
        });
    }
}

#[test]
fn float_sum_has_the_same_bits_on_any_number_of_workers() {
    for len in [1, 17, 1_000, 1_025, 300_000] {
        let sums: Vec<u64> = runtimes()
            .into_iter()
            .flat_map(|runtime| {
                let sum = || map_reduce(0..len, || 0.0, |i| 1.0 / (i + 1) as f64, |a, b| a + b);
                [
                    runtime.install(sum).to_bits(),
                    runtime.install(sum).to_bits(),
                ]
            })
            .collect();
        assert!(
            sums.windows(2).all(|pair| pair[0] == pair[1]),
            "{len}: {sums:x?}"
        );
    }
}

/// Reproduces a bug: the computed end of the last block was beyond the largest index, and the block
/// was left out.
#[test]
fn largest_indices_are_visited() {
    let range = usize::MAX - 3_074..usize::MAX;
    for runtime in runtimes() {
        let range = range.clone();
        let count = runtime.install(|| map_reduce(range, || 0, |_| 1, |a, b| a + b));
        assert_eq!(count, 3_074);
    }
}

#[test]
fn panic_of_a_body_reaches_the_caller_and_results_are_dropped() {
    for runtime in runtimes() {
        for at in [0, 500, 999] {
            let result = catch_unwind(AssertUnwindSafe(|| {
                runtime.install(|| {
                    map(0..1_000, |index| {
                        std::hint::black_box(busy(index));
                        assert!(index != at, "reached");
                        vec![index]
                    })
                })
            }));
            assert!(result.is_err());
        }
        assert_eq!(runtime.install(|| map(0..3, |index| index)), [0, 1, 2]);
    }
}

#[test]
#[should_panic(expected = "chunk_len is 0")]
fn chunks_of_length_zero_are_refused() {
    for_each_chunk_mut(&mut [1], 0, |_, _| {});
}

proptest! {
    #[test]
    fn reduction_in_order_equals_the_fold(words in prop::collection::vec("[a-z]{0,3}", 0..3_000)) {
        // Concatenation is associative but not commutative, so any mistake in the order shows.
        let joined = map_reduce(0..words.len(), String::new, |i| words[i].clone(), |a, b| a + &b);
        prop_assert_eq!(joined, words.concat());
    }
}
