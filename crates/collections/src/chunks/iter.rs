//! Iterators over the elements of all chunks, in order.
//!
//! `next` tests for the end of the current chunk, as the iterator of a slice tests for the end of
//! the slice. It rarely moves on to another chunk. `fold` goes over the elements chunk by chunk,
//! each at the speed of a slice. `for_each`, `sum`, `collect` and most other methods that go over
//! all elements use it.

use std::iter::FusedIterator;
use std::{slice, vec};

use super::{Chunk, chunk_at};

/// An iterator over the elements of a [`ChunkedArray`](super::ChunkedArray), in order.
#[derive(Debug)]
pub struct Iter<'a, T>(Joined<slice::Iter<'a, Chunk<T>>, slice::Iter<'a, T>>);

/// A mutable iterator over the elements of a [`ChunkedArray`](super::ChunkedArray), in order.
#[derive(Debug)]
pub struct IterMut<'a, T>(Joined<slice::IterMut<'a, Chunk<T>>, slice::IterMut<'a, T>>);

/// An owning iterator over the elements of a [`ChunkedArray`](super::ChunkedArray), in order.
#[derive(Clone, Debug)]
pub struct IntoIter<T>(Joined<vec::IntoIter<Chunk<T>>, vec::IntoIter<T>>);

impl<'a, T> Iter<'a, T> {
    #[inline]
    pub(super) fn over(chunks: &'a [Chunk<T>]) -> Self {
        Self(Joined::over(chunks.iter()))
    }
}

impl<T> Clone for Iter<'_, T> {
    fn clone(&self) -> Self {
        Self(self.0.clone())
    }
}

impl<'a, T> IterMut<'a, T> {
    #[inline]
    pub(super) fn over(chunks: &'a mut [Chunk<T>]) -> Self {
        Self(Joined::over(chunks.iter_mut()))
    }
}

impl<T> IntoIter<T> {
    #[inline]
    pub(super) fn over(chunks: Vec<Chunk<T>>) -> Self {
        Self(Joined::over(chunks.into_iter()))
    }
}

/// An iterator that can be split in two.
pub(super) trait Split: ExactSizeIterator + Sized {
    /// Splits the iterator into the first `count` items and the rest.
    fn split(self, count: usize) -> (Self, Self);

    /// Returns the items from `start` up to `end`, which is excluded.
    fn between(self, start: usize, end: usize) -> Self {
        self.split(end).0.split(start).1
    }
}

impl<T> Chunks for slice::Iter<'_, Chunk<T>> {
    type Element = T;

    #[inline]
    fn left(&self) -> &[Chunk<T>] {
        self.as_slice()
    }
}

impl<T> Chunks for slice::IterMut<'_, Chunk<T>> {
    type Element = T;

    #[inline]
    fn left(&self) -> &[Chunk<T>] {
        self.as_slice()
    }
}

impl<T> Chunks for vec::IntoIter<Chunk<T>> {
    type Element = T;

    #[inline]
    fn left(&self) -> &[Chunk<T>] {
        self.as_slice()
    }
}

impl<'a, T> IntoIterator for &'a Chunk<T> {
    type Item = &'a T;
    type IntoIter = slice::Iter<'a, T>;

    #[inline]
    fn into_iter(self) -> Self::IntoIter {
        self.items.iter()
    }
}

impl<'a, T> IntoIterator for &'a mut Chunk<T> {
    type Item = &'a mut T;
    type IntoIter = slice::IterMut<'a, T>;

    #[inline]
    fn into_iter(self) -> Self::IntoIter {
        self.items.iter_mut()
    }
}

impl<T> IntoIterator for Chunk<T> {
    type Item = T;
    type IntoIter = vec::IntoIter<T>;

    #[inline]
    fn into_iter(self) -> Self::IntoIter {
        self.items.into_iter()
    }
}

