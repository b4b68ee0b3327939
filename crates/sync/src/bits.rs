//! A fixed-size set of small numbers that threads share, with one bit per number.

use std::any::Any;
use std::ptr::NonNull;
use std::sync::Arc;

use crate::placed::Placed;
use crate::prim::{AtomicU64, Relaxed};

const BITS: usize = u64::BITS as usize;

/// A shared set of numbers below its capacity.
///
/// Every operation accesses one word of bits, except [`take_any`](Self::take_any) and
/// [`is_empty`](Self::is_empty). These two read the words up to that of the largest number that was
/// ever in the set. A clone refers to the same set.
#[derive(Clone, Debug)]
pub struct AtomicBits {
    /// The first word counts the words of bits that were ever used. The words of bits follow.
    words: Placed<AtomicU64>,
}

impl AtomicBits {
    /// Creates an empty set of numbers below `capacity`.
    pub fn new(capacity: usize) -> Self {
        let words = (0..=words_of(capacity)).map(|_| AtomicU64::new(0));
        Self {
            words: Placed::new(words),
        }
    }

    /// Returns the size in bytes of a set of numbers below `capacity` in memory that processes
    /// share.
    pub(crate) const fn bytes(capacity: usize) -> usize {
        (1 + words_of(capacity)) * size_of::<AtomicU64>()
    }

    /// Uses the set of numbers below `capacity` that is stored at `address`. Zeros are the empty
    /// set.
    ///
    /// # Safety
    /// The [`bytes`](Self::bytes) from `address` on contain zeros or such a set, are aligned for
    /// words, and live as long as `memory`. All users access them only as such a set.
    pub(crate) unsafe fn attach(
        address: NonNull<u8>,
        capacity: usize,
        memory: Arc<dyn Any + Send + Sync>,
    ) -> Self {
        // SAFETY: by the contract of this function.
        let words = unsafe { Placed::attach(address, 1 + words_of(capacity), memory) };
        Self { words }
    }

    /// Returns the word that contains the bit of `number`.
    #[inline]
    fn word(&self, number: usize) -> &AtomicU64 {
        &self.words[1 + number / BITS]
    }

    /// Returns the words of bits that were ever used.
    #[inline]
    fn used(&self) -> &[AtomicU64] {
        // Relaxed: raised before the first bit is set in a word, so a fence that orders the bit
        // orders this count too.
        let used = self.words[0].load(Relaxed) as usize;
        let words = &self.words[1..];
        // Another process may have written a wrong count.
        &words[..used.min(words.len())]
    }

    /// Adds `number`. Returns true if the set did not contain it.
    #[inline]
    pub fn insert(&self, number: usize) -> bool {
        let used = number / BITS + 1;
        // Relaxed: the count only grows.
        if self.words[0].load(Relaxed) < used as u64 {
            // Relaxed: as in `used`.
            self.words[0].fetch_max(used as u64, Relaxed);
        }
        let bit = 1 << (number % BITS);
        // Relaxed: a bit publishes no other memory; callers that need an order use a SeqCst fence.
        self.word(number).fetch_or(bit, Relaxed) & bit == 0
    }

    /// Removes `number`. Returns true for the one caller that removed it.
    #[inline]
    pub fn remove(&self, number: usize) -> bool {
        let bit = 1 << (number % BITS);
        // Relaxed: as in `insert`.
        self.word(number).fetch_and(!bit, Relaxed) & bit != 0
    }

    /// Removes and returns some number. Searches from `start` upwards and wraps around.
    pub fn take_any(&self, start: usize) -> Option<usize> {
        let words = self.used();
        let count = words.len();
        if count == 0 {
            return None;
        }
        // A start behind all used words wraps to the first word.
        let (first, low) = match start / BITS {
            first if first < count => (first, (1_u64 << (start % BITS)) - 1),
            _ => (0, 0),
        };
        for step in 0..=count {
            let index = (first + step) % count;
            // The word of `start` is visited twice: first its upper bits, at the end its lower
            // bits.
            let skip = if step == 0 { low } else { 0 };
            // Relaxed: a guess; `remove` decides.
            let mut word = words[index].load(Relaxed) & !skip;
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

    /// Returns true if the set was empty at some moment during the call.
    #[inline]
    pub fn is_empty(&self) -> bool {
        // Relaxed: callers that rely on the answer execute a SeqCst fence first.
        self.used().iter().all(|word| word.load(Relaxed) == 0)
    }

    /// Returns the number of numbers in the set: an estimate while others change it.
    pub fn len(&self) -> usize {
        // Relaxed: an estimate.
        let ones = self
            .used()
            .iter()
            .map(|word| word.load(Relaxed).count_ones());
        ones.sum::<u32>() as usize
    }

    /// Returns true if the set contained `number`.
    #[inline]
    pub fn contains(&self, number: usize) -> bool {
        // Relaxed: only the thread that inserted the number relies on the answer "still there".
        self.word(number).load(Relaxed) & (1 << (number % BITS)) != 0
    }
}

/// Returns the number of words of bits for a set of numbers below `capacity`.
const fn words_of(capacity: usize) -> usize {
    let words = capacity.div_ceil(BITS);
    if words == 0 { 1 } else { words }
}

#[cfg(all(test, not(any(loom, shuttle))))]
mod tests {
    use super::*;

    #[test]
    fn take_any_wraps_around_from_the_start() {
        let bits = AtomicBits::new(130);
        for number in [3, 64, 129] {
            assert!(bits.insert(number));
            assert!(!bits.insert(number));
        }
        assert_eq!(bits.len(), 3);
        assert_eq!(bits.take_any(65), Some(129));
        assert_eq!(bits.take_any(65), Some(3));
        assert_eq!(bits.take_any(65), Some(64));
        assert_eq!(bits.take_any(65), None);
        assert!(bits.is_empty());
    }

    #[test]
    fn unused_words_are_skipped_and_no_number_is_missed() {
        let bits = AtomicBits::new(1_000);
        assert!(bits.is_empty());
        assert_eq!(bits.take_any(999), None);
        assert!(!bits.contains(999) && !bits.remove(999));
        assert!(bits.insert(5));
        assert_eq!(bits.used().len(), 1);
        assert_eq!(bits.take_any(999), Some(5));
        assert!(bits.insert(999));
        assert_eq!(bits.used().len(), 16);
        assert!(!bits.is_empty() && bits.contains(999));
        assert_eq!(bits.take_any(0), Some(999));
        assert!(bits.is_empty());
    }
}
