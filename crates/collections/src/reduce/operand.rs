//! Values that can be combined: numbers, and arrays and vectors of numbers.

use std::array;
use std::num::Wrapping;
use std::time::Duration;

use super::error::Mismatch;

/// The operations, as types. A type implements [`Operand`] for each operation that it supports.
pub mod op {
    /// `a + b`, for [`Sum`](super::super::Sum).
    #[derive(Clone, Copy, Debug)]
    pub enum Add {}
    /// `a * b`, for [`Product`](super::super::Product).
    #[derive(Clone, Copy, Debug)]
    pub enum Mul {}
    /// The smaller of the two, for [`Min`](super::super::Min).
    #[derive(Clone, Copy, Debug)]
    pub enum Least {}
    /// The larger of the two, for [`Max`](super::super::Max).
    #[derive(Clone, Copy, Debug)]
    pub enum Greatest {}
    /// `a & b`, for [`BitAnd`](super::super::BitAnd).
    #[derive(Clone, Copy, Debug)]
    pub enum And {}
    /// `a | b`, for [`BitOr`](super::super::BitOr).
    #[derive(Clone, Copy, Debug)]
    pub enum Or {}
    /// `a ^ b`, for [`BitXor`](super::super::BitXor).
    #[derive(Clone, Copy, Debug)]
    pub enum Exclusive {}
}

/// A value that the operation `O`, one of [`op`], combines with another one.
///
/// The operation must be associative and commutative. A custom type needs only this implementation
/// to be used in the reducer of the operation:
/// ```
/// use raddle_collections::reduce::{Mismatch, Operand, Reducer, Sum, op};
///
/// #[derive(Clone, Copy, Debug, PartialEq)]
/// struct Point(f64, f64);
///
/// impl Operand<op::Add> for Point {
///     fn combine(&mut self, other: Self) -> Result<(), Mismatch> {
///         *self = Self(self.0 + other.0, self.1 + other.1);
///         Ok(())
///     }
/// }
///
/// let mut sums = Sum(vec![Point(1.0, 2.0), Point(0.0, 0.0)]);
/// sums.merge(Sum(vec![Point(0.5, 0.5), Point(3.0, 4.0)]))?;
/// assert_eq!(sums.finish(), [Point(1.5, 2.5), Point(3.0, 4.0)]);
/// # Ok::<(), Mismatch>(())
/// ```
pub trait Operand<O>: Send + 'static {
    /// Replaces `self` by the result of the operation on `self` and `other`.
    ///
    /// # Errors
    /// [`Mismatch`] if they do not fit together.
    fn combine(&mut self, other: Self) -> Result<(), Mismatch>;
}

/// An operand type with a neutral element of the operation.
pub trait Neutral<O>: Operand<O> {
    /// Returns the neutral element, such as 0 for a sum of integers.
    #[must_use]
    fn neutral() -> Self;
}

/// Implements operations for number types. Each operation has an expression for the result, and a
/// neutral element.
macro_rules! numbers {
    (
        $types:tt:
        $($op:ident($left:ident, $right:ident) is $result:expr, neutral $neutral:expr;)+
    ) => {
        $(numbers!(@ $types, $op, $left, $right, $result, $neutral);)+
    };
    (@ [$($type:ty),+], $op:ident, $left:ident, $right:ident, $result:expr, $neutral:expr) => {$(
        impl Operand<op::$op> for $type {
            #[inline]
            fn combine(&mut self, other: Self) -> Result<(), Mismatch> {
                let ($left, $right) = (*self, other);
                *self = $result;
                Ok(())
            }
        }

        impl Neutral<op::$op> for $type {
            #[inline]
            fn neutral() -> Self {
                $neutral
            }
        }
    )+};
}

numbers! {
    [u8, u16, u32, u64, u128, usize, i8, i16, i32, i64, i128, isize]:
    Add(a, b) is a + b, neutral 0;
    Mul(a, b) is a * b, neutral 1;
    Least(a, b) is a.min(b), neutral Self::MAX;
    Greatest(a, b) is a.max(b), neutral Self::MIN;
    And(a, b) is a & b, neutral !0;
    Or(a, b) is a | b, neutral 0;
    Exclusive(a, b) is a ^ b, neutral 0;
}

numbers! {
    [
        Wrapping<u8>, Wrapping<u16>, Wrapping<u32>, Wrapping<u64>, Wrapping<u128>, Wrapping<usize>,
        Wrapping<i8>, Wrapping<i16>, Wrapping<i32>, Wrapping<i64>, Wrapping<i128>, Wrapping<isize>
    ]:
    Add(a, b) is a + b, neutral Wrapping(0);
    Mul(a, b) is a * b, neutral Wrapping(1);
}

// The neutral element is -0, since -0 + 0 is 0.
numbers! {
    [f32, f64]:
    Add(a, b) is a + b, neutral -0.0;
    Mul(a, b) is a * b, neutral 1.0;
    Least(a, b) is a.lesser(b), neutral Self::INFINITY;
    Greatest(a, b) is a.greater(b), neutral Self::NEG_INFINITY;
}

numbers! {
    [bool]:
    And(a, b) is a & b, neutral true;
    Or(a, b) is a | b, neutral false;
    Exclusive(a, b) is a ^ b, neutral false;
}

numbers! {
    [Duration]:
    Add(a, b) is a + b, neutral Self::ZERO;
    Least(a, b) is a.min(b), neutral Self::MAX;
    Greatest(a, b) is a.max(b), neutral Self::ZERO;
}

/// The minimum and maximum of floats. They propagate NaN, and -0 is less than 0.
///
/// The implementations have no branches, so that loops over them can use vector instructions.
trait Compare {
    /// Returns the `minimum` of IEEE 754-2019, with a canonical NaN.
    fn lesser(self, other: Self) -> Self;

    /// Returns the `maximum` of IEEE 754-2019, with a canonical NaN.
    fn greater(self, other: Self) -> Self;
}

macro_rules! compare {
    ($($type:ty),+) => {$(
        impl Compare for $type {
            #[inline]
            fn lesser(self, other: Self) -> Self {
                let lesser = if self < other { self } else { other };
                // Equal values differ at most in the sign of a zero.
                let equal = Self::from_bits(self.to_bits() | other.to_bits());
                let result = if self == other { equal } else { lesser };
                if self.is_nan() | other.is_nan() { Self::NAN } else { result }
            }

            #[inline]
            fn greater(self, other: Self) -> Self {
                let greater = if self > other { self } else { other };
                let equal = Self::from_bits(self.to_bits() & other.to_bits());
                let result = if self == other { equal } else { greater };
                if self.is_nan() | other.is_nan() { Self::NAN } else { result }
            }
        }
    )+};
}

compare!(f32, f64);

impl<O, T: Operand<O>> Operand<O> for Vec<T> {
    #[inline]
    fn combine(&mut self, other: Self) -> Result<(), Mismatch> {
        Mismatch::unless_equal(self.len(), other.len())?;
        self.iter_mut()
            .zip(other)
            .try_for_each(|(left, right)| left.combine(right))
    }
}

impl<O, T: Operand<O>, const LEN: usize> Operand<O> for [T; LEN] {
    #[inline]
    fn combine(&mut self, other: Self) -> Result<(), Mismatch> {
        self.iter_mut()
            .zip(other)
            .try_for_each(|(left, right)| left.combine(right))
    }
}

impl<O, T: Neutral<O>, const LEN: usize> Neutral<O> for [T; LEN] {
    #[inline]
    fn neutral() -> Self {
        array::from_fn(|_| T::neutral())
    }
}
