//! A pointer and a number that change in one step.
//!
//! On x86-64 a `cmpxchg16b`, on AArch64 a `casp` or an `ldaxp`/`stlxp` pair; a lock where the processor has neither. In a model, where
//! atomics have one word, every pair that occurs gets a number, and the word holds that.

use std::ptr;

/// A pointer and a number.
#[derive(Debug)]
pub struct Pair<T> {
    /// The pointer; may be null.
    pub pointer: *mut T,
    /// The number, for instance of changes so far.
    pub number: u64,
}

impl<T> Clone for Pair<T> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<T> Copy for Pair<T> {}

impl<T> Pair<T> {
    /// The null pointer and zero.
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

    /// A pair that threads share.
    #[derive(Debug)]
    pub struct AtomicPair<T> {
        word: AtomicU128,
        pointee: PhantomData<*mut T>,
    }

    // SAFETY: a pointer that is only handed out; what is behind it is its users' affair.
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
        /// The null pointer and zero.
        pub const fn null() -> Self {
            Self {
                word: AtomicU128::new(0),
                pointee: PhantomData,
            }
        }

        /// Both halves, as they were at one moment.
        #[inline]
        pub fn load(&self, order: Ordering) -> Pair<T> {
            unpack(self.word.load(order))
        }

        /// Replaces `current` by `new`.
        ///
        /// # Errors
        /// With what was there instead, and nothing changed.
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

    /// A pair that threads share: the number of one of `pairs`.
    #[derive(Debug)]
    pub struct AtomicPair<T> {
        word: AtomicUsize,
        /// Nothing happens in a model while a thread has this lock.
        pairs: Mutex<Vec<Pair<T>>>,
    }

    // SAFETY: a pointer that is only handed out; what is behind it is its users' affair.
    unsafe impl<T> Send for AtomicPair<T> {}
    // SAFETY: as above.
    unsafe impl<T> Sync for AtomicPair<T> {}

    impl<T> AtomicPair<T> {
        /// The null pointer and zero.
        pub fn null() -> Self {
            Self {
                word: AtomicUsize::new(0),
                pairs: Mutex::new(vec![Pair::null()]),
            }
        }

        /// Both halves, as they were at one moment.
        pub fn load(&self, order: Ordering) -> Pair<T> {
            self.pair(self.word.load(order))
        }

        /// Replaces `current` by `new`.
        ///
        /// # Errors
        /// With what was there instead, and nothing changed.
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
