//! The buffer of one thread: segments of a fixed size, of which the oldest is used again when no
//! more may be allocated.
//!
//! Its thread writes; any thread reads, also during the writing. A reader copies a segment, and
//! drops the copy if the owner began to overwrite the segment meanwhile.
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
//! 1. Only the thread that has a segment stores into it.
//! 2. Segments are never freed: another recording uses them again.
//! # Source
//! E2 is a sequence lock: Boehm: Can seqlocks get along with programming language memory models?
//! MSPC 2012.

use raddle_sync::prim::{Acquire, AtomicU64, Mutex, Relaxed, Release, fence};

use super::head::{kind_of, len_of};
use crate::record::kind::Kind;

/// The size of a segment in words. With its head, a segment takes 64 KiB.
pub(crate) const SEGMENT_WORDS: usize = (1 << 13) - 8;

/// The bytes of a segment.
pub(crate) const SEGMENT_BYTES: usize = size_of::<Segment>();

/// A part of a buffer.
#[derive(Debug)]
pub(crate) struct Segment {
    /// The number of this segment in its buffer, from 1; zero while it is not in use.
    number: AtomicU64,
    /// The number of words in use.
    filled: AtomicU64,
    /// The counter when the segment was begun.
    begun: AtomicU64,
    _spare: [u64; 5],
    words: [AtomicU64; SEGMENT_WORDS],
}

/// A copy of a segment.
#[derive(Debug)]
pub(crate) struct Copied {
    pub(crate) number: u64,
    pub(crate) begun: u64,
    pub(crate) words: Vec<u64>,
}

impl Segment {
    /// Returns the number of words in use, for the owner.
    #[inline(always)]
    pub(crate) fn len(&self) -> usize {
        // Relaxed: only the owner writes it.
        self.filled.load(Relaxed) as usize
    }

    /// Appends words, for the owner. Nothing happens if they do not fit behind the first `at`.
    #[inline(always)]
    pub(crate) fn append<const N: usize>(&self, at: usize, words: [u64; N]) {
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

    /// Empties the segment, for its owner, and gives it a number.
    pub(crate) fn begin(&self, number: u64, ticks: u64) {
        // Relaxed: ordered by the fence.
        self.number.store(0, Relaxed);
        // ORDERING(E2): before the first word is overwritten.
        fence(Release);
        // Relaxed: ordered by the fence.
        self.filled.store(0, Relaxed);
        // Relaxed: published by the number.
        self.begun.store(ticks, Relaxed);
        // ORDERING(E1): Release, the head.
        self.number.store(number, Release);
    }

    /// Marks the segment as not in use.
    fn end(&self) {
        // Relaxed: as in `begin`.
        self.number.store(0, Relaxed);
        // ORDERING(E2): as in `begin`.
        fence(Release);
    }

    /// Returns the words in use, for the owner.
    pub(crate) fn words_so_far(&self) -> Vec<u64> {
        let words = self.words.iter().take(self.len());
        // Relaxed: the owner's own.
        words.map(|word| word.load(Relaxed)).collect()
    }

    /// Returns the number of records of a kind, for the owner. Takes about 5 us for a full segment.
    pub(crate) fn count(&self, kind: Kind) -> u64 {
        let (mut at, mut count) = (0, 0);
        while at < self.len() {
            // Relaxed: the owner's own.
            let head = self.words[at].load(Relaxed);
            count += u64::from(kind_of(head) == kind as u64);
            at += 1 + len_of(head);
        }
        count
    }

    /// Copies the segment. Returns `None` if it is not in use, or is being overwritten.
    pub(crate) fn copy(&self) -> Option<Copied> {
        // ORDERING(E1): Acquire, the head.
        let number = self.number.load(Acquire);
        if number == 0 {
            return None;
        }
        // ORDERING(E1): Acquire, the words.
        let filled = self.filled.load(Acquire) as usize;
        // Relaxed: ordered by E1 and E2.
        let begun = self.begun.load(Relaxed);
        let words = self.words.iter().take(filled);
        let words = words.map(|word| word.load(Relaxed)).collect();
        // ORDERING(E2): after the words were read.
        fence(Acquire);
        (self.number.load(Relaxed) == number).then_some(Copied {
            number,
            begun,
            words,
        })
    }
}

/// The segments of all recordings.
#[derive(Debug)]
pub(crate) struct Store {
    free: Vec<&'static Segment>,
    /// The number of segments that may still be handed out in this recording.
    left: usize,
}

static STORE: Mutex<Store> = Mutex::new(Store {
    free: Vec::new(),
    left: 0,
});

/// Limits the segments of the recording that begins.
pub(crate) fn set_limit(segments: usize) {
    store().left = segments;
}

/// Takes a segment, if the limit allows it or `is_first`.
pub(crate) fn take(is_first: bool) -> Option<&'static Segment> {
    let mut store = store();
    if store.left == 0 && !is_first {
        return None;
    }
    store.left = store.left.saturating_sub(1);
    let free = store.free.pop();
    drop(store);
    Some(free.unwrap_or_else(allocate))
}

/// Returns the segments of a recording that is over.
pub(crate) fn give_back(segments: impl IntoIterator<Item = &'static Segment>) {
    let mut store = store();
    for segment in segments {
        segment.end();
        store.free.push(segment);
    }
}

fn allocate() -> &'static Segment {
    let words = Box::new(Segment {
        number: AtomicU64::new(0),
        filled: AtomicU64::new(0),
        begun: AtomicU64::new(0),
        _spare: [0; 5],
        words: [const { AtomicU64::new(0) }; SEGMENT_WORDS],
    });
    Box::leak(words)
}

fn store() -> impl std::ops::DerefMut<Target = Store> {
    STORE.lock().expect("nothing panics under this lock")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_segment_gives_back_the_words_that_were_appended() {
        let segment = allocate();
        assert!(segment.copy().is_none());
        segment.begin(3, 77);
        segment.append(0, [1, 2]);
        segment.append(2, [3]);
        let copied = segment.copy().expect("in use");
        assert_eq!((copied.number, copied.begun), (3, 77));
        assert_eq!(copied.words, [1, 2, 3]);
        segment.append(SEGMENT_WORDS - 1, [9, 9]);
        assert_eq!(segment.len(), 3, "words that do not fit are not stored");
    }

    #[test]
    fn a_copy_never_mixes_two_uses_of_a_segment() {
        let segment = allocate();
        let rounds = 2_000;
        std::thread::scope(|scope| {
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
