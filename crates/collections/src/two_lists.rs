//! Two lists that are filled in turns that nobody can foresee.
//!
//! Who deals items out to two lists, and asks of each to which one it belongs, jumps wrongly every other time. Here the place is chosen, which compiles to a
//! conditional move: an item is written once, where the next of its list goes, and both ends move by a number that is 0 or 1.
//!
//! # Invariants
//! 1. `next` of a list lies between the start and the end of its [`Room`].
//! 2. All from the start to `next` is written. The rooms are not touched meanwhile.

use std::fmt;
use std::ops::Range;

/// Memory that is filled from its front to its back.
///
/// # Safety
/// Until the next call of either function, whoever has the room may write all of the range that [`start`](Self::start) tells, and nobody else reads
/// or writes there; moving the room does not move the memory.
pub unsafe trait Room<T: Copy> {
    /// Where the next items go, and where there is room for no more.
    fn start(&mut self) -> Range<*mut T>;

    /// Takes up what was written.
    ///
    /// # Safety
    /// So many items from the start on were written, since it was told.
    unsafe fn fill(&mut self, count: usize);
}

// SAFETY: a vector owns its memory up to its capacity, wherever it goes itself.
unsafe impl<T: Copy> Room<T> for Vec<T> {
    /// Forgets what the vector holds.
    fn start(&mut self) -> Range<*mut T> {
        self.clear();
        let start = self.as_mut_ptr();
        start..start.wrapping_add(self.capacity())
    }

    unsafe fn fill(&mut self, count: usize) {
        // SAFETY: the caller's promise, of a vector without items.
        unsafe { self.set_len(count) };
    }
}

/// Two rooms that are being filled.
///
/// # Examples
/// ```
/// use raddle_collections::two_lists::TwoLists;
///
/// let mut lists = TwoLists::new(Vec::with_capacity(5), Vec::with_capacity(5));
/// for number in 0..10 {
///     lists.put(number % 2, number);
/// }
/// let [even, odd] = lists.into_rooms();
/// assert_eq!((even[4], odd[4]), (8, 9));
/// ```
pub struct TwoLists<T: Copy, R: Room<T> = Vec<T>> {
    rooms: [R; 2],
    starts: [*mut T; 2],
    first_next: *mut T,
    second_next: *mut T,
    first_end: *mut T,
    second_end: *mut T,
}

// SAFETY: the pointers lead to the memory of the rooms, which come along.
unsafe impl<T: Copy + Send, R: Room<T> + Send> Send for TwoLists<T, R> {}

impl<T: Copy, R: Room<T>> TwoLists<T, R> {
    /// Fills two rooms; what vectors hold is forgotten. None is ever made larger.
    #[must_use]
    pub fn new(mut first: R, mut second: R) -> Self {
        const { assert!(size_of::<T>() > 0, "items without a size have no places") };
        let places = [first.start(), second.start()];
        Self {
            starts: [places[0].start, places[1].start],
            first_next: places[0].start,
            second_next: places[1].start,
            first_end: places[0].end,
            second_end: places[1].end,
            rooms: [first, second],
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
        // SAFETY: it lies in the room (invariant 1).
        unsafe { next.write(item) };
        self.first_next = self.first_next.wrapping_add(1 - list);
        self.second_next = self.second_next.wrapping_add(list);
    }

    /// How many items both lists have.
    #[inline]
    #[must_use]
    pub fn lens(&self) -> [usize; 2] {
        let len = |start: *mut T, next: *mut T| (next.addr() - start.addr()) / size_of::<T>();
        [
            len(self.starts[0], self.first_next),
            len(self.starts[1], self.second_next),
        ]
    }

    /// Both rooms, with what was put there.
    #[must_use]
    pub fn into_rooms(self) -> [R; 2] {
        let lens = self.lens();
        let [mut first, mut second] = self.rooms;
        // SAFETY: so many are written (invariant 2).
        unsafe { first.fill(lens[0]) };
        // SAFETY: as above.
        unsafe { second.fill(lens[1]) };
        [first, second]
    }
}

impl<T: Copy, R: Room<T>> fmt::Debug for TwoLists<T, R> {
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
    fn items_stay_in_their_order() {
        let mut lists = TwoLists::new(vec![7; 3], Vec::with_capacity(100));
        for number in 0..100_usize {
            lists.put(usize::from(number % 37 != 0), number);
        }
        assert_eq!(lists.lens(), [3, 97]);
        let [rare, common] = lists.into_rooms();
        assert_eq!(rare, [0, 37, 74]);
        assert!(common.is_sorted() && common.len() == 97);
    }

    #[test]
    fn claims_are_filled_where_they_are() {
        let shared = [SharedVec::new(4), SharedVec::new(2)];
        let claims = || [shared[0].claim(1..4), shared[1].claim(0..2)];
        let [first, second] = claims();
        let mut lists = TwoLists::new(first, second);
        for number in [10, 11, 12] {
            lists.put(usize::from(number == 11), number);
        }
        let [mut first, mut second] = lists.into_rooms();
        assert_eq!((first.left(), second.left()), (1, 1));
        first.extend_from_slice(&[13]);
        second.extend_from_slice(&[14]);
        drop((first, second));
        shared[0].claim(0..1).extend_from_slice(&[9]);
        let vectors = shared.map(|shared| shared.into_vec().expect("all is written"));
        assert_eq!(vectors, [vec![9, 10, 12, 13], vec![11, 14]]);
    }

    #[test]
    #[should_panic(expected = "list 1 of two is full")]
    fn a_full_claim_takes_no_more() {
        let shared = SharedVec::new(3);
        let mut lists = TwoLists::new(shared.claim(0..2), shared.claim(2..3));
        lists.put(1, 1_u8);
        lists.put(1, 2);
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