/// Implements the iterator traits by the methods of [`Joined`].
macro_rules! iterator {
    ($iterator:ident <$($lifetime:lifetime,)? T> of $item:ty) => {
        impl<$($lifetime,)? T> Iterator for $iterator<$($lifetime,)? T> {
            type Item = $item;

            #[inline]
            fn next(&mut self) -> Option<$item> {
                self.0.next()
            }

            #[inline]
            fn size_hint(&self) -> (usize, Option<usize>) {
                (self.len(), Some(self.len()))
            }

            #[inline]
            fn count(self) -> usize {
                self.len()
            }

            #[inline]
            fn last(mut self) -> Option<$item> {
                self.0.next_back()
            }

            #[inline]
            fn nth(&mut self, count: usize) -> Option<$item> {
                self.0.nth(count)
            }

            #[inline]
            fn fold<B, F: FnMut(B, $item) -> B>(self, start: B, body: F) -> B {
                self.0.fold(start, body)
            }
        }

        impl<$($lifetime,)? T> DoubleEndedIterator for $iterator<$($lifetime,)? T> {
            #[inline]
            fn next_back(&mut self) -> Option<$item> {
                self.0.next_back()
            }

            #[inline]
            fn nth_back(&mut self, count: usize) -> Option<$item> {
                self.0.nth_back(count)
            }

            #[inline]
            fn rfold<B, F: FnMut(B, $item) -> B>(self, start: B, body: F) -> B {
                self.0.rfold(start, body)
            }
        }

        impl<$($lifetime,)? T> ExactSizeIterator for $iterator<$($lifetime,)? T> {
            #[inline]
            fn len(&self) -> usize {
                self.0.len()
            }
        }

        impl<$($lifetime,)? T> FusedIterator for $iterator<$($lifetime,)? T> {}
    };
}

iterator! { Iter<'a, T> of &'a T }
iterator! { IterMut<'a, T> of &'a mut T }
iterator! { IntoIter<T> of T }

impl<T> Split for Iter<'_, T> {
    fn split(self, count: usize) -> (Self, Self) {
        let (left, right) = self.0.split(count);
        (Self(left), Self(right))
    }
}

impl<T> Split for IterMut<'_, T> {
    fn split(self, count: usize) -> (Self, Self) {
        let (left, right) = self.0.split(count);
        (Self(left), Self(right))
    }
}

impl<T> Split for slice::Iter<'_, T> {
    #[inline]
    fn split(self, count: usize) -> (Self, Self) {
        let (left, right) = self.as_slice().split_at(count);
        (left.iter(), right.iter())
    }
}

impl<T> Split for slice::IterMut<'_, T> {
    #[inline]
    fn split(self, count: usize) -> (Self, Self) {
        let (left, right) = self.into_slice().split_at_mut(count);
        (left.iter_mut(), right.iter_mut())
    }
}

/// An iterator over whole chunks that gives access to the chunks that are left.
trait Chunks: DoubleEndedIterator {
    type Element;

    fn left(&self) -> &[Chunk<Self::Element>];

    /// Returns the number of elements in the chunks that are left.
    #[inline]
    fn element_count(&self) -> usize {
        match self.left() {
            [] => 0,
            [only] => only.items.len(),
            [first, .., last] => last.end() - first.start,
        }
    }
}

/// The elements of a part of a chunk, then of whole chunks, and then of a part of another chunk.
#[derive(Clone, Debug)]
struct Joined<C, S> {
    front: S,
    middle: C,
    back: S,
}

impl<C, S: Default> Joined<C, S> {
    #[inline]
    fn over(chunks: C) -> Self {
        Self {
            front: S::default(),
            middle: chunks,
            back: S::default(),
        }
    }
}

impl<C: Default, S: Default> Joined<C, S> {
    /// Creates an iterator over a part of a single chunk.
    #[inline]
    fn part(part: S) -> Self {
        Self {
            front: part,
            middle: C::default(),
            back: S::default(),
        }
    }
}

