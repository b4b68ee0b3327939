//! The pending events in the order of time: a radix heap.
//!
//! No item is ever inserted before the time of the last one that was removed. So each item lies in
//! a bucket that is determined by the highest digit in which its time differs from that time, and
//! by the value of this digit. There are 16 buckets for each of 16 digits of four bits. Removing
//! the first item empties the lowest non-empty bucket into those below it. Each item moves down at
//! most 16 times, and three or four times in practice. Both operations access contiguous memory
//! only.
//!
//! # Invariants
//! 1. No item is earlier than `last`.
//! 2. An item of time `t` lies in `now` if `t == last`. Otherwise it lies in the bucket of the
//!    highest digit in which `t` and `last` differ, and of the value of that digit in `t`. When
//!    `last` advances to a time in some bucket, no digit above that bucket's digit changes, and
//!    that digit takes the bucket's value. So the items in buckets above it stay in place.
//! 3. Items of one time lie in one bucket (by 2), in the order of insertion, since buckets are
//!    filled at the end and emptied from the front. So simultaneous events happen in the order of
//!    insertion.
//!
//! # Source
//! Ahuja, Mehlhorn, Orlin, Tarjan: Faster Algorithms for the Shortest Path Problem. JACM 37(2),
//! 1990 (two-level radix heaps).

use super::moment::Moment;

const DIGIT_BITS: u32 = 4;
const DIGITS: usize = (u64::BITS / DIGIT_BITS) as usize;
const VALUES: usize = 1 << DIGIT_BITS;

/// A priority queue by time. Items of the same time are removed in the order of insertion.
#[derive(Debug)]
pub(super) struct EventList<Item> {
    /// The items of the time `last`, of which the first `taken` have been removed.
    now: Vec<Item>,
    taken: usize,
    last: Moment,
    buckets: Vec<Vec<(Moment, Item)>>,
    /// Bit sets: the digits that have items, and the values of each digit that have items.
    digits: u16,
    values: [u16; DIGITS],
}

impl<Item: Copy> EventList<Item> {
    pub(super) fn new() -> Self {
        Self {
            now: Vec::new(),
            taken: 0,
            last: Moment::START,
            buckets: (0..DIGITS * VALUES).map(|_| Vec::new()).collect(),
            digits: 0,
            values: [0; DIGITS],
        }
    }

    /// Inserts an item, in constant time.
    #[inline]
    pub(super) fn put(&mut self, at: Moment, item: Item) {
        debug_assert!(at >= self.last, "nothing happens in the past");
        let differing = at.picoseconds() ^ self.last.picoseconds();
        if differing == 0 {
            return self.now.push(item);
        }
        let digit = differing.ilog2() / DIGIT_BITS;
        let value = (at.picoseconds() >> (digit * DIGIT_BITS)) as usize % VALUES;
        let digit = digit as usize;
        self.digits |= 1 << digit;
        self.values[digit] |= 1 << value;
        self.buckets[digit * VALUES + value].push((at, item));
    }

    /// Removes the first item, in amortised constant time.
    #[inline]
    pub(super) fn take(&mut self) -> Option<(Moment, Item)> {
        if self.taken == self.now.len() && !self.refill() {
            return None;
        }
        let item = self.now[self.taken];
        self.taken += 1;
        Some((self.last, item))
    }

    /// Moves the items of the lowest non-empty bucket to those below it. Returns `false` if there
    /// is none.
    fn refill(&mut self) -> bool {
        self.now.clear();
        self.taken = 0;
        if self.digits == 0 {
            return false;
        }
        let digit = self.digits.trailing_zeros() as usize;
        let value = self.values[digit].trailing_zeros() as usize;
        self.values[digit] &= self.values[digit] - 1;
        if self.values[digit] == 0 {
            self.digits &= self.digits - 1;
        }
        let mut items = std::mem::take(&mut self.buckets[digit * VALUES + value]);
        let first = items.iter().map(|&(at, _)| at).min();
        self.last = first.expect("a bucket that is marked has items");
        for (at, item) in items.drain(..) {
            self.put(at, item);
        }
        // The bucket keeps its allocation.
        self.buckets[digit * VALUES + value] = items;
        true
    }
}

#[cfg(test)]
mod tests {
    use std::cmp::Reverse;
    use std::collections::BinaryHeap;

    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn items_come_as_from_a_heap_with_numbers(
            steps in prop::collection::vec(
                (0_u64..4, prop_oneof![Just(0), 0_u64..5, 0_u64..1_000_000]),
                1..400,
            ),
        ) {
            let mut events = EventList::new();
            let mut heap = BinaryHeap::new();
            let mut now = 0;
            for (number, (what, ahead)) in steps.into_iter().enumerate() {
                if what > 0 {
                    events.put(Moment::from_picoseconds(now + ahead), number);
                    heap.push(Reverse((now + ahead, number)));
                } else {
                    let expected = heap
                        .pop()
                        .map(|Reverse((at, number))| (Moment::from_picoseconds(at), number));
                    prop_assert_eq!(events.take(), expected);
                    now = expected.map_or(now, |(at, _)| at.picoseconds());
                }
            }
            while let Some(Reverse((at, number))) = heap.pop() {
                prop_assert_eq!(events.take(), Some((Moment::from_picoseconds(at), number)));
            }
            prop_assert_eq!(events.take(), None);
        }
    }
}
