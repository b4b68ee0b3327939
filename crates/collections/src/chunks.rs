//! Chunked arrays: chunks that tasks write independently of each other, read as one array.
//!
//! With a plain array, tasks that each contribute an unknown number of elements must first compute
//! the position of each contribution, by a scan over their counts. With a chunked array each task
//! fills a `Vec` of its own and hands it in. Nothing is copied and no task waits. The order of the
//! elements is the order of the chunks, in whatever order the tasks end.
//!
//! | operation | functions | cost per element |
//! |---|---|---|
//! | build | [`ChunkedArray::build`], [`ChunkedArray::from_chunks`] | none: a `Vec` is moved |
//! | build in any order | [`ChunkedArrayBuilder`] | none: a `Vec` is moved |
//! | pass over all | [`iter`](ChunkedArray::iter), best by `for_each`, `fold`, `sum` | as a slice |
//! | loop in parallel | [`for_each`](ChunkedArray::for_each) | as a loop over a slice |
//! | map in parallel | [`map`](ChunkedArray::map) | as a loop over a slice |
//! | reduce in parallel | [`map_reduce`](ChunkedArray::map_reduce) | as a loop over a slice |
//! | access one | `array[index]`, [`get`](ChunkedArray::get) | two small table reads before it |
//!
//! # Examples
//! Every task keeps the elements that it finds, and no count is needed beforehand:
//! ```
//! use raddle_collections::ChunkedArray;
//!
//! let numbers: Vec<u64> = (0..10_000).collect();
//! let parts: Vec<&[u64]> = numbers.chunks(1_000).collect();
//! let squares = ChunkedArray::build(parts.len(), |part| {
//!     let is_square = |n: &u64| n.isqrt().pow(2) == *n;
//!     parts[part].iter().copied().filter(is_square).collect()
//! });
//! assert_eq!(squares.len(), 100);
//! assert_eq!(squares[99], 99 * 99);
//! assert_eq!(squares.chunk(9), [95 * 95, 96 * 96, 97 * 97, 98 * 98, 99 * 99]);
//! ```
//!
//! # Source
//! Jetley, Kalé: Optimizations for message driven applications on multicore architectures. HiPC
//! 2011, sect. V-E. Their array finds an element by a binary search in a tree of chunks. This one
//! guesses the chunk from a table, and the guess is seldom wrong by more than one chunk.

mod builder;
mod guess;
mod iter;
mod parallel;
mod traits;

use std::ops::{Bound, RangeBounds};

pub use self::builder::{ChunkedArrayBuilder, MissingChunks};
use self::guess::Guess;
use self::iter::Split;
pub use self::iter::{IntoIter, Iter, IterMut};

/// An array of elements in chunks, each of them a `Vec` that was filled independently.
///
/// An element has a global index, from 0 to [`len`](Self::len), and a location: its chunk and its
/// local index in that chunk. Empty chunks are ordinary chunks. Two arrays are equal when their
/// elements are equal, however the elements are cut into chunks.
///
/// Memory beside the elements: 32 bytes per chunk if all chunks are equally long, otherwise about
/// 80.
#[derive(Clone)]
pub struct ChunkedArray<T> {
    chunks: Vec<Chunk<T>>,
    /// Guesses the chunk of an index; always matches the current `chunks`.
    guess: Guess,
}

impl<T> ChunkedArray<T> {
    /// Creates an array without chunks.
    #[must_use]
    pub const fn new() -> Self {
        Self {
            chunks: Vec::new(),
            guess: Guess::NOWHERE,
        }
    }

    /// Creates an array from existing chunks, in this order. No element is moved.
    ///
    /// # Panics
    /// When there are 2³² chunks or more, or more elements than a `usize` can count, which is
    /// possible with zero-sized elements.
    ///
    /// # Examples
    /// ```
    /// use raddle_collections::ChunkedArray;
    /// let array = ChunkedArray::from_chunks([vec!['a', 'b'], vec![], vec!['c']]);
    /// assert_eq!(array[2], 'c');
    /// assert_eq!(array.chunk_count(), 3);
    /// ```
    #[must_use]
    pub fn from_chunks(chunks: impl IntoIterator<Item = Vec<T>>) -> Self {
        let mut start = 0;
        let chunks: Vec<Chunk<T>> = chunks
            .into_iter()
            .map(|items| {
                let chunk = Chunk::new(start, items);
                start = chunk.end();
                chunk
            })
            .collect();
        let guess = Guess::of(&chunks);
        Self { chunks, guess }
    }

    /// Adds a chunk at the end. Takes constant time on average; no element is moved.
    ///
    /// # Panics
    /// In the same cases as [`from_chunks`](Self::from_chunks).
    pub fn push_chunk(&mut self, items: Vec<T>) {
        self.chunks.push(Chunk::new(self.len(), items));
        self.guess.follow(&self.chunks);
    }

