//! The output lists of both halves while they are being filled. They are in one slice of existing
//! memory, or in vectors of their own, or they are only counted.
//!
//! The half of an item is selected by a conditional move, see [`raddle_collections::two_lists`].

use raddle_collections::two_lists::{Space, TwoLists};

use super::route::Counts;

/// Two lists: number 0 for the half below the plane, and number 1 for the half above.
pub(in crate::kdtree) trait Lists<T> {
    /// Appends an item to one of the lists.
    fn put(&mut self, half: usize, item: T);

    /// Returns the lengths of both lists.
    fn lens(&self) -> Counts;
}

/// Both lists in one slice. The list of the half above the plane begins at index 0, the list of the
/// half below at a given index behind it.
#[derive(Debug)]
pub(in crate::kdtree) struct Slices<'a, T> {
    items: &'a mut [T],
    below_first: usize,
    below: usize,
    above: usize,
}

impl<'a, T> Slices<'a, T> {
    pub(in crate::kdtree) fn new(items: &'a mut [T], below_first: usize) -> Self {
        Self {
            items,
            below_first,
            below: below_first,
            above: 0,
        }
    }
}

impl<T> Lists<T> for Slices<'_, T> {
    #[inline(always)]
    fn put(&mut self, half: usize, item: T) {
        self.items[if half == 0 { self.below } else { self.above }] = item;
        self.above += half;
        self.below += 1 - half;
    }

    #[inline(always)]
    fn lens(&self) -> Counts {
        Counts {
            below: self.below - self.below_first,
            above: self.above,
        }
    }
}

impl<T: Copy, R: Space<T>> Lists<T> for TwoLists<T, R> {
    #[inline(always)]
    fn put(&mut self, half: usize, item: T) {
        self.put(half, item);
    }

    #[inline(always)]
    fn lens(&self) -> Counts {
        let [below, above] = self.lens();
        Counts { below, above }
    }
}

/// Lists that are only counted, not stored.
impl<T> Lists<T> for Counts {
    #[inline(always)]
    fn put(&mut self, half: usize, _item: T) {
        self.above += half;
        self.below += 1 - half;
    }

    #[inline(always)]
    fn lens(&self) -> Counts {
        *self
    }
}
