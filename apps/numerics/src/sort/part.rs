//! A part: a slice of items that must still be sorted, with what is known about it.
//!
//! This is all of quicksort except the order in which parts are processed. Every sort function,
//! parallel or not, splits [`Part`]s and sorts the small ones.
//!
//! # Worst case
//! - Equal items: if the pivot equals the item just left of the part, it is the smallest item of
//!   the part. All items that equal it are then dropped at once, so few distinct values take few
//!   splits.
//! - Bad pivots: a part may be split at most twice as often as with good pivots. After that, the
//!   standard library sorts it in O(n log n). This also limits the depth of the recursion.
//!
//! # Source
//! C. A. R. Hoare: Quicksort. The Computer Journal 5(4), 1962. The limit: D. Musser: Introspective
//! sorting and selection algorithms. Software: Practice and Experience 27(8), 1997. Equal items: O.
//! Peters: Pattern-defeating quicksort. arXiv 2106.05123, 2021.

use super::leaf;
use super::partition::{Partition, Sequential};
use super::pivot;

/// A slice of items that must still be sorted.
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
    /// The pivot just left of this part. No item of the part is smaller.
    least: Option<T>,
    splits_left: u32,
}

impl<'items, T: Copy + Ord + Send> Part<'items, T> {
    /// Creates a part that contains all of `items`.
    pub fn whole(items: &'items mut [T]) -> Self {
        let splits_left = 2 * (items.len().checked_ilog2().unwrap_or(0) + 1);
        Self {
            items,
            least: None,
            splits_left,
        }
    }

    /// Returns the number of items.
    #[inline]
    pub fn len(&self) -> usize {
        self.items.len()
    }

    /// Returns true if there are no items.
    #[inline]
    pub fn is_empty(&self) -> bool {
        self.items.is_empty()
    }

    /// Moves the smaller items before the larger ones, and returns the two parts that must still be
    /// sorted.
    ///
    /// At least one item is in neither part, because it is already in its final place.
    ///
    /// # Panics
    /// If there are no items.
    #[inline]
    pub fn split(self) -> (Self, Self) {
        self.split_by(&Sequential)
    }

    /// Splits the part like [`split`](Self::split), with the given partition.
    #[inline]
    pub(super) fn split_by(self, partition: &impl Partition<T>) -> (Self, Self) {
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
            // The pivot is the smallest item. All items that equal it are in their final places
            // after this partition.
            let equal = partition.partition(items, move |item| item <= pivot);
            return (part(&mut [], None), part(&mut items[equal..], None));
        }
        items.swap(0, place);
        let less = partition.partition(&mut items[1..], move |item| item < pivot);
        // Move the pivot between the two sides, to its final place.
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
