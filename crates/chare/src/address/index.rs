//! The indices of array elements: positions in a grid of one to six dimensions, or any keys.

use std::fmt;
use std::hash::Hash;

/// A name of an element: any small value that can be compared and hashed.
pub trait Key: Copy + Eq + Hash + fmt::Debug + Send + Sync + 'static {}

impl<K: Copy + Eq + Hash + fmt::Debug + Send + Sync + 'static> Key for K {}

/// A key that is a position in a grid: `usize`, or `[usize; N]` with two to six dimensions. The
/// last dimension changes fastest.
pub trait Index: Key {
    /// The type of the grid's lengths, one for each dimension.
    type Shape: Copy + fmt::Debug + Send + Sync + 'static;

    /// Returns the number of elements of the grid; `None` if it does not fit into a `u64`.
    fn count(shape: Self::Shape) -> Option<u64>;

    /// Returns the rank of this index in the order of all indices; `None` if it lies outside the
    /// grid.
    fn position(self, shape: Self::Shape) -> Option<u64>;

    /// Returns the index with the rank `position`, which is below [`count`](Self::count).
    fn at(position: u64, shape: Self::Shape) -> Self;

    /// Returns the lengths of a shape, one for each dimension.
    fn lengths(shape: Self::Shape) -> Vec<u64>;

    /// Returns the shape with these lengths; `None` if there is no such shape.
    fn of_lengths(lengths: &[u64]) -> Option<Self::Shape>;
}

impl Index for usize {
    type Shape = usize;

    fn count(shape: usize) -> Option<u64> {
        Some(shape as u64)
    }

    #[inline]
    fn position(self, shape: usize) -> Option<u64> {
        (self < shape).then_some(self as u64)
    }

    fn at(position: u64, _shape: usize) -> Self {
        position as usize
    }

    fn lengths(shape: usize) -> Vec<u64> {
        vec![shape as u64]
    }

    fn of_lengths(lengths: &[u64]) -> Option<usize> {
        match *lengths {
            [length] => usize::try_from(length).ok(),
            _ => None,
        }
    }
}

/// Implements [`Index`] for `[usize; N]`.
macro_rules! grid {
    ($($dimensions:literal)+) => {$(
        impl Index for [usize; $dimensions] {
            type Shape = Self;

            fn count(shape: Self) -> Option<u64> {
                shape.iter().try_fold(1_u64, |count, &length| count.checked_mul(length as u64))
            }

            #[inline]
            fn position(self, shape: Self) -> Option<u64> {
                let mut position = 0;
                for (place, length) in self.into_iter().zip(shape) {
                    if place >= length {
                        return None;
                    }
                    position = position * length as u64 + place as u64;
                }
                Some(position)
            }

            fn at(mut position: u64, shape: Self) -> Self {
                let mut place = [0; $dimensions];
                for (place, length) in place.iter_mut().zip(shape).rev() {
                    *place = (position % length as u64) as usize;
                    position /= length as u64;
                }
                place
            }

            fn lengths(shape: Self) -> Vec<u64> {
                shape.iter().map(|&length| length as u64).collect()
            }

            fn of_lengths(lengths: &[u64]) -> Option<Self> {
                let lengths: Vec<_> =
                    lengths
                        .iter()
                        .map(|&length| usize::try_from(length).ok())
                        .collect::<Option<_>>()?;
                lengths.try_into().ok()
            }
        }
    )+};
}

grid!(2 3 4 5 6);

/// A grid with a type-erased shape.
pub(crate) trait Grid<K>: fmt::Debug + Send + Sync {
    fn position(&self, key: K) -> Option<u64>;

    fn at(&self, position: u64) -> K;

    fn lengths(&self) -> Vec<u64>;
}

#[derive(Debug)]
pub(crate) struct Shaped<K: Index>(pub(crate) K::Shape);

impl<K: Index> Grid<K> for Shaped<K> {
    fn position(&self, key: K) -> Option<u64> {
        key.position(self.0)
    }

    fn at(&self, position: u64) -> K {
        K::at(position, self.0)
    }

    fn lengths(&self) -> Vec<u64> {
        K::lengths(self.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check<I: Index>(shape: I::Shape) {
        let count = I::count(shape).expect("it is small");
        let places: std::collections::HashSet<_> = (0..count).map(|at| I::at(at, shape)).collect();
        assert_eq!(places.len() as u64, count);
        for position in 0..count {
            assert_eq!(I::at(position, shape).position(shape), Some(position));
        }
        let again = I::of_lengths(&I::lengths(shape)).expect("it has that shape");
        assert_eq!(I::lengths(again), I::lengths(shape));
    }

    #[test]
    fn each_place_has_its_position() {
        check::<usize>(7);
        check::<[usize; 2]>([3, 5]);
        check::<[usize; 3]>([2, 1, 4]);
        check::<[usize; 6]>([2, 3, 1, 2, 2, 3]);
        assert_eq!([2, 0].position([3, 5]), Some(10));
    }

    #[test]
    fn an_index_outside_of_the_shape_has_no_position() {
        assert_eq!(7.position(7), None);
        assert_eq!([0, 5].position([3, 5]), None);
        assert_eq!(<[usize; 2]>::count([usize::MAX, 3]), None);
        assert_eq!(<[usize; 4]>::count([5, 0, 2, 2]), Some(0));
    }
}
