//! The word of a FIFO and all of its transitions. The header of [`fifo`](super) documents the
//! layout.

use super::{Access, Standing};

/// The number of bits of one counter.
const BITS: u32 = 20;
const MASK: u64 = (1 << BITS) - 1;
/// Half the range of a counter. A counter that is less than this ahead of another one is later.
const HALF: u32 = 1 << (BITS - 1);
const BARRIER: u32 = BITS;
const RELEASED: u32 = 2 * BITS;

/// The largest number of requests that may be in one FIFO at a time.
pub const REQUEST_COUNT_MAX: usize = HALF as usize - 1;

/// A value of the word of a FIFO.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Word(u64);

impl From<u64> for Word {
    #[inline]
    fn from(bits: u64) -> Self {
        Self(bits)
    }
}

impl From<Word> for u64 {
    #[inline]
    fn from(word: Word) -> Self {
        word.0
    }
}

impl Word {
    pub(super) const SLEEPERS: u64 = 1 << 60;
    pub(super) const STOPPED: u64 = 1 << 61;

    /// Creates a word of three counters, without flags.
    #[cfg(all(test, not(any(loom, shuttle))))]
    pub(super) fn of(tail: u32, barrier: u32, released: u32) -> Self {
        Self(0)
            .set(0, tail)
            .set(BARRIER, barrier)
            .set(RELEASED, released)
    }

    #[inline]
    fn counter(self, shift: u32) -> u32 {
        ((self.0 >> shift) & MASK) as u32
    }

    #[inline]
    fn set(self, shift: u32, count: u32) -> Self {
        Self(self.0 & !(MASK << shift) | (u64::from(count) & MASK) << shift)
    }

    #[inline]
    fn tail(self) -> u32 {
        self.counter(0)
    }

    #[inline]
    fn barrier(self) -> u32 {
        self.counter(BARRIER)
    }

    #[inline]
    pub(super) fn released(self) -> u32 {
        self.counter(RELEASED)
    }

    #[inline]
    pub(super) fn has_sleepers(self) -> bool {
        self.0 & Self::SLEEPERS != 0
    }

    #[inline]
    pub(super) fn is_stopped(self) -> bool {
        self.0 & Self::STOPPED != 0
    }

    pub(super) fn request_count(self) -> usize {
        distance(self.released(), self.tail()) as usize
    }

    /// Returns the state of a request with this threshold.
    #[inline]
    pub(super) fn standing(self, threshold: u32) -> Standing {
        if distance(threshold, self.released()) < HALF {
            Standing::Granted
        } else if self.is_stopped() {
            Standing::Stopped
        } else {
            Standing::Waiting
        }
    }

    /// Adds a request. Returns the new word and the threshold of the request.
    #[inline]
    pub(super) fn with_request(self, access: Access) -> (Self, u32) {
        let tail = self.tail();
        assert!(
            self.request_count() < REQUEST_COUNT_MAX,
            "a location has capacity for {REQUEST_COUNT_MAX} requests at a time"
        );
        let longer = self.set(0, tail.wrapping_add(1));
        match access {
            Access::Read => (longer, self.barrier()),
            // Every later request waits for this writer.
            Access::Write => (longer.set(BARRIER, tail.wrapping_add(1)), tail),
        }
    }

    /// Returns true if there is no writer, granted or waiting. All requests are then granted
    /// readers.
    #[inline]
    pub(super) fn has_no_writer(self) -> bool {
        self.barrier() == self.released()
    }

    /// Removes a granted request. A reader without a writer behind it leaves no trace in the word.
    #[inline]
    pub(super) fn with_release(self) -> Self {
        if self.has_no_writer() {
            self.set(0, self.tail().wrapping_sub(1))
        } else {
            self.set(RELEASED, self.released().wrapping_add(1))
        }
    }

    #[inline]
    pub(super) fn with_sleepers(self) -> Self {
        Self(self.0 | Self::SLEEPERS)
    }

    /// Checks that a request with this threshold is granted.
    ///
    /// # Panics
    /// If a request with this threshold is not granted.
    #[inline]
    pub(super) fn assert_granted(self, threshold: u32) {
        assert!(
            self.standing(threshold) == Standing::Granted,
            "a request was released before it was granted"
        );
    }
}

/// Returns by how much `to` is ahead of `from`, modulo 2²⁰.
#[inline]
fn distance(from: u32, to: u32) -> u32 {
    to.wrapping_sub(from) & MASK as u32
}