impl<C, S> Joined<C, S>
where
    C: Chunks<Item: IntoIterator<IntoIter = S, Item = S::Item>>,
    S: DoubleEndedIterator + ExactSizeIterator + Default,
{
    #[inline]
    fn len(&self) -> usize {
        self.front.len() + self.middle.element_count() + self.back.len()
    }

    #[inline]
    fn next(&mut self) -> Option<S::Item> {
        loop {
            if let Some(element) = self.front.next() {
                return Some(element);
            }
            match self.middle.next() {
                Some(chunk) => self.front = chunk.into_iter(),
                None => return self.back.next(),
            }
        }
    }

    #[inline]
    fn next_back(&mut self) -> Option<S::Item> {
        loop {
            if let Some(element) = self.back.next_back() {
                return Some(element);
            }
            match self.middle.next_back() {
                Some(chunk) => self.back = chunk.into_iter(),
                None => return self.front.next_back(),
            }
        }
    }

    fn nth(&mut self, mut count: usize) -> Option<S::Item> {
        loop {
            let len = self.front.len();
            if count < len {
                return self.front.nth(count);
            }
            count -= len;
            self.front = match self.middle.next() {
                Some(chunk) => chunk.into_iter(),
                None => S::default(),
            };
            if self.front.len() == 0 && self.middle.left().is_empty() {
                return self.back.nth(count);
            }
        }
    }

    fn nth_back(&mut self, mut count: usize) -> Option<S::Item> {
        loop {
            let len = self.back.len();
            if count < len {
                return self.back.nth_back(count);
            }
            count -= len;
            self.back = match self.middle.next_back() {
                Some(chunk) => chunk.into_iter(),
                None => S::default(),
            };
            if self.back.len() == 0 && self.middle.left().is_empty() {
                return self.front.nth_back(count);
            }
        }
    }

    #[inline]
    fn fold<B>(self, start: B, mut body: impl FnMut(B, S::Item) -> B) -> B {
        let mut sum = self.front.fold(start, &mut body);
        for chunk in self.middle {
            sum = chunk.into_iter().fold(sum, &mut body);
        }
        self.back.fold(sum, body)
    }

    #[inline]
    fn rfold<B>(self, start: B, mut body: impl FnMut(B, S::Item) -> B) -> B {
        let mut sum = self.back.rfold(start, &mut body);
        for chunk in self.middle.rev() {
            sum = chunk.into_iter().rfold(sum, &mut body);
        }
        self.front.rfold(sum, body)
    }

    /// Splits the iterator into the first `count` elements and the rest.
    ///
    /// Takes a binary search among the chunks.
    fn split(self, count: usize) -> (Self, Self)
    where
        C: Split + Default,
        S: Split,
    {
        let Self {
            front,
            middle,
            back,
        } = self;
        // The split is in the front part.
        if count <= front.len() {
            let (left, front) = front.split(count);
            return (
                Self::part(left),
                Self {
                    front,
                    middle,
                    back,
                },
            );
        }
        let count = count - front.len();
        let chunks = middle.left();
        // The split is in the back part.
        if count >= middle.element_count() {
            let (left, right) = back.split(count - middle.element_count());
            let left = Self {
                front,
                middle,
                back: left,
            };
            return (left, Self::part(right));
        }
        // The split is in a whole chunk, which becomes the back part of the left iterator and the
        // front part of the right one.
        let index = chunks[0].start + count;
        let at = chunk_at(chunks, index).expect("the first chunk begins before");
        let local = index - chunks[at].start;
        let (left, mut right) = middle.split(at);
        let cut = right.next().expect("this chunk contains the index");
        let (end, start) = cut.into_iter().split(local);
        let left = Self {
            front,
            middle: left,
            back: end,
        };
        let right = Self {
            front: start,
            middle: right,
            back,
        };
        (left, right)
    }
}
