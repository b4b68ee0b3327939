//! A stable partition into two lists, without branches.
//!
//! Code that deals items out to two lists and branches on the list of each item mispredicts about
//! every other branch. This module selects the destination instead, which compiles to a conditional
//! move: each item is written once, at the end of its list, and the ends of both lists advance by a
//! number that is 0 or 1.
//!
//! # Invariants
//! 1. The next position of a list lies between the start and the end of its [`Space`].
//! 2. Everything from the start to the next position is written. The spaces are not accessed
//!    otherwise in the meantime.

use std::fmt;
use std::ops::Range;

/// Memory that is filled from its front to its back.
///
/// # Safety
/// Until the next call of either function, the owner of the space may write the whole range that
/// [`start`](Self::start) returned, and no other code reads or writes that range. Moving the space
/// does not move the memory.
pub unsafe trait Space<T: Copy> {
    /// Returns the range of memory that is free: the next item goes to its start.
    fn start(&mut self) -> Range<*mut T>;

    /// Takes the first `count` items of the free range as part of the contents.
    ///
    /// # Safety
    /// The first `count` items of the range that the last [`start`](Self::start) returned have been
    /// written.
    unsafe fn fill(&mut self, count: usize);
}

// SAFETY: a vector owns its memory up to its capacity, and moving the vector does not move it.
unsafe impl<T: Copy> Space<T> for Vec<T> {
    /// Forgets the items that the vector holds.
    fn start(&mut self) -> Range<*mut T> {
        self.clear();
        let start = self.as_mut_ptr();
        start..start.wrapping_add(self.capacity())
    }

    unsafe fn fill(&mut self, count: usize) {
        // SAFETY: the caller promises that `count` items are written; the vector was empty before.
        unsafe { self.set_len(count) };
    }
}

/// Two lists of fixed capacity that are being filled.
///
/// # Examples
/// ```
/// use raddle_collections::two_lists::TwoLists;
///
/// let mut lists = TwoLists::new(Vec::with_capacity(5), Vec::with_capacity(5));
/// for number in 0..10 {
///     lists.put(number % 2, number);
/// }
/// let [even, odd] = lists.into_spaces();
/// assert_eq!((even[4], odd[4]), (8, 9));
/// ```
pub struct TwoLists<T: Copy, R: Space<T> = Vec<T>> {
    spaces: [R; 2],
    starts: [*mut T; 2],
    first_next: *mut T,
    second_next: *mut T,
    first_end: *mut T,
    second_end: *mut T,
}

// SAFETY: the pointers point into the memory of the spaces, which are sent together with them.
unsafe impl<T: Copy + Send, R: Space<T> + Send> Send for TwoLists<T, R> {}

impl<T: Copy, R: Space<T>> TwoLists<T, R> {
    /// Begins to fill two spaces. Vectors forget the items that they hold. A space never grows.
    #[must_use]
    pub fn new(mut first: R, mut second: R) -> Self {
        const { assert!(size_of::<T>() > 0, "zero-sized items have no addresses") };
        let places = [first.start(), second.start()];
        Self {
            starts: [places[0].start, places[1].start],
            first_next: places[0].start,
            second_next: places[1].start,
            first_end: places[0].end,
            second_end: places[1].end,
            spaces: [first, second],
        }
    }

    /// Appends an item to the first list if `list` is 0, and to the second if `list` is 1.
    ///
    /// Costs a conditional move and a store; no branch depends on `list`.
    ///
    /// # Panics
    /// When that list is full, or `list` is neither 0 nor 1.
    #[inline(always)]
    pub fn put(&mut self, list: usize, item: T) {
        assert!(list < 2, "list {list} of two");
        let (next, end) = if list == 0 {
            (self.first_next, self.first_end)
        } else {
            (self.second_next, self.second_end)
        };
        assert!(next < end, "list {list} of two is full");
        // SAFETY: the position lies in the space (invariant 1), before its end (asserted above).
        unsafe { next.write(item) };
        self.first_next = self.first_next.wrapping_add(1 - list);
        self.second_next = self.second_next.wrapping_add(list);
    }

    /// Returns the number of items in each list.
    #[inline]
    #[must_use]
    pub fn lens(&self) -> [usize; 2] {
        let len = |start: *mut T, next: *mut T| (next.addr() - start.addr()) / size_of::<T>();
        [
            len(self.starts[0], self.first_next),
            len(self.starts[1], self.second_next),
        ]
    }

    /// Returns both spaces, with the items that were put there.
    #[must_use]
    pub fn into_spaces(self) -> [R; 2] {
        let lens = self.lens();
        let [mut first, mut second] = self.spaces;
        // SAFETY: that number of items is written (invariant 2).
        unsafe { first.fill(lens[0]) };
        // SAFETY: as above.
        unsafe { second.fill(lens[1]) };
        [first, second]
    }
}

impl<T: Copy, R: Space<T>> fmt::Debug for TwoLists<T, R> {
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
    use crate::shared_vec::SharedVec;

    #[test]
    fn items_keep_their_order() {
        let mut lists = TwoLists::new(vec![7; 3], Vec::with_capacity(100));
        for number in 0..100_usize {
            lists.put(usize::from(number % 37 != 0), number);
        }
        assert_eq!(lists.lens(), [3, 97]);
        let [rare, common] = lists.into_spaces();
        assert_eq!(rare, [0, 37, 74]);
        assert!(common.is_sorted() && common.len() == 97);
    }

    #[test]
    fn claims_are_filled_in_place() {
        let shared = [SharedVec::new(4), SharedVec::new(2)];
        let claims = || [shared[0].claim(1..4), shared[1].claim(0..2)];
        let [first, second] = claims();
        let mut lists = TwoLists::new(first, second);
        for number in [10, 11, 12] {
            lists.put(usize::from(number == 11), number);
        }
        let [mut first, mut second] = lists.into_spaces();
        assert_eq!((first.left(), second.left()), (1, 1));
        first.extend_from_slice(&[13]);
        second.extend_from_slice(&[14]);
        drop((first, second));
        shared[0].claim(0..1).extend_from_slice(&[9]);
        let vectors = shared.map(|shared| shared.into_vec().expect("all elements are written"));
        assert_eq!(vectors, [vec![9, 10, 12, 13], vec![11, 14]]);
    }

    #[test]
    #[should_panic(expected = "list 1 of two is full")]
    fn put_into_a_full_claim_panics() {
        let shared = SharedVec::new(3);
        let mut lists = TwoLists::new(shared.claim(0..2), shared.claim(2..3));
        lists.put(1, 1_u8);
        lists.put(1, 2);
    }

    #[test]
    #[should_panic(expected = "list 1 of two is full")]
    fn put_into_a_full_list_panics() {
        let mut lists = TwoLists::new(Vec::with_capacity(1), Vec::new());
        lists.put(0, 1_u8);
        lists.put(1, 2);
    }

    #[test]
    #[should_panic(expected = "list 2 of two")]
    fn put_into_a_third_list_panics() {
        TwoLists::new(Vec::with_capacity(1), Vec::with_capacity(1)).put(2, 1_u8);
    }
}
