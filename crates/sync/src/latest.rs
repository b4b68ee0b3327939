//! A few words that change rarely, of which every thread reads the latest state without a lock.
//!
//! A reader writes no shared memory. While the words are being replaced, a reader gets nothing
//! instead of waiting, and so does a second writer. A process that was forked in that moment never
//! gets the words, but never waits either.
//!
//! # Memory ordering
//! | label | release side | acquire side | what it publishes |
//! |---|---|---|---|
//! | Y1 | `update` stores the even version | `read` loads the version | the words of that version |
//! | Y2 | `update`: fence after the odd version | `read`: fence before the check | odd version |
//!
//! # Invariants
//! 1. The version is odd while a writer replaces the words. Only the thread that made it odd stores
//!    the words, and makes it even again.
//! 2. A reader returns words only if the version was even, and the same before and after.
//!
//! # Source
//! H.-J. Boehm: Can seqlocks get along with programming language memory models? MSPC 2012,
//! figure 6.

use crate::prim::{Acquire, AtomicU64, Relaxed, Release, fence};

/// `N` words that are read together and replaced together.
///
/// # Examples
/// ```
/// use raddle_sync::latest::Latest;
/// let range = Latest::<2>::zeros();
/// assert!(range.update(|[start, end]| [start + 5, end + 10]));
/// assert_eq!(range.read(), Some([5, 10]));
/// ```
#[derive(Debug)]
pub struct Latest<const N: usize> {
    version: AtomicU64,
    words: [AtomicU64; N],
}

impl<const N: usize> Latest<N> {
    /// Creates the cell. All words are zero at first.
    #[cfg(not(loom))]
    #[must_use]
    pub const fn zeros() -> Self {
        Self {
            version: AtomicU64::new(0),
            words: [const { AtomicU64::new(0) }; N],
        }
    }

    /// Creates the cell. All words are zero at first.
    #[cfg(loom)]
    #[must_use]
    pub fn zeros() -> Self {
        Self {
            version: AtomicU64::new(0),
            words: std::array::from_fn(|_| AtomicU64::new(0)),
        }
    }

    /// Returns the words, or `None` while another thread replaces them. Costs a load and a
    /// comparison more than the words themselves.
    #[inline]
    pub fn read(&self) -> Option<[u64; N]> {
        let (version, words) = self.load();
        // ORDERING(Y2): Acquire: if a word is newer than the version, so is the check.
        fence(Acquire);
        // Relaxed: the fence above orders this load.
        (is_complete(version) && self.version.load(Relaxed) == version).then_some(words)
    }

    /// Replaces the words with those that `next` makes of them. Returns false if another thread
    /// replaces them at the same time; the result of `next` is then lost.
    pub fn update(&self, next: impl FnOnce([u64; N]) -> [u64; N]) -> bool {
        let (version, words) = self.load();
        if !is_complete(version) {
            return false;
        }
        let next = next(words);
        // Relaxed: no writer has changed the words since they were loaded, so they belong together.
        let begun = self
            .version
            .compare_exchange(version, version + 1, Relaxed, Relaxed);
        if begun.is_err() {
            return false;
        }
        // ORDERING(Y2): Release: a thread that loads one of the words below sees the odd version.
        fence(Release);
        for (word, next) in self.words.iter().zip(next) {
            // Relaxed: the fence above and the store below order this store.
            word.store(next, Relaxed);
        }
        // ORDERING(Y1): Release: the words.
        self.version.store(version + 2, Release);
        true
    }

    /// Returns the version, and words that are at least as new.
    #[inline]
    fn load(&self) -> (u64, [u64; N]) {
        // ORDERING(Y1): Acquire: the words of this version.
        let version = self.version.load(Acquire);
        // Relaxed: the caller checks whether the words belong together.
        let words = std::array::from_fn(|index| self.words[index].load(Relaxed));
        (version, words)
    }
}

/// Returns true if no writer was replacing the words of this version.
const fn is_complete(version: u64) -> bool {
    version.is_multiple_of(2)
}
