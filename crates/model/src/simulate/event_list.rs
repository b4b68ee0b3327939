//! What is to happen, in the order of time: a radix heap.
//!
//! Nothing is ever put in before what was taken out last, so items can lie in buckets by the highest digit in which their time differs from that, and by
//! what that digit is: 16 buckets for each of 16 digits of four bits. Taking out the first empties the lowest bucket that has any into those below it; each item
//! moves down at most 16 times, and three or four times as things are. Both operations move neighbours in memory only.
//!
//! # Invariants
//! 1. No item is earlier than `last`.
//! 2. An item of time `t` lies in `now` if `t == last`, else in the bucket of the highest digit in which `t` and `last` differ, and of what that digit is in `t`.
//!    When `last` grows to a time in some bucket, it changes in no digit above that bucket's, and in that one to the bucket's own: what lies in buckets
//!    above it stays where it is.
//! 3. Items of one time lie in one bucket (by 2), in the order in which they were put in: buckets are filled at the end and emptied from the front. So
//!    what happens at the same time happens in that order.
//!
//! # Source
//! Ahuja, Mehlhorn, Orlin, Tarjan: Faster Algorithms for the Shortest Path Problem. JACM 37(2), 1990 (two-level radix heaps).

use super::moment::Moment;

const DIGIT_BITS: u32 = 4;
const DIGITS: usize = (u64::BITS / DIGIT_BITS) as usize;
const VALUES: usize = 1 << DIGIT_BITS;

/// Items by their time; of one time, the first that was put in comes first.
#[derive(Debug)]
pub(super) struct EventList<Item> {
    /// Those of the time `last`, of which the first have been taken.
    now: Vec<Item>,
    taken: usize,
    last: Moment,
    buckets: Vec<Vec<(Moment, Item)>>,
    /// Which digits have any, and which values of each.
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

    /// Puts an item in. Cost: constant.
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

    /// Takes the first item out. Cost: constant, on average over all items.
    #[inline]
    pub(super) fn take(&mut self) -> Option<(Moment, Item)> {
        if self.taken == self.now.len() && !self.refill() {
            return None;
        }
        let item = self.now[self.taken];
        self.taken += 1;
        Some((self.last, item))
    }

    /// Moves the items of the lowest bucket that has any to those below it. False where there is none.
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
        // Its memory stays where it was grown.
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
            steps in prop::collection::vec((0_u64..4, prop_oneof![Just(0), 0_u64..5, 0_u64..1_000_000]), 1..400),
        ) {
            let mut events = EventList::new();
            let mut heap = BinaryHeap::new();
            let mut now = 0;
            for (number, (what, ahead)) in steps.into_iter().enumerate() {
                if what > 0 {
                    events.put(Moment::from_picoseconds(now + ahead), number);
                    heap.push(Reverse((now + ahead, number)));
                } else {
                    let expected = heap.pop().map(|Reverse((at, number))| (Moment::from_picoseconds(at), number));
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
