//! The partition in blocks, with short blocks so that small parts have many.

use super::*;
use crate::common::runtime;
use crate::random;

const BLOCK_LEN: usize = 8;

#[track_caller]
fn check(items: &[u32], worker_count: usize) {
    const LIMIT: u32 = 100;
    let mut parted = items.to_vec();
    let border = partition_in_blocks(&mut parted, |item| item < LIMIT, BLOCK_LEN, worker_count);
    let left = items.iter().filter(|&&item| item < LIMIT).count();
    assert_eq!(border, left, "{items:?}");
    assert!(parted[..left].iter().all(|&item| item < LIMIT));
    let sorted = |mut items: Vec<u32>| {
        items.sort_unstable();
        items
    };
    assert_eq!(sorted(parted), sorted(items.to_vec()));
}

#[test]
fn every_length_is_partitioned_correctly_by_any_number_of_workers() {
    for len in 0..150 {
        for (seed, modulus) in [(1, 200), (2, 101), (3, 2_000)] {
            let items: Vec<u32> = (0..len)
                .map(|index| (random::number(seed, index) % modulus) as u32)
                .collect();
            for worker_count in 1..4 {
                check(&items, worker_count);
            }
        }
    }
}

#[test]
fn one_sided_parts_are_partitioned_correctly() {
    for len in [1, 7, 8, 9, 16, 100] {
        check(&vec![1; len], 2);
        check(&vec![200; len], 2);
        let mut items = vec![1; len];
        items.extend(vec![200; len]);
        check(&items, 2);
        items.reverse();
        check(&items, 2);
    }
}

#[test]
fn large_parts_are_partitioned_correctly_while_workers_come_and_go() {
    let runtime = runtime(4);
    for seed in 0..20 {
        let items: Vec<u32> = (0..50_000)
            .map(|index| (random::number(seed, index) % (150 + seed)) as u32)
            .collect();
        runtime.install(|| check(&items, 4));
    }
}

// The part has eight blocks of eight items, and the first four were taken from the front.
#[test]
fn open_blocks_on_either_side_are_settled() {
    let open = |block: usize, left_count| Open {
        range: block * 8..block * 8 + 8,
        left_count,
    };
    // Open blocks below the frontier, at it, just above it and far above it.
    for opens in [
        vec![],
        vec![open(0, 3)],
        vec![open(3, 7), open(4, 2)],
        vec![open(0, 1), open(1, 1), open(2, 1), open(3, 1)],
        vec![open(4, 7), open(5, 7), open(7, 7)],
        vec![open(1, 4), open(6, 4)],
    ] {
        let runs = runs(&opens, 32, 64);
        let mut items = [9; 64];
        for run in &runs.left {
            items[run.clone()].fill(1);
        }
        let border = settle(&mut items, &runs);
        assert!(items[..border].iter().all(|&item| item == 1), "{opens:?}");
        assert!(items[border..].iter().all(|&item| item == 9), "{opens:?}");
    }
}

#[test]
fn a_part_is_shared_only_if_a_worker_would_be_idle() {
    assert_eq!(Parallel::new(1, 1_000).len_min, usize::MAX);
    assert_eq!(Parallel::new(2, 1_000).len_min, 750);
    assert_eq!(Parallel::new(8, 1_000).len_min, 187);
}

// Regression: a guard that lived until the end of a statement locked out all workers but one, which
// was slower than a single worker.
#[test]
fn the_lock_is_free_while_a_block_is_partitioned() {
    let mut items: Vec<u32> = (0..200).rev().collect();
    let middle = Mutex::new(Middle {
        items: &mut items,
        first: 0,
        block_len: BLOCK_LEN,
    });
    let shared = &middle;
    let open = take_blocks(shared, move |item| {
        assert!(shared.try_lock().is_ok(), "the lock is held");
        item < 100
    });
    assert!(open.is_none_or(|block| block.range.len() == BLOCK_LEN));
    assert!(middle.into_inner().expect("no panic").items.is_empty());
}
