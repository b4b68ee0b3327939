//! What is to happen, in the order of time: a radix heap.
//!
//! Nothing is ever put in before what was taken out last, so items can lie in 65 buckets by the highest bit in which their time differs from that.
//! Taking out the first empties the lowest bucket that has any into those below it; each item moves down at most 64 times, and a few
//! times as things are. Both operations move neighbours in memory only.
//!
//! # Invariants
//! 1. No item is earlier than `last`.
//! 2. An item of time `t` lies in bucket 0 if `t == last`, else in the one of the highest bit of `t ^ last`, counted from 1.
//!    When `last` grows to a time in bucket `b`, it changes in no bit above that of `b`, so what lies above `b` stays where it is.
//! 3. Items of one time lie in one bucket (by 2), in the order in which they were put in: buckets are filled at the end and emptied from the front. So
//!    what happens at the same time happens in that order.
//!
//! # Source
//! Ahuja, Mehlhorn, Orlin, Tarjan: Faster Algorithms for the Shortest Path Problem. JACM 37(2), 1990.

use super::moment::Moment;

const BUCKETS: usize = 65;

/// Items by their time; of one time, the first that was put in comes first.
#[derive(Debug)]
pub(super) struct Agenda<Item> {
    buckets: Vec<Vec<(Moment, Item)>>,
    /// Which buckets have any: bit `b` for bucket `b + 1`.
    filled: u64,
    /// What is left of bucket 0, whose items all have the time `last`: those from here on.
    next: usize,
    last: Moment,
}

impl<Item: Copy> Agenda<Item> {
    pub(super) fn new() -> Self {
        Self {
            buckets: (0..BUCKETS).map(|_| Vec::new()).collect(),
            filled: 0,
            next: 0,
            last: Moment::START,
        }
    }

    /// Puts an item in. Cost: constant.
    #[inline]
    pub(super) fn put(&mut self, at: Moment, item: Item) {
        debug_assert!(at >= self.last, "nothing happens in the past");
        let bucket = bucket(at, self.last);
        self.buckets[bucket].push((at, item));
        if bucket > 0 {
            self.filled |= 1 << (bucket - 1);
        }
    }

    /// Takes the first item out. Cost: constant, on average over all items.
    #[inline]
    pub(super) fn take(&mut self) -> Option<(Moment, Item)> {
        if self.next == self.buckets[0].len() && !self.refill() {
            return None;
        }
        let item = self.buckets[0][self.next];
        self.next += 1;
        Some(item)
    }

    /// Moves the items of the lowest bucket that has any to those below it. False where there is none.
    fn refill(&mut self) -> bool {
        self.buckets[0].clear();
        self.next = 0;
        if self.filled == 0 {
            return false;
        }
        let lowest = self.filled.trailing_zeros() as usize + 1;
        self.filled &= self.filled - 1;
        let mut items = std::mem::take(&mut self.buckets[lowest]);
        let first = items.iter().map(|&(at, _)| at).min();
        self.last = first.expect("a bucket that is marked has items");
        for (at, item) in items.drain(..) {
            self.put(at, item);
        }
        // Its memory stays where it was grown.
        self.buckets[lowest] = items;
        true
    }
}

fn bucket(at: Moment, last: Moment) -> usize {
    (u64::BITS - (at.picoseconds() ^ last.picoseconds()).leading_zeros()) as usize
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
            let mut agenda = Agenda::new();
            let mut heap = BinaryHeap::new();
            let mut now = 0;
            for (number, (what, ahead)) in steps.into_iter().enumerate() {
                if what > 0 {
                    agenda.put(Moment::from_picoseconds(now + ahead), number);
                    heap.push(Reverse((now + ahead, number)));
                } else {
                    let expected = heap.pop().map(|Reverse((at, number))| (Moment::from_picoseconds(at), number));
                    prop_assert_eq!(agenda.take(), expected);
                    now = expected.map_or(now, |(at, _)| at.picoseconds());
                }
            }
            while let Some(Reverse((at, number))) = heap.pop() {
                prop_assert_eq!(agenda.take(), Some((Moment::from_picoseconds(at), number)));
            }
            prop_assert_eq!(agenda.take(), None);
        }
    }
}
