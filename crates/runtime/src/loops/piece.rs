//! Pieces of loops: index ranges, slices, and collections of users.

use std::ops::Range;

/// A part of a loop that can be split: a range of indices, a slice, or a view of any ordered
/// collection.
///
/// [`for_each_piece`](super::for_each_piece) runs loops over pieces. It calls both functions about
/// once per microsecond.
///
/// # Examples
/// ```
/// use raddle_runtime::{Piece, for_each_piece};
///
/// /// Two slices of the same length, element by element.
/// struct Both<'a>(&'a [f64], &'a mut [f64]);
///
/// impl Piece for Both<'_> {
///     fn item_count(&self) -> usize {
///         self.0.len()
///     }
///
///     fn split(self, count: usize) -> (Self, Self) {
///         let (from, more) = self.0.split_at(count);
///         let (to, further) = self.1.split_at_mut(count);
///         (Self(from, to), Self(more, further))
///     }
/// }
///
/// let x = vec![2.0; 1000];
/// let mut y = vec![1.0; 1000];
/// for_each_piece(Both(&x, &mut y), |Both(x, y)| {
///     for (x, y) in x.iter().zip(y) {
///         *y += 3.0 * x;
///     }
/// });
/// assert_eq!(y, [7.0; 1000]);
/// ```
pub trait Piece: Send + Sized {
    /// Returns the number of items. The loop counts and times them.
    fn item_count(&self) -> usize;

    /// Splits the piece into its first `count` items and the rest.
    ///
    /// `count` is at most [`item_count`](Self::item_count).
    #[must_use]
    fn split(self, count: usize) -> (Self, Self);
}

impl Piece for Range<usize> {
    #[inline]
    fn item_count(&self) -> usize {
        self.end.saturating_sub(self.start)
    }

    #[inline]
    fn split(self, count: usize) -> (Self, Self) {
        let middle = self.start + count;
        (self.start..middle, middle..self.end)
    }
}

/// Mutable elements, and the index of the first one.
#[derive(Debug)]
pub(super) struct Elements<'a, T> {
    pub(super) first: usize,
    pub(super) slice: &'a mut [T],
}

impl<T: Send> Piece for Elements<'_, T> {
    #[inline]
    fn item_count(&self) -> usize {
        self.slice.len()
    }

    #[inline]
    fn split(self, count: usize) -> (Self, Self) {
        let (left, right) = self.slice.split_at_mut(count);
        (
            Self {
                first: self.first,
                slice: left,
            },
            Self {
                first: self.first + count,
                slice: right,
            },
        )
    }
}

/// Elements in chunks of a fixed length. An item is a chunk. The last one may be shorter.
#[derive(Debug)]
pub(super) struct Chunks<'a, T> {
    pub(super) first: usize,
    pub(super) chunk_len: usize,
    pub(super) slice: &'a mut [T],
}

impl<T: Send> Piece for Chunks<'_, T> {
    fn item_count(&self) -> usize {
        self.slice.len().div_ceil(self.chunk_len)
    }

    fn split(self, count: usize) -> (Self, Self) {
        let Self {
            first,
            chunk_len,
            slice,
        } = self;
        let middle = (count * chunk_len).min(slice.len());
        let (left, right) = slice.split_at_mut(middle);
        (
            Self {
                first,
                chunk_len,
                slice: left,
            },
            Self {
                first: first + count,
                chunk_len,
                slice: right,
            },
        )
    }
}
