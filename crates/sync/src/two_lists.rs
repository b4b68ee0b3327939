//! Two vectors that are filled in turns that nobody can foresee.
//!
//! Who deals items out to two lists, and asks of each to which one it belongs, jumps wrongly every other time. Here the place is chosen, which compiles to a
//! conditional move: an item is written once, where the next of its list goes, and both ends move by a number that is 0 or 1.
//!
//! # Invariants
//! 1. `next` of a list lies between the start of its vector's memory and its `end`, which is that of the capacity.
//! 2. All before `next` is written. The vectors are not touched meanwhile, and have no elements.

use std::fmt;

/// Two vectors that are being filled up to their capacity.
///
/// # Examples
/// ```
/// use raddle_sync::two_lists::TwoLists;
///
/// let mut lists = TwoLists::new(Vec::with_capacity(5), Vec::with_capacity(5));
/// for number in 0..10 {
///     lists.put(number % 2, number);
/// }
/// let [even, odd] = lists.into_vecs();
/// assert_eq!((even[4], odd[4]), (8, 9));
/// ```
pub struct TwoLists<T: Copy> {
    vectors: [Vec<T>; 2],
    first_next: *mut T,
    second_next: *mut T,
    first_end: *mut T,
    second_end: *mut T,
}

// SAFETY: the pointers lead to the memory of the vectors, which come along.
unsafe impl<T: Copy + Send> Send for TwoLists<T> {}

impl<T: Copy> TwoLists<T> {
    /// Fills two vectors; what they hold is forgotten. None is ever made larger.
    #[must_use]
    pub fn new(mut first: Vec<T>, mut second: Vec<T>) -> Self {
        const { assert!(size_of::<T>() > 0, "items without a size have no places") };
        first.clear();
        second.clear();
        let ends = [&mut first, &mut second].map(|vector| {
            let next = vector.as_mut_ptr();
            (next, next.wrapping_add(vector.capacity()))
        });
        Self {
            first_next: ends[0].0,
            second_next: ends[1].0,
            first_end: ends[0].1,
            second_end: ends[1].1,
            vectors: [first, second],
        }
    }

    /// Puts an item to the end of the first list if `list` is 0, of the second if it is 1. Cost: a conditional move and a store, no jump that depends on `list`.
    ///
    /// # Panics
    /// When that list is full, and for other numbers.
    #[inline(always)]
    pub fn put(&mut self, list: usize, item: T) {
        assert!(list < 2, "list {list} of two");
        let (next, end) = if list == 0 {
            (self.first_next, self.first_end)
        } else {
            (self.second_next, self.second_end)
        };
        assert!(next < end, "list {list} of two is full");
        // SAFETY: it lies in the memory of the vector (invariant 1).
        unsafe { next.write(item) };
        self.first_next = self.first_next.wrapping_add(1 - list);
        self.second_next = self.second_next.wrapping_add(list);
    }

    /// How many items both lists have.
    #[inline]
    #[must_use]
    pub fn lens(&self) -> [usize; 2] {
        let len =
            |vector: &Vec<T>, next: *mut T| (next.addr() - vector.as_ptr().addr()) / size_of::<T>();
        [
            len(&self.vectors[0], self.first_next),
            len(&self.vectors[1], self.second_next),
        ]
    }

    /// Both lists.
    #[must_use]
    pub fn into_vecs(self) -> [Vec<T>; 2] {
        let lens = self.lens();
        let [mut first, mut second] = self.vectors;
        // SAFETY: so many are written (invariant 2).
        unsafe { first.set_len(lens[0]) };
        // SAFETY: as above.
        unsafe { second.set_len(lens[1]) };
        [first, second]
    }
}

impl<T: Copy> fmt::Debug for TwoLists<T> {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter
            .debug_struct("TwoLists")
            .field("lens", &self.lens())
            .finish_non_exhaustive()
    }
}

#[cfg(all(test, not(any(loom, shuttle))))]
mod tests {
    use super::*;

    #[test]
    fn items_stay_in_their_order() {
        let mut lists = TwoLists::new(vec![7; 3], Vec::with_capacity(100));
        for number in 0..100_usize {
            lists.put(usize::from(number % 37 != 0), number);
        }
        assert_eq!(lists.lens(), [3, 97]);
        let [rare, common] = lists.into_vecs();
        assert_eq!(rare, [0, 37, 74]);
        assert!(common.is_sorted() && common.len() == 97);
    }

    #[test]
    #[should_panic(expected = "list 1 of two is full")]
    fn a_full_list_takes_no_more() {
        let mut lists = TwoLists::new(Vec::with_capacity(1), Vec::new());
        lists.put(0, 1_u8);
        lists.put(1, 2);
    }

    #[test]
    #[should_panic(expected = "list 2 of two")]
    fn there_are_only_two() {
        TwoLists::new(Vec::with_capacity(1), Vec::with_capacity(1)).put(2, 1_u8);
    }
}
