//! Parallel loops over the elements, whatever chunks they lie in.
//!
//! A loop is cut in two between any two elements: many small chunks are one part of it, and one large chunk is many.

use raddle_runtime::{Piece, for_each_piece};

use super::ChunkedArray;
use super::iter::Split;

/// Blocks into which a reduction is cut at most: those of [`raddle_runtime::map_reduce`].
const BLOCK_COUNT: usize = 1024;

impl<T> ChunkedArray<T> {
    /// Calls `make` for each of `chunk_count` chunks, on as many workers as have time, and makes an array of what it returns.
    ///
    /// # Panics
    /// With the panic of some call.
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

    /// Calls `body` with the global index of every element, and the element, on as many workers as have time.
    ///
    /// # Panics
    /// With the panic of some body; the elements that have not begun then are left out.
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

    /// Calls `body` with the global index of every element, and the element, to be changed.
    ///
    /// # Panics
    /// As [`for_each`](Self::for_each).
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

    /// Calls `body` with the global index of every element, and the element; the results lie in chunks as long as this array's.
    ///
    /// Cost: as [`raddle_runtime::map`], an allocation for each chunk, and two readings of the clock.
    ///
    /// # Panics
    /// With the panic of some body.
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
        // Loops in a loop: a long chunk is split as readily as a row of short ones.
        ChunkedArray::build(self.chunk_count(), |chunk| {
            let chunk = &self.chunks[chunk];
            raddle_runtime::map(0..chunk.items.len(), |local| {
                body(chunk.start + local, &chunk.items[local])
            })
        })
    }

    /// Combines what `map` makes of all elements with `combine`, an associative operation; `identity()` for an empty array.
    ///
    /// The result depends neither on the number of workers nor on the chunks, not even in its last bit: it is that of
    /// [`raddle_runtime::map_reduce`] over as many indices.
    ///
    /// # Panics
    /// With the panic of one of the closures.
    ///
    /// # Examples
    /// ```
    /// use raddle_collections::ChunkedArray;
    /// let array = ChunkedArray::from_chunks([vec![1, 7], vec![3]]);
    /// let last_max = array.map_reduce(|| None, |index, element| Some((*element, index)), Ord::max);
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

/// Runs a loop over elements, each with its global index, from 0.
fn each<I: Split + Send>(elements: I, body: impl Fn(usize, I::Item) + Sync) {
    for_each_piece(Elements { first: 0, elements }, |part| {
        part.elements.fold(part.first, |index, element| {
            body(index, element);
            index + 1
        });
    });
}

/// Elements in a row, and the global index of the first.
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
