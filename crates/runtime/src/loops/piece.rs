//! What a loop can split: index ranges and slices.

use std::ops::Range;

/// A part of a loop that can be cut in two.
pub(super) trait Piece: Send + Sized {
    /// Items in it.
    fn item_count(&self) -> usize;

    /// The first `count` items, and the rest.
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
