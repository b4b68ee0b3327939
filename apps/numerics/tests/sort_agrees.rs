//! Every sort function agrees with the standard library, on inputs that are hard for quicksorts.

mod common;

use std::panic::{AssertUnwindSafe, catch_unwind};

use proptest::collection::vec;
use proptest::prelude::*;
use raddle::{PoolKind, Runtime};
use raddle_numerics::random;
use raddle_numerics::sort;

use self::common::runtime;

/// Sorts with every function, and compares with the standard library.
#[track_caller]
fn check<T: Copy + Ord + Send + std::fmt::Debug>(items: &[T], cutoff: usize, what: &str) {
    let mut expected = items.to_vec();
    expected.sort_unstable();
    let sorted_by = |way: &dyn Fn(&mut [T])| {
        let mut items = items.to_vec();
        way(&mut items);
        items
    };
    for (name, found) in [
        (
            "sequential",
            sorted_by(&|items| sort::sort_sequential(items)),
        ),
        (
            "joins",
            sorted_by(&|items| sort::sort_with(items, cutoff, |_| ())),
        ),
        (
            "tasks",
            sorted_by(&|items| sort::sort_tasks(items, cutoff, |_| ())),
        ),
    ] {
        assert!(
            found == expected,
            "{what}, {} items, by {name}",
            items.len()
        );
    }
}

fn inputs(len: usize) -> Vec<(&'static str, Vec<i32>)> {
    let of = |value: &dyn Fn(usize) -> i32| (0..len).map(value).collect::<Vec<_>>();
    let random = |index: usize| random::number(5, index as u64) as i32;
    let mut almost = of(&|index| index as i32);
    for swap in 0..len / 50 {
        let other = random(swap).unsigned_abs() as usize % len;
        almost.swap(swap, other);
    }
    vec![
        ("random", of(&random)),
        ("sorted", of(&|index| index as i32)),
        ("reversed", of(&|index| -(index as i32))),
        ("all equal", of(&|_| 3)),
        ("two values", of(&|index| random(index) & 1)),
        ("few values", of(&|index| random(index) % 10)),
        ("many equal", of(&|index| random(index).min(0))),
        ("organ pipe", of(&|index| index.min(len - index) as i32)),
        ("almost sorted", almost),
        ("saw", of(&|index| (index % 100) as i32)),
        (
            "extremes",
            of(&|index| {
                if random(index) < 0 {
                    i32::MIN
                } else {
                    i32::MAX
                }
            }),
        ),
    ]
}

#[test]
fn hard_inputs_of_many_lengths_are_sorted() {
    let runtime = runtime(3);
    runtime.install(|| {
        for len in [0, 1, 2, 3, 15, 16, 17, 33, 100, 999, 1_000, 1_001, 20_000] {
            for (name, items) in inputs(len) {
                check(&items, 100, name);
            }
        }
    });
}

#[test]
fn parts_that_several_workers_partition_are_sorted() {
    let runtime = runtime(4);
    runtime.install(|| {
        for (name, items) in inputs(300_000) {
            check(&items, sort::CUTOFF, name);
        }
    });
}

#[test]
fn every_pool_sorts() {
    let items = inputs(50_000).swap_remove(0).1;
    for pool in PoolKind::ALL {
        let runtime = Runtime::builder()
            .workers(2)
            .pool(pool)
            .build()
            .expect("two workers");
        runtime.install(|| check(&items, 100, pool.name()));
    }
}

#[test]
fn a_thread_that_is_not_a_worker_can_sort() {
    let (name, items) = inputs(30_000).swap_remove(0);
    check(&items, 100, name);
}

#[test]
fn the_fingerprint_depends_on_the_items_and_not_on_their_order() {
    let items = inputs(200_000).swap_remove(0).1;
    let mut sorted = items.clone();
    sort::sort(&mut sorted);
    assert_eq!(sort::fingerprint(&items), sort::fingerprint(&sorted));
    sorted[77] ^= 1;
    assert_ne!(sort::fingerprint(&items), sort::fingerprint(&sorted));
    sorted[77] = sorted[78];
    assert_ne!(sort::fingerprint(&items), sort::fingerprint(&sorted));
}

/// A number that panics when it is compared with `BAD`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Touchy(u64);

const BAD: u64 = 77;

impl PartialOrd for Touchy {
    fn partial_cmp(&self, other: &Self) -> Option<std::cmp::Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for Touchy {
    fn cmp(&self, other: &Self) -> std::cmp::Ordering {
        assert!(self.0 != BAD && other.0 != BAD, "touched");
        self.0.cmp(&other.0)
    }
}

#[test]
fn a_panic_in_a_comparison_reaches_the_caller_and_the_workers_survive() {
    let runtime = runtime(3);
    for way in [
        sort::sort_with::<Touchy> as fn(&mut [Touchy], usize, _),
        sort::sort_tasks,
    ] {
        let mut items: Vec<Touchy> = (0..200_000)
            .map(|index| Touchy(random::number(1, index) | 128))
            .collect();
        items[150_000] = Touchy(BAD);
        let note: fn(usize) = |_| ();
        let sorted = catch_unwind(AssertUnwindSafe(|| {
            runtime.install(|| way(&mut items, 1_000, note));
        }));
        assert!(sorted.is_err());
        items.retain(|item| item.0 != BAD);
        runtime.install(|| way(&mut items, 1_000, note));
        assert!(items.is_sorted());
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn any_numbers_are_sorted(items in vec(any::<i32>(), 0..3_000), cutoff in 0_usize..200) {
        check(&items, cutoff, "any numbers");
    }

    #[test]
    fn pairs_with_few_distinct_values_are_sorted(
        items in vec((0_u8..5, any::<bool>()), 0..2_000),
        cutoff in 0_usize..50,
    ) {
        check(&items, cutoff, "pairs");
    }
}
