//! The standard traits of a chunked array.

use std::fmt;
use std::ops::{Index, IndexMut};

use super::{ChunkedArray, IntoIter, Iter, IterMut};

impl<T> Index<usize> for ChunkedArray<T> {
    type Output = T;

    /// Returns the element at `index`.
    ///
    /// # Panics
    /// When `index` is not below the length.
    #[inline]
    fn index(&self, index: usize) -> &T {
        match self.get(index) {
            Some(element) => element,
            None => out_of_bounds(index, self.len()),
        }
    }
}

impl<T> IndexMut<usize> for ChunkedArray<T> {
    /// Returns the element at `index`.
    ///
    /// # Panics
    /// When `index` is not below the length.
    #[inline]
    fn index_mut(&mut self, index: usize) -> &mut T {
        let len = self.len();
        match self.get_mut(index) {
            Some(element) => element,
            None => out_of_bounds(index, len),
        }
    }
}

impl<'a, T> IntoIterator for &'a ChunkedArray<T> {
    type Item = &'a T;
    type IntoIter = Iter<'a, T>;

    #[inline]
    fn into_iter(self) -> Iter<'a, T> {
        self.iter()
    }
}

impl<'a, T> IntoIterator for &'a mut ChunkedArray<T> {
    type Item = &'a mut T;
    type IntoIter = IterMut<'a, T>;

    #[inline]
    fn into_iter(self) -> IterMut<'a, T> {
        self.iter_mut()
    }
}

impl<T> IntoIterator for ChunkedArray<T> {
    type Item = T;
    type IntoIter = IntoIter<T>;

    #[inline]
    fn into_iter(self) -> IntoIter<T> {
        IntoIter::over(self.chunks)
    }
}

impl<T> Default for ChunkedArray<T> {
    fn default() -> Self {
        Self::new()
    }
}

impl<T> From<Vec<T>> for ChunkedArray<T> {
    /// Creates an array with one chunk. The elements are not moved.
    fn from(items: Vec<T>) -> Self {
        Self::from_chunks([items])
    }
}

impl<T> From<ChunkedArray<T>> for Vec<T> {
    /// Converts the array to a vector, as [`ChunkedArray::into_vec`] does.
    fn from(array: ChunkedArray<T>) -> Self {
        array.into_vec()
    }
}

impl<T> FromIterator<T> for ChunkedArray<T> {
    /// Creates an array with one chunk.
    fn from_iter<I: IntoIterator<Item = T>>(elements: I) -> Self {
        Self::from(Vec::from_iter(elements))
    }
}

impl<T> Extend<T> for ChunkedArray<T> {
    /// Adds a chunk with the elements, if there are any.
    fn extend<I: IntoIterator<Item = T>>(&mut self, elements: I) {
        let items = Vec::from_iter(elements);
        if !items.is_empty() {
            self.push_chunk(items);
        }
    }
}

impl<T: fmt::Debug> fmt::Debug for ChunkedArray<T> {
    /// Formats the array as a list of its chunks.
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_list().entries(self.chunks()).finish()
    }
}

impl<T: PartialEq> PartialEq for ChunkedArray<T> {
    /// Compares the elements. The division into chunks does not matter.
    fn eq(&self, other: &Self) -> bool {
        self.iter().eq(other)
    }
}

impl<T: Eq> Eq for ChunkedArray<T> {}

impl<T: PartialEq> PartialEq<[T]> for ChunkedArray<T> {
    fn eq(&self, other: &[T]) -> bool {
        let mut rest = other;
        self.len() == other.len()
            && self.chunks().all(|chunk| {
                let (same, behind) = rest.split_at(chunk.len());
                rest = behind;
                chunk == same
            })
    }
}

impl<T: PartialEq> PartialEq<Vec<T>> for ChunkedArray<T> {
    fn eq(&self, other: &Vec<T>) -> bool {
        *self == **other
    }
}

impl<T: PartialEq, const N: usize> PartialEq<[T; N]> for ChunkedArray<T> {
    fn eq(&self, other: &[T; N]) -> bool {
        *self == *other.as_slice()
    }
}

#[cold]
#[track_caller]
fn out_of_bounds(index: usize, len: usize) -> ! {
    panic!("index {index} is out of bounds: the array has {len} elements");
}
