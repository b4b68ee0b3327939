//! A `CpuSet` behaves like the standard ordered set of numbers.

use std::collections::BTreeSet;

use proptest::prelude::*;

use super::*;

fn set_of(numbers: &BTreeSet<u32>) -> CpuSet {
    numbers.iter().copied().map(CpuId).collect()
}

#[test]
fn lists_merge_runs_and_keep_the_order() {
    assert_eq!(number_list([]), "");
    assert_eq!(number_list([7]), "7");
    assert_eq!(number_list([0, 2, 4, 5, 6, 7]), "0,2,4-7");
    assert_eq!(number_list([3, 2, 1, 2]), "3,2,1-2");
    assert_eq!(number_list([u32::MAX, 0]), format!("{},0", u32::MAX));
}

#[test]
fn trailing_empty_blocks_make_no_difference() {
    let mut long = set_of(&BTreeSet::from([1, 500]));
    assert!(long.remove(CpuId(500)));
    assert_eq!(long, set_of(&BTreeSet::from([1])));
    assert!(!long.remove(CpuId(500)) && !long.remove(CpuId(60_000)));
}

#[test]
#[should_panic(expected = "CPU 65536 is not below the limit of 65536")]
fn inserting_a_number_at_the_limit_panics() {
    CpuSet::new().insert(CpuId(CPU_NUMBER_LIMIT));
}

proptest! {
    #[test]
    fn agrees_with_the_standard_set(
        left in prop::collection::btree_set(0_u32..300, 0..80),
        right in prop::collection::btree_set(0_u32..300, 0..80),
    ) {
        let (ours, others) = (set_of(&left), set_of(&right));
        prop_assert_eq!(ours.len(), left.len());
        prop_assert_eq!(ours.is_empty(), left.is_empty());
        prop_assert_eq!(ours.first(), left.first().copied().map(CpuId));
        let numbers: Vec<_> = ours.iter().map(|cpu| cpu.0).collect();
        prop_assert_eq!(numbers, left.iter().copied().collect::<Vec<_>>());
        let common = left.intersection(&right).copied().collect();
        prop_assert_eq!(ours.intersection(&others), set_of(&common));
        prop_assert_eq!(ours.is_subset_of(&others), left.is_subset(&right));
        prop_assert_eq!(ours == others, left == right);
        let mut union = ours.clone();
        union.extend_from(&others);
        prop_assert_eq!(union, set_of(&left.union(&right).copied().collect()));
        for number in 0..300 {
            prop_assert_eq!(ours.contains(CpuId(number)), left.contains(&number));
        }
    }
}
