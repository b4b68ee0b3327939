//! What a loop can split: index ranges, slices, and what others make of them.

use std::ops::Range;

/// A part of a loop that can be cut in two: a range of indices, a slice, a view of any collection that lies in order.
///
/// [`for_each_piece`](super::for_each_piece) runs loops over pieces. Both functions are called about once a microsecond.
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
    /// Items in it: what the loop counts and times.
    fn item_count(&self) -> usize;

    /// The first `count` items, and the rest; `count` is no more than [`item_count`](Self::item_count).
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

/// Elements that may be changed, and the index of the first.
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

/// Elements in chunks of a fixed length, the last one perhaps shorter; an item is a chunk.
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
