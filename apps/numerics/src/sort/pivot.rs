//! The choice of a pivot: a median of three items, each of which is again a median of three, and so
//! on.
//!
//! Longer parts are worth more samples: three for short parts, 729 for parts of millions of items.
//! On random items, the pivot of a long part is within a few percent of the middle, and a quicksort
//! needs hardly more levels than the logarithm of its length.
//!
//! # Source
//! J. Tukey: The ninther, a technique for low-effort robust (resistant) location in large samples.
//! 1978. The ninther has two levels; here the number of levels depends on the length.

/// A part gets one more level each time it is longer by this factor.
const LEN_PER_LEVEL: usize = 16;
/// The length from which a part gets two levels. Shorter parts get a plain median of three.
const LEN_TWO_LEVELS: usize = 64;

/// Returns the index of an item near the median.
///
/// # Panics
/// If there are no items.
pub(super) fn pseudo_median<T: Copy + Ord>(items: &[T]) -> usize {
    let mut levels = 1;
    let mut len_next = LEN_TWO_LEVELS;
    while items.len() >= len_next {
        levels += 1;
        len_next = len_next.saturating_mul(LEN_PER_LEVEL);
    }
    median_within(items, 0, items.len(), levels)
}

/// Returns the index of the pseudo-median of `3^levels` items, which are evenly spaced in the `len`
/// items that begin at `first`.
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
    // Now `a` is the smallest or the largest.
    let b_below_c = items[b] < items[c];
    if a_below_b == b_below_c { b } else { c }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_median_of_three_is_found_in_every_order() {
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
    fn the_pivot_of_a_sorted_part_is_in_the_middle() {
        for len in [1, 2, 3, 17, 64, 1_000, 100_000] {
            let items: Vec<usize> = (0..len).collect();
            let found = pseudo_median(&items);
            assert!(found.abs_diff(len / 2) <= 1 + len / 50, "{found} of {len}");
        }
    }

    #[test]
    fn the_pivot_of_random_items_is_near_the_median() {
        let items: Vec<u64> = (0..100_000)
            .map(|index| crate::random::number(1, index))
            .collect();
        let pivot = items[pseudo_median(&items)];
        let below = items.iter().filter(|&&item| item < pivot).count();
        assert!((40_000..60_000).contains(&below), "{below}");
    }
}
