//! Static grains: which weights they split, and into how many parts.

use proptest::prelude::*;

use super::*;

/// Returns the parts into which a weight is divided by halving.
fn parts(weight: usize, grain: Grain) -> Vec<usize> {
    if !grain.splits(weight) {
        return vec![weight];
    }
    let half = weight / 2;
    let mut all = parts(half, grain);
    all.extend(parts(weight - half, grain));
    all
}

#[test]
fn halving_ends_at_the_number_of_tasks() {
    for task_count in [1, 2, 8, 64] {
        assert_eq!(
            parts(1_000, Grain::tasks(1_000, task_count)).len(),
            task_count
        );
    }
    let worker_count = raddle_runtime::worker_count();
    let expected = Grain::tasks(1_000, 3 * worker_count);
    assert_eq!(Grain::per_worker(1_000, 3), expected);
}

#[test]
fn the_coarser_of_two_grains_wins() {
    assert_eq!(Grain::at_most(10).but_at_least(100), Grain::at_least(100));
    assert_eq!(Grain::at_most(500).but_at_least(100), Grain::at_most(500));
    assert_eq!(
        Grain::at_least(0).but_at_least(usize::MAX),
        Grain::at_least(usize::MAX)
    );
    assert!(!Grain::at_least(usize::MAX).splits(usize::MAX - 1));
}

proptest! {
    #[test]
    fn parts_keep_their_bounds(weight in 0..5_000_usize, bound in 1..600_usize) {
        prop_assert!(parts(weight, Grain::at_most(bound)).into_iter().all(|part| part <= bound));
        let is_enough = |part| part >= bound || part == weight;
        prop_assert!(parts(weight, Grain::at_least(bound)).into_iter().all(is_enough));
        let count = parts(weight, Grain::tasks(weight, bound)).len();
        prop_assert!(count <= 2 * bound, "{count} parts");
    }
}

#[test]
#[should_panic(expected = "task_count is 0")]
fn a_number_of_0_tasks_is_refused() {
    let _ = Grain::tasks(1, 0);
}
