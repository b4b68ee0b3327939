//! Both halves' lists while they are filled: in one slice of memory that is there, or in rooms of their own; or only counted.
//!
//! Which half an item goes to is chosen by a conditional move, see [`raddle_collections::two_lists`].

use raddle_collections::two_lists::{Room, TwoLists};

use super::route::Counts;

/// Two lists, the one below a plane, which is number 0, and the one above, number 1.
pub(in crate::kdtree) trait Lists<T> {
    /// Puts an item to the end of one.
    fn put(&mut self, half: usize, item: T);

    /// How many items both have.
    fn lens(&self) -> Counts;
}

/// Lists in one slice: the one above from its start on, the one below from some place behind that.
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

impl<T: Copy, R: Room<T>> Lists<T> for TwoLists<T, R> {
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

/// Lists that nobody needs yet: how long they will be.
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
