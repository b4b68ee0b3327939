//! The places of the long parts of messages. Only the sender knows them.
//!
//! Parts are placed one behind the other, and start over at the beginning when they reach the end.
//! Messages are given back in order, so the occupied bytes reach from the oldest message under way
//! to the place of the next one.
//!
//! While the receiver keeps up, parts also start over after a few of them, because a place that was
//! used a moment ago is already in the caches. This is no advantage for parts that are written past
//! the caches. They go to the place that has not been used for the longest time.

use super::{CLOSE_BYTES, LONG_ALIGN, LONG_BYTES, SLOTS};

#[derive(Debug)]
pub(super) struct Places {
    /// The offset of the part of each message, by slot.
    begins: [usize; SLOTS],
    /// The offset of the next part, if there is space for it.
    at: usize,
    /// The offset from which on the sender checks whether parts may start over.
    look_at: usize,
    /// The end of the last part that was written past the caches.
    cold: usize,
}

impl Places {
    pub(super) const fn new() -> Self {
        Self {
            begins: [0; SLOTS],
            at: 0,
            look_at: CLOSE_BYTES,
            cold: CLOSE_BYTES,
        }
    }

    /// Returns a place for `len` bytes, if there is one. `is_streamed` tells whether they are
    /// streamed; `oldest` is the number of the first message that has not been given back.
    pub(super) fn find(&self, len: usize, is_streamed: bool, oldest: Option<u32>) -> Option<usize> {
        let end = self.at + len.next_multiple_of(LONG_ALIGN);
        let taken_from = oldest.map(|oldest| self.begins[oldest as usize % SLOTS]);
        match taken_from {
            // The occupied bytes wrap around. The next part must end before them and not touch
            // them, so that a full lane differs from an empty one.
            Some(taken_from) if taken_from > self.at => (end < taken_from).then_some(self.at),
            // A streamed part goes behind the last streamed one, if it fits there.
            _ if is_streamed && self.cold > self.at && self.cold + end - self.at <= LONG_BYTES => {
                Some(self.cold)
            }
            // The part fits behind the previous one.
            _ if end <= LONG_BYTES => Some(self.at),
            // It does not fit before the end: start over, if there is space before the occupied
            // bytes.
            _ => (end - self.at < taken_from.unwrap_or(LONG_BYTES + 1)).then_some(0),
        }
    }

    /// Records that the part of message `number` is at `place`.
    pub(super) fn take(&mut self, number: u32, place: usize, len: usize, is_streamed: bool) {
        self.begins[number as usize % SLOTS] = place;
        if place < self.at {
            self.look_at = CLOSE_BYTES;
        }
        self.at = place + len.next_multiple_of(LONG_ALIGN);
        if is_streamed {
            self.cold = self.at;
        }
    }

    /// Returns true if the sender should check whether parts may [start over](Self::start_over).
    pub(super) const fn are_far(&self) -> bool {
        self.at >= self.look_at
    }

    /// Starts over at the beginning if no message is under way. Otherwise schedules the next check
    /// some bytes later.
    pub(super) const fn start_over(&mut self, is_under_way: bool) {
        if is_under_way {
            self.look_at = self.at + CLOSE_BYTES;
        } else {
            self.at = 0;
            self.look_at = CLOSE_BYTES;
        }
    }
}

#[cfg(all(test, not(any(loom, shuttle))))]
mod tests {
    use std::collections::VecDeque;
    use std::ops::Range;

    use proptest::prelude::*;

    use super::super::LONG_MAX;
    use super::*;
    use crate::prim::LIGHT;

    /// The length of a part, chosen so that several parts fit into `CLOSE_BYTES`.
    const LEN: usize = if LIGHT { 40 } else { 3_456 };

    proptest! {
        #[test]
        fn parts_under_way_do_not_overlap(
            steps in prop::collection::vec(
                (
                    0_u8..3,
                    prop_oneof![0..=LONG_MAX, 0..LONG_MAX.min(200), Just(LONG_MAX / 2)],
                    any::<bool>(),
                ),
                1..400,
            ),
        ) {
            let mut places = Places::new();
            let mut under_way: VecDeque<Range<usize>> = VecDeque::new();
            let mut sent = 0_u32;
            for (step, len, is_streamed) in steps {
                let oldest = sent - under_way.len() as u32;
                let oldest = (oldest < sent).then_some(oldest);
                match step {
                    0 => _ = under_way.pop_front(),
                    1 if places.are_far() => places.start_over(oldest.is_some()),
                    _ if under_way.len() == SLOTS => {}
                    _ => {
                        let Some(place) = places.find(len, is_streamed, oldest) else {
                            prop_assert!(oldest.is_some(), "an empty lane has space");
                            continue;
                        };
                        let bytes = place..place + len;
                        prop_assert!(bytes.end <= LONG_BYTES && place.is_multiple_of(LONG_ALIGN));
                        let overlaps = |other: &Range<usize>| {
                            bytes.start < other.end && other.start < bytes.end
                        };
                        prop_assert!(
                            !under_way.iter().any(overlaps),
                            "{bytes:?} overlaps one of {under_way:?}"
                        );
                        places.take(sent, place, len, is_streamed);
                        under_way.push_back(bytes);
                        sent += 1;
                    }
                }
            }
        }
    }

    #[test]
    fn few_bytes_are_used_while_the_receiver_keeps_up() {
        let mut places = Places::new();
        let mut end = 0;
        for number in 0..1_000 {
            if places.are_far() {
                places.start_over(false);
            }
            let place = places
                .find(LEN, false, None)
                .expect("an empty lane has space");
            places.take(number, place, LEN, false);
            end = end.max(place + LEN);
        }
        assert!(end <= CLOSE_BYTES + LEN, "{end}");
    }

    #[test]
    fn streamed_parts_go_where_no_part_was_for_long() {
        let mut places = Places::new();
        let mut streamed = Vec::new();
        // Fewer parts if the memory is small, so that they do not wrap around.
        for number in 0..if LIGHT { 20 } else { 60 } {
            if places.are_far() {
                places.start_over(false);
            }
            let is_streamed = number % 10 == 0;
            let place = places.find(LEN, is_streamed, None);
            let place = place.expect("an empty lane has space");
            places.take(number, place, LEN, is_streamed);
            if is_streamed {
                streamed.push(place);
            }
        }
        assert!(
            streamed.is_sorted_by(|one, next| one + LEN <= *next),
            "{streamed:?}"
        );
        assert!(streamed[0] >= CLOSE_BYTES);
    }
}
