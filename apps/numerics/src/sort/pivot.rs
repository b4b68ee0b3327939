//! Where to cut: the median of three, of whose kind each is again a median of three, and so on.
//!
//! A part of so many items pays for so many looks: three looks for short parts, 729 for those of millions. On
//! random items the pivot of a long part is within a few percent of the middle, and a quicksort needs next to
//! no more levels than the logarithm of its length.
//!
//! # Source
//! J. Tukey: The ninther, a technique for low-effort robust (resistant) location in large samples. 1978; three medians of
//! three there, as many levels as pay here.

/// From one more level to the next the part is so many times as long.
const LEN_PER_LEVEL: usize = 16;
/// Parts of fewer items than this get a plain median of three.
const LEN_TWO_LEVELS: usize = 64;

/// The index of an item near the median.
///
/// # Panics
/// Without items.
pub(super) fn pseudo_median<T: Copy + Ord>(items: &[T]) -> usize {
    let mut levels = 1;
    let mut len_next = LEN_TWO_LEVELS;
    while items.len() >= len_next {
        levels += 1;
        len_next = len_next.saturating_mul(LEN_PER_LEVEL);
    }
    median_within(items, 0, items.len(), levels)
}

/// The index of the pseudo-median of `3^levels` items, evenly spaced in the stretch that begins at `first`.
fn median_within<T: Copy + Ord>(items: &[T], first: usize, len: usize, levels: u32) -> usize {
    if levels == 0 {
        return first + len / 2;
    }
    let third = len / 3;
    let [a, b, c] =
        [0, 1, 2].map(|nth| median_within(items, first + nth * third, third, levels - 1));
    median_of_three(items, a, b, c)
}

#[inline]
fn median_of_three<T: Copy + Ord>(items: &[T], a: usize, b: usize, c: usize) -> usize {
    let a_below_b = items[a] < items[b];
    let a_below_c = items[a] < items[c];
    if a_below_b != a_below_c {
        return a;
    }
    // `a` is the smallest or the largest.
    let b_below_c = items[b] < items[c];
    if a_below_b == b_below_c { b } else { c }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn of_three_the_middle_one_is_chosen_in_every_order() {
        for order in [
            [1, 2, 3],
            [1, 3, 2],
            [2, 1, 3],
            [2, 3, 1],
            [3, 1, 2],
            [3, 2, 1],
        ] {
            assert_eq!(order[median_of_three(&order, 0, 1, 2)], 2, "{order:?}");
        }
        for order in [[1, 1, 2], [1, 2, 1], [2, 1, 1]] {
            assert_eq!(order[median_of_three(&order, 0, 1, 2)], 1, "{order:?}");
        }
    }

    #[test]
    fn a_sorted_part_is_cut_in_the_middle() {
        for len in [1, 2, 3, 17, 64, 1_000, 100_000] {
            let items: Vec<usize> = (0..len).collect();
            let found = pseudo_median(&items);
            assert!(found.abs_diff(len / 2) <= 1 + len / 50, "{found} of {len}");
        }
    }

    #[test]
    fn random_items_are_cut_near_their_middle() {
        let items: Vec<u64> = (0..100_000)
            .map(|index| crate::random::number(1, index))
            .collect();
        let pivot = items[pseudo_median(&items)];
        let below = items.iter().filter(|&&item| item < pivot).count();
        assert!((40_000..60_000).contains(&below), "{below}");
    }
}
