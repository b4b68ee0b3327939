//! A stretch of items that is still to be sorted, and what is known about it.
//!
//! This is all of quicksort but the order in which parts are taken up: every way to sort, parallel or not, splits
//! [`Part`]s and sorts the small ones.
//!
//! # Why no input takes long
//! A pivot that equals the largest item left of the part is the part's smallest: then everything equal to it is
//! dropped at once, so that few distinct values take few splits. And each split uses up one of twice as many as a
//! good run needs; a part that has none left is sorted by the standard library in O(n log n). No recursion goes deeper
//! than that number.
//!
//! # Source
//! C. A. R. Hoare: Quicksort. The Computer Journal 5(4), 1962. The limit: D. Musser: Introspective sorting and
//! selection algorithms. Software: Practice and Experience 27(8), 1997. Equal items: O. Peters:
//! Pattern-defeating quicksort. arXiv 2106.05123, 2021.

use super::leaf;
use super::partition::{Alone, Partition};
use super::pivot;

/// A stretch of items that is still to be sorted.
///
/// # Examples
/// ```
/// use raddle_numerics::sort::Part;
///
/// let mut items: Vec<i32> = (0..1_000).rev().collect();
/// let (left, right) = Part::whole(&mut items).split();
/// left.sort_sequential();
/// right.sort_sequential();
/// assert!(items.is_sorted());
/// ```
#[derive(Debug)]
pub struct Part<'items, T> {
    items: &'items mut [T],
    /// The pivot left of this part: no item here is smaller.
    least: Option<T>,
    splits_left: u32,
}

impl<'items, T: Copy + Ord + Send> Part<'items, T> {
    /// All of `items`.
    pub fn whole(items: &'items mut [T]) -> Self {
        let splits_left = 2 * (items.len().checked_ilog2().unwrap_or(0) + 1);
        Self {
            items,
            least: None,
            splits_left,
        }
    }

    /// How many items there are.
    #[inline]
    pub fn len(&self) -> usize {
        self.items.len()
    }

    /// Whether there are none.
    #[inline]
    pub fn is_empty(&self) -> bool {
        self.items.is_empty()
    }

    /// Puts the smaller items before the larger ones; what is left to do are the two parts that come back.
    ///
    /// At least one item is in neither: it has its place already.
    ///
    /// # Panics
    /// Without items.
    #[inline]
    pub fn split(self) -> (Self, Self) {
        self.split_by(&Alone)
    }

    /// As [`split`](Self::split), by a partition of the caller's.
    #[inline]
    pub(super) fn split_by(self, how: &impl Partition<T>) -> (Self, Self) {
        let Self {
            items,
            least,
            splits_left,
        } = self;
        let part = |items, least| Self {
            items,
            least,
            splits_left: splits_left - 1,
        };
        if splits_left == 0 {
            items.sort_unstable();
            return (Self::whole(&mut []), Self::whole(&mut []));
        }
        let place = pivot::pseudo_median(items);
        let pivot = items[place];
        if least.is_some_and(|least| least >= pivot) {
            let equal = how.partition(items, move |item| item <= pivot);
            return (part(&mut [], None), part(&mut items[equal..], None));
        }
        items.swap(0, place);
        let less = how.partition(&mut items[1..], move |item| item < pivot);
        items.swap(0, less);
        let (left, right) = items.split_at_mut(less);
        (part(left, least), part(&mut right[1..], Some(pivot)))
    }

    /// Sorts the part on this thread.
    pub fn sort_sequential(self) {
        let mut rest = self;
        while rest.len() > leaf::LEAF_LEN_MAX {
            let (left, right) = rest.split();
            left.sort_sequential();
            rest = right;
        }
        leaf::sort(rest.items);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_part_without_splits_left_is_sorted_at_once() {
        let mut items: Vec<i32> = (0..1_000).rev().collect();
        let part = Part {
            items: &mut items,
            least: None,
            splits_left: 0,
        };
        let (left, right) = part.split();
        assert!(left.is_empty() && right.is_empty());
        assert!(items.is_sorted());
    }

    #[test]
    fn equal_items_are_dropped_by_the_second_split() {
        let mut items = vec![5; 1_000];
        let (left, right) = Part::whole(&mut items).split();
        assert_eq!((left.len(), right.len()), (0, 999));
        let (left, right) = right.split();
        assert_eq!((left.len(), right.len()), (0, 0));
    }

    #[test]
    fn a_split_settles_at_least_one_item() {
        for len in 1..200 {
            let mut items: Vec<usize> = (0..len).map(|index| index * 37 % 11).collect();
            let (left, right) = Part::whole(&mut items).split();
            assert!(left.len() + right.len() < len);
        }
    }
}
