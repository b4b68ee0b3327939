//! A fixed set of small numbers that threads share, one bit each.

use std::any::Any;
use std::ptr::NonNull;
use std::sync::Arc;

use crate::placed::Placed;
use crate::prim::{AtomicU64, Relaxed};

const BITS: usize = u64::BITS as usize;

/// A shared set of numbers below its capacity. Every operation touches one word, except [`take_any`](Self::take_any). A clone is the same set.
#[derive(Clone, Debug)]
pub struct AtomicBits {
    words: Placed<AtomicU64>,
}

impl AtomicBits {
    /// The empty set of numbers below `capacity`.
    pub fn new(capacity: usize) -> Self {
        let words = (0..words_of(capacity)).map(|_| AtomicU64::new(0));
        Self {
            words: Placed::new(words),
        }
    }

    /// The bytes that the set of numbers below `capacity` takes where several processes share it.
    pub(crate) const fn bytes(capacity: usize) -> usize {
        words_of(capacity) * size_of::<AtomicU64>()
    }

    /// The set of numbers below `capacity` that lies at `address`, where zeros are the empty set.
    ///
    /// # Safety
    /// [`bytes`](Self::bytes) from `address` on are zeros or such a set, aligned for words, and live as long as `memory` does; all who use them use
    /// them as such.
    pub(crate) unsafe fn attach(
        address: NonNull<u8>,
        capacity: usize,
        memory: Arc<dyn Any + Send + Sync>,
    ) -> Self {
        // SAFETY: as the caller says.
        let words = unsafe { Placed::attach(address, words_of(capacity), memory) };
        Self { words }
    }

    /// Adds `number`; true when it was not there.
    #[inline]
    pub fn insert(&self, number: usize) -> bool {
        let bit = 1 << (number % BITS);
        // Relaxed: a bit carries nothing but itself; callers that rely on an order put a SeqCst fence.
        self.words[number / BITS].fetch_or(bit, Relaxed) & bit == 0
    }

    /// Removes `number`; true for the one caller that removed it.
    #[inline]
    pub fn remove(&self, number: usize) -> bool {
        let bit = 1 << (number % BITS);
        // Relaxed: as in `insert`.
        self.words[number / BITS].fetch_and(!bit, Relaxed) & bit != 0
    }

    /// Removes some number, looking from `start` upwards and around, and returns it.
    pub fn take_any(&self, start: usize) -> Option<usize> {
        let count = self.words.len();
        let first = start / BITS % count;
        for step in 0..=count {
            let index = (first + step) % count;
            let low = (1_u64 << (start % BITS)) - 1;
            // The word of `start` is visited twice: its upper part first, the rest at the end.
            let skip = if step == 0 { low } else { 0 };
            // Relaxed: a guess; `remove` decides.
            let mut word = self.words[index].load(Relaxed) & !skip;
            while word != 0 {
                let number = index * BITS + word.trailing_zeros() as usize;
                if self.remove(number) {
                    return Some(number);
                }
                word &= word - 1;
            }
        }
        None
    }

    /// True when no bit was set at some moment during the call.
    #[inline]
    pub fn is_empty(&self) -> bool {
        // Relaxed: callers that rely on the answer put a SeqCst fence before it.
        self.words.iter().all(|word| word.load(Relaxed) == 0)
    }

    /// True when `number` was in the set.
    #[inline]
    pub fn contains(&self, number: usize) -> bool {
        // Relaxed: only the answer "still there" is relied upon, by the thread that inserted it.
        self.words[number / BITS].load(Relaxed) & (1 << (number % BITS)) != 0
    }
}

/// The words of a set of numbers below `capacity`.
const fn words_of(capacity: usize) -> usize {
    let words = capacity.div_ceil(BITS);
    if words == 0 { 1 } else { words }
}

#[cfg(all(test, not(any(loom, shuttle))))]
mod tests {
    use super::*;

    #[test]
    fn take_any_goes_round_from_the_start() {
        let bits = AtomicBits::new(130);
        for number in [3, 64, 129] {
            assert!(bits.insert(number));
            assert!(!bits.insert(number));
        }
        assert_eq!(bits.take_any(65), Some(129));
        assert_eq!(bits.take_any(65), Some(3));
        assert_eq!(bits.take_any(65), Some(64));
        assert_eq!(bits.take_any(65), None);
        assert!(bits.is_empty());
    }
}