    /// Moves all chunks of `other` to the end.
    ///
    /// The two halves of a [`join`](raddle_runtime::join) can combine their results this way.
    ///
    /// # Panics
    /// In the same cases as [`from_chunks`](Self::from_chunks).
    ///
    /// # Examples
    /// ```
    /// use raddle_collections::ChunkedArray;
    ///
    /// fn primes(from: u32, to: u32) -> ChunkedArray<u32> {
    ///     if to - from > 100 {
    ///         let middle = from.midpoint(to);
    ///         let (mut left, right) =
    ///             raddle_runtime::join(|| primes(from, middle), || primes(middle, to));
    ///         left.append(right);
    ///         return left;
    ///     }
    ///     (from..to).filter(|n| (2..*n).all(|divisor| n % divisor != 0)).collect()
    /// }
    /// assert_eq!(primes(2, 1_000)[167], 997);
    /// ```
    pub fn append(&mut self, other: Self) {
        for chunk in other.chunks {
            self.push_chunk(chunk.items);
        }
    }

    /// Returns the number of elements in all chunks together.
    #[inline]
    #[must_use]
    pub fn len(&self) -> usize {
        self.chunks.last().map_or(0, |chunk| chunk.end())
    }

    /// Returns `true` if there are no elements. There may still be empty chunks.
    #[inline]
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Returns the element with this global index, if there is one.
    #[inline]
    #[must_use]
    pub fn get(&self, index: usize) -> Option<&T> {
        let (chunk, local) = self.locate(index)?;
        self.chunks.get(chunk)?.items.get(local)
    }

    /// Returns the element with this global index, if there is one.
    #[inline]
    #[must_use]
    pub fn get_mut(&mut self, index: usize) -> Option<&mut T> {
        let (chunk, local) = self.locate(index)?;
        self.chunks.get_mut(chunk)?.items.get_mut(local)
    }

    /// Returns the chunk that holds the element with this global index, and its local index there.
    #[inline]
    #[must_use]
    pub fn locate(&self, index: usize) -> Option<(usize, usize)> {
        let guessed = self.guess.chunk_of(index)?;
        let mut local = index.wrapping_sub(self.chunks.get(guessed)?.start);
        if local < self.chunks[guessed].items.len() {
            return Some((guessed, local));
        }
        // If the guess is wrong, the element is nearly always in the next chunk.
        let next = guessed + 1;
        local = index.wrapping_sub(self.chunks.get(next)?.start);
        if local < self.chunks[next].items.len() {
            return Some((next, local));
        }
        self.locate_slow(index)
    }

    #[cold]
    fn locate_slow(&self, index: usize) -> Option<(usize, usize)> {
        let chunk = chunk_at(&self.chunks, index)?;
        let local = index - self.chunks[chunk].start;
        (local < self.chunks[chunk].items.len()).then_some((chunk, local))
    }

    /// Returns the global index of the element at `local` in chunk `chunk`, if there is one.
    ///
    /// # Examples
    /// ```
    /// use raddle_collections::ChunkedArray;
    /// let array = ChunkedArray::from_chunks([vec![1, 2], vec![], vec![3]]);
    /// assert_eq!(array.locate(2), Some((2, 0)));
    /// assert_eq!(array.global(2, 0), Some(2));
    /// assert_eq!(array.global(1, 0), None);
    /// ```
    #[inline]
    #[must_use]
    pub fn global(&self, chunk: usize, local: usize) -> Option<usize> {
        let chunk = self.chunks.get(chunk)?;
        (local < chunk.items.len()).then_some(chunk.start + local)
    }

    /// Returns the number of chunks, including empty ones.
    #[inline]
    #[must_use]
    pub fn chunk_count(&self) -> usize {
        self.chunks.len()
    }

    /// Returns the elements of a chunk.
    ///
    /// # Panics
    /// When there is no such chunk.
    #[inline]
    #[must_use]
    pub fn chunk(&self, chunk: usize) -> &[T] {
        match self.chunks.get(chunk) {
            Some(chunk) => &chunk.items,
            None => no_such_chunk(chunk, self.chunk_count()),
        }
    }

    /// Returns an iterator over the chunks, in order.
    pub fn chunks(&self) -> impl DoubleEndedIterator<Item = &[T]> + ExactSizeIterator + Clone {
        self.chunks.iter().map(|chunk| chunk.items.as_slice())
    }

    /// Returns an iterator over the chunks, in order.
    pub fn chunks_mut(&mut self) -> impl DoubleEndedIterator<Item = &mut [T]> + ExactSizeIterator {
        self.chunks
            .iter_mut()
            .map(|chunk| chunk.items.as_mut_slice())
    }

    /// Returns the chunks. No element is moved.
    #[must_use]
    pub fn into_chunks(self) -> Vec<Vec<T>> {
        self.chunks.into_iter().map(|chunk| chunk.items).collect()
    }

