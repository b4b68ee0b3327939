//! Chunked arrays: chunks that tasks write independently of each other, read as one array.
//!
//! Tasks that each contribute an unknown number of elements to one array must, with a plain array, first agree on who writes where: a
//! scan over what everybody has. With a chunked array each fills a `Vec` of its own and hands it in. Nothing is copied and nobody waits;
//! the order of the elements is the order of the chunks, whatever order the tasks end in.
//!
//! | to | there is | cost an element |
//! |---|---|---|
//! | build | [`ChunkedArray::build`], [`ChunkedArray::from_chunks`], [`ChunkedArrayBuilder`] | none: a `Vec` is moved |
//! | pass over all | [`iter`](ChunkedArray::iter), its `for_each`, `fold` and `sum` above all | that of a slice |
//! | pass over all in parallel | [`for_each`](ChunkedArray::for_each), [`map`](ChunkedArray::map), [`map_reduce`](ChunkedArray::map_reduce) | that of a loop over a slice |
//! | reach one | `array[index]`, [`get`](ChunkedArray::get) | two small tables are read before the element |
//!
//! # Examples
//! Every task keeps what it finds, and nobody counts beforehand:
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
//! Jetley, Kalé: Optimizations for message driven applications on multicore architectures. HiPC 2011, sect. V-E. Theirs finds an element
//! by a binary search in a tree of chunks; ours guesses the chunk from a table, and is seldom wrong by more than one.

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

/// An array of elements in chunks, each a `Vec` that somebody filled on their own.
///
/// An element has a global index, from 0 to [`len`](Self::len), and a place: its chunk, and its local index there. Empty chunks are
/// ordinary chunks. Two arrays are equal when their elements are, however these are cut into chunks.
///
/// Cost beside the elements: 32 bytes a chunk where all are equally long, about 80 elsewhere.
#[derive(Clone)]
pub struct ChunkedArray<T> {
    chunks: Vec<Chunk<T>>,
    /// Where to look for an index; always made for `chunks` as they are.
    guess: Guess,
}

impl<T> ChunkedArray<T> {
    /// An array without chunks.
    #[must_use]
    pub const fn new() -> Self {
        Self {
            chunks: Vec::new(),
            guess: Guess::NOWHERE,
        }
    }

    /// Makes an array of chunks that are there already, in this order. No element is moved.
    ///
    /// # Panics
    /// When there are 2³² chunks or more, or more elements than a `usize` counts, as elements without a size can be.
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

    /// Adds a chunk at the end. Cost: constant on average; no element is moved.
    ///
    /// # Panics
    /// As [`from_chunks`](Self::from_chunks).
    pub fn push_chunk(&mut self, items: Vec<T>) {
        self.chunks.push(Chunk::new(self.len(), items));
        self.guess.follow(&self.chunks);
    }

    /// Moves all chunks of `other` to the end, as two halves of a [`join`](raddle_runtime::join) bring theirs together.
    ///
    /// # Panics
    /// As [`from_chunks`](Self::from_chunks).
    ///
    /// # Examples
    /// ```
    /// use raddle_collections::ChunkedArray;
    ///
    /// fn primes(from: u32, to: u32) -> ChunkedArray<u32> {
    ///     if to - from > 100 {
    ///         let middle = from.midpoint(to);
    ///         let (mut left, right) = raddle_runtime::join(|| primes(from, middle), || primes(middle, to));
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

    /// Elements in all chunks together.
    #[inline]
    #[must_use]
    pub fn len(&self) -> usize {
        self.chunks.last().map_or(0, |chunk| chunk.end())
    }

    /// True without elements, though there may be empty chunks.
    #[inline]
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The element with this global index, if there is one.
    #[inline]
    #[must_use]
    pub fn get(&self, index: usize) -> Option<&T> {
        let (chunk, local) = self.locate(index)?;
        self.chunks.get(chunk)?.items.get(local)
    }

    /// The element with this global index, if there is one.
    #[inline]
    #[must_use]
    pub fn get_mut(&mut self, index: usize) -> Option<&mut T> {
        let (chunk, local) = self.locate(index)?;
        self.chunks.get_mut(chunk)?.items.get_mut(local)
    }

    /// The chunk that holds the element with this global index, and its local index there.
    #[inline]
    #[must_use]
    pub fn locate(&self, index: usize) -> Option<(usize, usize)> {
        let guessed = self.guess.chunk_of(index)?;
        let mut local = index.wrapping_sub(self.chunks.get(guessed)?.start);
        if local < self.chunks[guessed].items.len() {
            return Some((guessed, local));
        }
        // Nearly all that are not in the chunk guessed are in the next one.
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

    /// The global index of the element with index `local` of chunk `chunk`, if there is one.
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

    /// Chunks, empty ones too.
    #[inline]
    #[must_use]
    pub fn chunk_count(&self) -> usize {
        self.chunks.len()
    }

    /// The elements of a chunk.
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

    /// The chunks, in order.
    pub fn chunks(&self) -> impl DoubleEndedIterator<Item = &[T]> + ExactSizeIterator + Clone {
        self.chunks.iter().map(|chunk| chunk.items.as_slice())
    }

    /// The chunks, in order.
    pub fn chunks_mut(&mut self) -> impl DoubleEndedIterator<Item = &mut [T]> + ExactSizeIterator {
        self.chunks
            .iter_mut()
            .map(|chunk| chunk.items.as_mut_slice())
    }

    /// Gives the chunks back. No element is moved.
    #[must_use]
    pub fn into_chunks(self) -> Vec<Vec<T>> {
        self.chunks.into_iter().map(|chunk| chunk.items).collect()
    }

    /// The elements, in order.
    ///
    /// A `for` loop over it costs about as much as one over a slice; `for_each`, `fold`, `sum` and the like go through each chunk as
    /// through a slice.
    #[inline]
    pub fn iter(&self) -> Iter<'_, T> {
        Iter::over(&self.chunks)
    }

    /// The elements, in order.
    #[inline]
    pub fn iter_mut(&mut self) -> IterMut<'_, T> {
        IterMut::over(&mut self.chunks)
    }

    /// The elements with these global indices. Cost: a binary search among the chunks for either end.
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

    /// The elements with these global indices, as [`range`](Self::range).
    ///
    /// # Panics
    /// When the range begins after its end, or ends beyond the array.
    pub fn range_mut(&mut self, range: impl RangeBounds<usize>) -> IterMut<'_, T> {
        let (start, end) = bounds(range, self.len());
        self.iter_mut().between(start, end)
    }

    /// The elements with these global indices as slices: a part of each chunk in which some of them lie. Cost: a binary search among the chunks
    /// for either end.
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

    /// Moves the elements into one `Vec`. It is the chunk itself if only one has elements.
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

/// A chunk, and how many elements lie before it.
#[derive(Clone, Debug)]
struct Chunk<T> {
    start: usize,
    items: Vec<T>,
}

impl<T> Chunk<T> {
    fn new(start: usize, items: Vec<T>) -> Self {
        assert!(
            start.checked_add(items.len()).is_some(),
            "a chunk of {} elements behind {start}: a usize cannot count them",
            items.len()
        );
        Self { start, items }
    }

    /// The global index behind its last element.
    #[inline]
    fn end(&self) -> usize {
        self.start + self.items.len()
    }
}

/// The last of the chunks that begin at `index` or before, which holds that element if any does: empty chunks that begin there too
/// come before it.
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
