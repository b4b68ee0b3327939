//! Where the long parts of messages lie: the sender's book, of which the receiver knows nothing.
//!
//! Parts lie one behind the other, and begin anew at the end. Messages are given back in order, so that what is taken reaches from the oldest one that is under way
//! to where the next one begins. While the receiver keeps up, parts also begin anew after a few: whatever lies where another lay a moment ago is in caches already. Where that is no
//! advantage, because parts are written past the caches, they go where none has been for longest.

use super::{CLOSE_BYTES, LONG_ALIGN, LONG_BYTES, SLOTS};

#[derive(Debug)]
pub(super) struct Places {
    /// Where the part of each message begins, by its slot.
    begins: [usize; SLOTS],
    /// Where the next part begins, if there is room.
    at: usize,
    /// From where on it is looked whether parts may begin anew.
    look_at: usize,
    /// Where the last part ended that went past the caches.
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

    /// A place for so many bytes, which are streamed or not; `oldest` is the number of the first message that has not been given back.
    pub(super) fn find(&self, len: usize, is_streamed: bool, oldest: Option<u32>) -> Option<usize> {
        let end = self.at + len.next_multiple_of(LONG_ALIGN);
        let taken_from = oldest.map(|oldest| self.begins[oldest as usize % SLOTS]);
        match taken_from {
            // What is taken lies behind: it never comes up to itself, so that it is seen to be something.
            Some(taken_from) if taken_from > self.at => (end < taken_from).then_some(self.at),
            _ if is_streamed && self.cold > self.at && self.cold + end - self.at <= LONG_BYTES => {
                Some(self.cold)
            }
            _ if end <= LONG_BYTES => Some(self.at),
            _ => (end - self.at < taken_from.unwrap_or(LONG_BYTES + 1)).then_some(0),
        }
    }

    /// Message `number` has its part at `place`.
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

    /// True when it is to be looked whether parts may [begin anew](Self::begin_anew).
    pub(super) const fn are_far(&self) -> bool {
        self.at >= self.look_at
    }

    /// Nothing is under way: the next part begins where the first did. With something under way, that is looked at again some bytes later.
    pub(super) const fn begin_anew(&mut self, is_under_way: bool) {
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

    /// The bytes of a part of which several lie within `CLOSE_BYTES`.
    const LEN: usize = if LIGHT { 40 } else { 3_456 };

    proptest! {
        #[test]
        fn parts_under_way_lie_apart(
            steps in prop::collection::vec(
                (0_u8..3, prop_oneof![0..=LONG_MAX, 0..LONG_MAX.min(200), Just(LONG_MAX / 2)], any::<bool>()),
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
                    1 if places.are_far() => places.begin_anew(oldest.is_some()),
                    _ if under_way.len() == SLOTS => {}
                    _ => {
                        let Some(place) = places.find(len, is_streamed, oldest) else {
                            prop_assert!(oldest.is_some(), "an empty lane has room");
                            continue;
                        };
                        let bytes = place..place + len;
                        prop_assert!(bytes.end <= LONG_BYTES && place.is_multiple_of(LONG_ALIGN));
                        let meets = |other: &Range<usize>| bytes.start < other.end && other.start < bytes.end;
                        prop_assert!(!under_way.iter().any(meets), "{bytes:?} meets one of {under_way:?}");
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
                places.begin_anew(false);
            }
            let place = places
                .find(LEN, false, None)
                .expect("an empty lane has room");
            places.take(number, place, LEN, false);
            end = end.max(place + LEN);
        }
        assert!(end <= CLOSE_BYTES + LEN, "{end}");
    }

    #[test]
    fn streamed_parts_among_others_go_where_none_was_for_long() {
        let mut places = Places::new();
        let mut streamed = Vec::new();
        // Fewer where the memory is small, so that they do not come round.
        for number in 0..if LIGHT { 20 } else { 60 } {
            if places.are_far() {
                places.begin_anew(false);
            }
            let is_streamed = number % 10 == 0;
            let place = places.find(LEN, is_streamed, None);
            let place = place.expect("an empty lane has room");
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