    /// Returns an iterator over the elements, in order.
    ///
    /// A `for` loop over it costs about as much as one over a slice. `for_each`, `fold`, `sum` and
    /// similar methods pass over each chunk as over a slice.
    #[inline]
    pub fn iter(&self) -> Iter<'_, T> {
        Iter::over(&self.chunks)
    }

    /// Returns an iterator over the elements, in order.
    #[inline]
    pub fn iter_mut(&mut self) -> IterMut<'_, T> {
        IterMut::over(&mut self.chunks)
    }

    /// Returns an iterator over the elements with these global indices.
    ///
    /// Costs a binary search among the chunks for each end of the range.
    ///
    /// # Panics
    /// When the range begins after its end, or ends beyond the array.
    ///
    /// # Examples
    /// ```
    /// use raddle_collections::ChunkedArray;
    /// let array = ChunkedArray::from_chunks([vec![1, 2, 3], vec![4], vec![5, 6]]);
    /// assert!(array.range(2..5).eq(&[3, 4, 5]));
    /// ```
    pub fn range(&self, range: impl RangeBounds<usize>) -> Iter<'_, T> {
        let (start, end) = bounds(range, self.len());
        self.iter().between(start, end)
    }

    /// Returns a mutable iterator over the elements with these global indices.
    ///
    /// Costs the same as [`range`](Self::range).
    ///
    /// # Panics
    /// When the range begins after its end, or ends beyond the array.
    pub fn range_mut(&mut self, range: impl RangeBounds<usize>) -> IterMut<'_, T> {
        let (start, end) = bounds(range, self.len());
        self.iter_mut().between(start, end)
    }

    /// Returns the elements with these global indices as slices, one for each chunk that holds
    /// some.
    ///
    /// Costs a binary search among the chunks for each end of the range.
    ///
    /// # Panics
    /// When the range begins after its end, or ends beyond the array.
    ///
    /// # Examples
    /// ```
    /// use raddle_collections::ChunkedArray;
    /// let array = ChunkedArray::from_chunks([vec![1, 2, 3], vec![], vec![4], vec![5, 6]]);
    /// let slices: Vec<&[i32]> = array.slices(2..5).collect();
    /// assert_eq!(slices, [&[3][..], &[4], &[5]]);
    /// ```
    pub fn slices(&self, range: impl RangeBounds<usize>) -> impl Iterator<Item = &[T]> + Clone {
        let (start, end) = bounds(range, self.len());
        let first = self.chunks.partition_point(|chunk| chunk.end() <= start);
        let behind = self.chunks.partition_point(|chunk| chunk.start < end);
        self.chunks[first..behind.max(first)]
            .iter()
            .map(move |chunk| {
                let from = start.saturating_sub(chunk.start);
                let to = chunk.items.len().min(end - chunk.start);
                &chunk.items[from..to]
            })
            .filter(|slice| !slice.is_empty())
    }

    /// Copies the elements into one `Vec`.
    #[must_use]
    pub fn to_vec(&self) -> Vec<T>
    where
        T: Clone,
    {
        let mut all = Vec::with_capacity(self.len());
        self.chunks().for_each(|chunk| all.extend_from_slice(chunk));
        all
    }

    /// Moves the elements into one `Vec`. No element is moved if only one chunk has elements.
    #[must_use]
    pub fn into_vec(self) -> Vec<T> {
        let len = self.len();
        let mut chunks = self.into_chunks();
        chunks.retain(|chunk| !chunk.is_empty());
        if chunks.len() == 1 {
            return chunks.remove(0);
        }
        let mut all = Vec::with_capacity(len);
        chunks.iter_mut().for_each(|chunk| all.append(chunk));
        all
    }
}

/// A chunk, and the number of elements before it.
#[derive(Clone, Debug)]
struct Chunk<T> {
    start: usize,
    items: Vec<T>,
}

impl<T> Chunk<T> {
    fn new(start: usize, items: Vec<T>) -> Self {
        assert!(
            start.checked_add(items.len()).is_some(),
            "a chunk of {} elements after {start}: a usize cannot count them",
            items.len()
        );
        Self { start, items }
    }

    /// Returns the global index after its last element.
    #[inline]
    fn end(&self) -> usize {
        self.start + self.items.len()
    }
}

/// Returns the last chunk that begins at or before `index`.
///
/// If any chunk holds that element, this one does: empty chunks that begin at `index` come before
/// it.
fn chunk_at<T>(chunks: &[Chunk<T>], index: usize) -> Option<usize> {
    chunks
        .partition_point(|chunk| chunk.start <= index)
        .checked_sub(1)
}

#[track_caller]
fn bounds(range: impl RangeBounds<usize>, len: usize) -> (usize, usize) {
    let start = match range.start_bound() {
        Bound::Included(&start) => start,
        Bound::Excluded(&before) => before.saturating_add(1),
        Bound::Unbounded => 0,
    };
    let end = match range.end_bound() {
        Bound::Included(&last) => last.saturating_add(1),
        Bound::Excluded(&end) => end,
        Bound::Unbounded => len,
    };
    assert!(
        start <= end && end <= len,
        "the range {start}..{end} does not lie in an array of {len} elements"
    );
    (start, end)
}

#[cold]
#[track_caller]
fn no_such_chunk(chunk: usize, chunk_count: usize) -> ! {
    panic!("there is no chunk {chunk}: the array has {chunk_count}");
}
