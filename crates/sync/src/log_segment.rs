//! A part of a log: one thread appends words, and any thread copies them, also meanwhile. The owner
//! may use the segment again at any time; a copy that was being made then is dropped.
//!
//! # Memory ordering
//! | label | release side                | acquire side                  | what it publishes      |
//! |-------|-----------------------------|-------------------------------|------------------------|
//! | E1    | owner: stores `number`,     | reader: loads `number`,       | the head; the words    |
//! |       | stores `filled`             | loads `filled`                | before                 |
//! | E2    | owner: clears `number`,     | reader: reads words, fence,   | that words are being   |
//! |       | fence, writes words         | loads `number`                | overwritten            |
//!
//! # Invariants
//! 1. Only the owner stores. Segments are passed from one owner to the next by a lock.
//! 2. Uses of a segment that a reader may see have different numbers.
//!
//! # Source
//! E2 is a sequence lock: Boehm: Can seqlocks get along with programming language memory models?
//! MSPC 2012.

use crate::prim::{Acquire, AtomicU64, Relaxed, Release, fence};

/// A part of a log, with space for `WORDS` words.
#[derive(Debug)]
pub struct LogSegment<const WORDS: usize> {
    /// The number of this use, from 1; zero while the segment is not in use.
    number: AtomicU64,
    /// The number of words in use.
    filled: AtomicU64,
    /// A value from the begin of this use.
    begun: AtomicU64,
    _spare: [u64; 5],
    words: [AtomicU64; WORDS],
}

/// A copy of a segment.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LogCopy {
    /// The number of the use of the segment.
    pub number: u64,
    /// The value that its begin gave.
    pub begun: u64,
    /// The words.
    pub words: Vec<u64>,
}

impl<const WORDS: usize> Default for LogSegment<WORDS> {
    fn default() -> Self {
        Self {
            number: AtomicU64::new(0),
            filled: AtomicU64::new(0),
            begun: AtomicU64::new(0),
            _spare: [0; 5],
            words: std::array::from_fn(|_| AtomicU64::new(0)),
        }
    }
}

impl<const WORDS: usize> LogSegment<WORDS> {
    /// Returns the number of words in use, for the owner.
    #[expect(
        clippy::len_without_is_empty,
        reason = "a segment in use is never empty for long"
    )]
    #[inline(always)]
    pub fn len(&self) -> usize {
        // Relaxed: only the owner writes it.
        self.filled.load(Relaxed) as usize
    }

    /// Returns a word, for the owner; zero behind the end.
    pub fn word(&self, at: usize) -> u64 {
        // Relaxed: the owner's own.
        self.words.get(at).map_or(0, |word| word.load(Relaxed))
    }

    /// Appends words, for the owner. Nothing happens if they do not fit behind the first `at`.
    #[inline(always)]
    pub fn append<const N: usize>(&self, at: usize, words: [u64; N]) {
        let Some(places) = self.words.get(at..at + N) else {
            return;
        };
        for (place, word) in places.iter().zip(words) {
            // Relaxed: published by `filled`.
            place.store(word, Relaxed);
        }
        // ORDERING(E1): Release, the words.
        self.filled.store((at + N) as u64, Release);
    }

    /// Empties the segment, for its owner, and gives it a number other than zero.
    pub fn begin(&self, number: u64, begun: u64) {
        self.end();
        // Relaxed: ordered by the fence in `end`.
        self.filled.store(0, Relaxed);
        // Relaxed: published by the number.
        self.begun.store(begun, Relaxed);
        // ORDERING(E1): Release, the head.
        self.number.store(number, Release);
    }

    /// Marks the segment as not in use, for its owner.
    pub fn end(&self) {
        // Relaxed: ordered by the fence.
        self.number.store(0, Relaxed);
        // ORDERING(E2): before the first word is overwritten.
        fence(Release);
    }

    /// Copies the segment. Returns `None` if it is not in use, or is being overwritten.
    pub fn copy(&self) -> Option<LogCopy> {
        // ORDERING(E1): Acquire, the head.
        let number = self.number.load(Acquire);
        if number == 0 {
            return None;
        }
        // ORDERING(E1): Acquire, the words.
        let filled = self.filled.load(Acquire) as usize;
        // Relaxed: ordered by E1 and E2.
        let begun = self.begun.load(Relaxed);
        let words = (0..filled).map(|at| self.word(at)).collect();
        // ORDERING(E2): after the words were read.
        fence(Acquire);
        // Relaxed: ordered by the fence.
        (self.number.load(Relaxed) == number).then_some(LogCopy {
            number,
            begun,
            words,
        })
    }
}

#[cfg(all(test, not(any(loom, shuttle))))]
mod tests {
    use super::*;
    use crate::prim::thread;

    #[test]
    fn a_segment_gives_back_the_words_that_were_appended() {
        let segment = LogSegment::<8>::default();
        assert!(segment.copy().is_none());
        segment.begin(3, 77);
        segment.append(0, [1, 2]);
        segment.append(2, [3]);
        let copied = segment.copy().expect("in use");
        assert_eq!((copied.number, copied.begun), (3, 77));
        assert_eq!(copied.words, [1, 2, 3]);
        segment.append(7, [9, 9]);
        assert_eq!(segment.len(), 3, "words that do not fit are not stored");
        segment.end();
        assert!(segment.copy().is_none());
    }

    #[test]
    fn a_copy_never_mixes_two_uses_of_a_segment() {
        let segment = LogSegment::<64>::default();
        let rounds = if cfg!(miri) { 20 } else { 2_000 };
        thread::scope(|scope| {
            scope.spawn(|| {
                for round in 1..=rounds {
                    segment.begin(round, round);
                    for at in 0..64 {
                        segment.append(at, [round]);
                    }
                }
            });
            loop {
                let Some(copied) = segment.copy() else {
                    continue;
                };
                assert!(copied.words.iter().all(|word| *word == copied.number));
                if copied.number == rounds && copied.words.len() == 64 {
                    return;
                }
            }
        });
    }
}
