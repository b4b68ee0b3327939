//! A pointer and a number that change together in one step.
//!
//! On x86-64 this is a `cmpxchg16b`, on AArch64 a `casp` or an `ldaxp`/`stlxp` pair, and a lock if
//! the processor has neither. In a model, atomics have only one word. There, every pair that occurs
//! gets an index, and the word contains that index.

use std::ptr;

/// A pointer and a number.
#[derive(Debug)]
pub struct Pair<T> {
    /// The pointer; may be null.
    pub pointer: *mut T,
    /// The number, for example the number of changes so far.
    pub number: u64,
}

impl<T> Clone for Pair<T> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<T> Copy for Pair<T> {}

impl<T> Pair<T> {
    /// Returns the null pointer and zero.
    pub const fn null() -> Self {
        Self {
            pointer: ptr::null_mut(),
            number: 0,
        }
    }
}

pub use side::AtomicPair;

#[cfg(not(any(loom, shuttle)))]
mod side {
    use std::marker::PhantomData;
    use std::ptr;

    use portable_atomic::AtomicU128;

    use super::Pair;
    use crate::prim::Ordering;

    /// An atomic pair.
    #[derive(Debug)]
    pub struct AtomicPair<T> {
        word: AtomicU128,
        pointee: PhantomData<*mut T>,
    }

    // SAFETY: the pair only hands out the pointer; its users are responsible for the target.
    unsafe impl<T> Send for AtomicPair<T> {}
    // SAFETY: as above.
    unsafe impl<T> Sync for AtomicPair<T> {}

    fn pack<T>(pair: Pair<T>) -> u128 {
        u128::from(pair.number) << 64 | pair.pointer.expose_provenance() as u128
    }

    fn unpack<T>(word: u128) -> Pair<T> {
        Pair {
            pointer: ptr::with_exposed_provenance_mut(word as usize),
            number: (word >> 64) as u64,
        }
    }

    impl<T> AtomicPair<T> {
        /// Creates the pair of the null pointer and zero.
        pub const fn null() -> Self {
            Self {
                word: AtomicU128::new(0),
                pointee: PhantomData,
            }
        }

        /// Returns both halves as of the same moment.
        #[inline]
        pub fn load(&self, order: Ordering) -> Pair<T> {
            unpack(self.word.load(order))
        }

        /// Replaces `current` by `new`.
        ///
        /// # Errors
        /// Returns the pair that was found instead of `current`. Nothing has changed then.
        #[inline]
        pub fn compare_exchange(
            &self,
            current: Pair<T>,
            new: Pair<T>,
            success: Ordering,
            failure: Ordering,
        ) -> Result<(), Pair<T>> {
            self.word
                .compare_exchange(pack(current), pack(new), success, failure)
                .map(drop)
                .map_err(unpack)
        }
    }
}

#[cfg(any(loom, shuttle))]
mod side {
    use std::sync::Mutex;

    use super::Pair;
    use crate::prim::{AtomicUsize, Ordering};

    /// An atomic pair, stored as an index into `pairs`.
    #[derive(Debug)]
    pub struct AtomicPair<T> {
        word: AtomicUsize,
        /// The pairs that have occurred. A model cannot switch threads while this lock is held.
        pairs: Mutex<Vec<Pair<T>>>,
    }

    // SAFETY: the pair only hands out the pointer; its users are responsible for the target.
    unsafe impl<T> Send for AtomicPair<T> {}
    // SAFETY: as above.
    unsafe impl<T> Sync for AtomicPair<T> {}

    impl<T> AtomicPair<T> {
        /// Creates the pair of the null pointer and zero.
        pub fn null() -> Self {
            Self {
                word: AtomicUsize::new(0),
                pairs: Mutex::new(vec![Pair::null()]),
            }
        }

        /// Returns both halves as of the same moment.
        pub fn load(&self, order: Ordering) -> Pair<T> {
            self.pair(self.word.load(order))
        }

        /// Replaces `current` by `new`.
        ///
        /// # Errors
        /// Returns the pair that was found instead of `current`. Nothing has changed then.
        pub fn compare_exchange(
            &self,
            current: Pair<T>,
            new: Pair<T>,
            success: Ordering,
            failure: Ordering,
        ) -> Result<(), Pair<T>> {
            let (current, new) = (self.index(current), self.index(new));
            self.word
                .compare_exchange(current, new, success, failure)
                .map(drop)
                .map_err(|seen| self.pair(seen))
        }

        fn pair(&self, index: usize) -> Pair<T> {
            self.pairs.lock().expect("nothing panics under this lock")[index]
        }

        fn index(&self, pair: Pair<T>) -> usize {
            let mut pairs = self.pairs.lock().expect("nothing panics under this lock");
            let same =
                |other: &Pair<T>| other.pointer == pair.pointer && other.number == pair.number;
            pairs.iter().position(same).unwrap_or_else(|| {
                pairs.push(pair);
                pairs.len() - 1
            })
        }
    }
}
