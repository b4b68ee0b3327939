//! Parallel loops over the elements, whatever chunks they lie in.
//!
//! A loop can be split between any two elements: one part of the loop can cover many small chunks,
//! and one large chunk can be split into many parts.

use raddle_runtime::{Piece, for_each_piece};

use super::ChunkedArray;
use super::iter::Split;

/// The maximum number of blocks into which a reduction is cut, the same as in
/// [`raddle_runtime::map_reduce`].
const BLOCK_COUNT: usize = 1024;

impl<T> ChunkedArray<T> {
    /// Creates an array of `chunk_count` chunks, each returned by a call of `make` with its number.
    ///
    /// The calls run in parallel on the workers that are free.
    ///
    /// # Panics
    /// Propagates the panic of one of the calls.
    ///
    /// # Examples
    /// ```
    /// use raddle_collections::ChunkedArray;
    /// let array = ChunkedArray::build(4, |chunk| vec![chunk; chunk]);
    /// assert_eq!(array, [1, 2, 2, 3, 3, 3]);
    /// ```
    #[must_use]
    pub fn build(chunk_count: usize, make: impl Fn(usize) -> Vec<T> + Sync) -> Self
    where
        T: Send,
    {
        Self::from_chunks(raddle_runtime::map(0..chunk_count, make))
    }

    /// Calls `body` with the global index and a reference to every element.
    ///
    /// The calls run in parallel on the workers that are free.
    ///
    /// # Panics
    /// Propagates the panic of one of the calls. Elements for which the call has not begun are
    /// skipped.
    ///
    /// # Examples
    /// ```
    /// use std::sync::atomic::{AtomicUsize, Ordering};
    /// use raddle_collections::ChunkedArray;
    ///
    /// let array = ChunkedArray::from_chunks([vec![5], vec![4, 3]]);
    /// let sum = AtomicUsize::new(0);
    /// array.for_each(|index, element| {
    ///     sum.fetch_add(index * element, Ordering::Relaxed);
    /// });
    /// assert_eq!(sum.into_inner(), 1 * 4 + 2 * 3);
    /// ```
    pub fn for_each(&self, body: impl Fn(usize, &T) + Sync)
    where
        T: Sync,
    {
        each(self.iter(), body);
    }

    /// Calls `body` with the global index and a mutable reference to every element, in parallel.
    ///
    /// # Panics
    /// In the same cases as [`for_each`](Self::for_each).
    ///
    /// # Examples
    /// ```
    /// use raddle_collections::ChunkedArray;
    /// let mut array = ChunkedArray::from_chunks([vec![0; 2], vec![0; 3]]);
    /// array.for_each_mut(|index, element| *element = index * index);
    /// assert_eq!(array, [0, 1, 4, 9, 16]);
    /// ```
    pub fn for_each_mut(&mut self, body: impl Fn(usize, &mut T) + Sync)
    where
        T: Send,
    {
        each(self.iter_mut(), body);
    }

    /// Calls `body` with the global index of every element and the element, and returns the
    /// results.
    ///
    /// The result has chunks of the same lengths as this array. Costs as much as
    /// [`raddle_runtime::map`], plus one allocation per chunk and two clock reads.
    ///
    /// # Panics
    /// Propagates the panic of one of the calls.
    ///
    /// # Examples
    /// ```
    /// use raddle_collections::ChunkedArray;
    /// let words = ChunkedArray::from_chunks([vec!["an", "array"], vec!["in"], vec!["chunks"]]);
    /// assert_eq!(words.map(|_, word| word.len()), [2, 5, 2, 6]);
    /// ```
    #[must_use]
    pub fn map<R: Send>(&self, body: impl Fn(usize, &T) -> R + Sync) -> ChunkedArray<R>
    where
        T: Sync,
    {
        // The loops are nested so that a long chunk is split as easily as a row of short ones.
        ChunkedArray::build(self.chunk_count(), |chunk| {
            let chunk = &self.chunks[chunk];
            raddle_runtime::map(0..chunk.items.len(), |local| {
                body(chunk.start + local, &chunk.items[local])
            })
        })
    }

    /// Maps every element with `map` and combines the results with `combine`, which must be
    /// associative.
    ///
    /// Returns `identity()` for an empty array.
    ///
    /// The result depends neither on the number of workers nor on the chunks, down to its last bit.
    /// It is the result of [`raddle_runtime::map_reduce`] over the same number of indices.
    ///
    /// # Panics
    /// Propagates the panic of one of the closures.
    ///
    /// # Examples
    /// ```
    /// use raddle_collections::ChunkedArray;
    /// let array = ChunkedArray::from_chunks([vec![1, 7], vec![3]]);
    /// let pair = |index: usize, element: &i32| Some((*element, index));
    /// let last_max = array.map_reduce(|| None, pair, Ord::max);
    /// assert_eq!(last_max, Some((7, 1)));
    /// ```
    pub fn map_reduce<R: Send>(
        &self,
        identity: impl Fn() -> R + Sync,
        map: impl Fn(usize, &T) -> R + Sync,
        combine: impl Fn(R, R) -> R + Sync,
    ) -> R
    where
        T: Sync,
    {
        let len = self.len();
        let block_len = len.div_ceil(BLOCK_COUNT).max(1);
        let block = |block: usize| {
            let start = block * block_len;
            let end = len.min(start + block_len);
            let mut elements = self.range(start..end);
            let first = elements.next().expect("a block has an element");
            let first = (start + 1, map(start, first));
            let next = |(index, sum), element| (index + 1, combine(sum, map(index, element)));
            elements.fold(first, next).1
        };
        raddle_runtime::map_reduce(0..len.div_ceil(block_len), identity, block, &combine)
    }
}

/// Calls `body` for every element with its global index, which begins at 0.
fn each<I: Split + Send>(elements: I, body: impl Fn(usize, I::Item) + Sync) {
    for_each_piece(Elements { first: 0, elements }, |part| {
        part.elements.fold(part.first, |index, element| {
            body(index, element);
            index + 1
        });
    });
}

/// Consecutive elements, and the global index of the first one.
struct Elements<I> {
    first: usize,
    elements: I,
}

impl<I: Split + Send> Piece for Elements<I> {
    #[inline]
    fn item_count(&self) -> usize {
        self.elements.len()
    }

    #[inline]
    fn split(self, count: usize) -> (Self, Self) {
        let Self { first, elements } = self;
        let (left, right) = elements.split(count);
        let left = Self {
            first,
            elements: left,
        };
        let right = Self {
            first: first + count,
            elements: right,
        };
        (left, right)
    }
}
