//! The reducers that apply one operation to numbers.
//!
//! Merging two numbers compiles to the operation on them: no allocation, no call, and no branch on
//! the kind of reducer.

use super::error::Mismatch;
use super::operand::{Neutral, Operand, op};
use super::reducer::{Monoid, Reducer};

/// Defines a reducer that combines its contributions by one operation.
macro_rules! fold {
    ($(#[$documentation:meta])* $name:ident by $op:ident) => {
        $(#[$documentation])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
        pub struct $name<T>(pub T);

        impl<T: Operand<op::$op>> Reducer for $name<T> {
            type Output = T;

            #[inline]
            fn merge(&mut self, other: Self) -> Result<(), Mismatch> {
                self.0.combine(other.0)
            }

            #[inline]
            fn finish(self) -> T {
                self.0
            }
        }

        impl<T: Neutral<op::$op> + Clone> Monoid for $name<T> {
            #[inline]
            fn identity() -> Self {
                Self(T::neutral())
            }
        }
    };
}

fold! {
    /// Adds numbers. Arrays and vectors of numbers are added element by element.
    ///
    /// Integers overflow as in `a + b`: with a panic if overflow is checked, and modulo 2ⁿ
    /// otherwise. [`Wrapping`](std::num::Wrapping) integers always wrap. The sum of floats is
    /// rounded at every merge, so its last bits depend on the order of the merges. The result of
    /// [`SumExact`](super::SumExact) does not depend on it.
    ///
    /// A merge takes one addition for each number, and no allocation.
    ///
    /// # Examples
    /// ```
    /// use raddle_collections::reduce::{Mismatch, Reducer, Sum};
    ///
    /// let mut sums = Sum(vec![1, 10]);
    /// sums.merge(Sum(vec![2, 20]))?;
    /// let mismatch = sums.merge(Sum(vec![3])).unwrap_err();
    /// assert_eq!(mismatch.to_string(), "contributions of 2 and of 1 values do not fit together");
    /// assert_eq!(sums.finish(), [3, 30]);
    /// # Ok::<(), Mismatch>(())
    /// ```
    Sum by Add
}

fold! {
    /// Multiplies numbers. Arrays and vectors of numbers are multiplied element by element.
    ///
    /// Products overflow and are rounded as in [`Sum`].
    Product by Mul
}

fold! {
    /// Finds the smallest number. Arrays and vectors of numbers are compared element by element.
    ///
    /// If one of the floats is NaN, the result is NaN (a merge makes it [`f64::NAN`]). For example,
    /// a reduction of an error bound must not return a number if a computation went wrong. -0 is
    /// smaller than 0. So the result has the same bits in any order. It is the `minimum` of IEEE
    /// 754-2019.
    ///
    /// # Examples
    /// ```
    /// use raddle_collections::reduce::{Min, Mismatch, Reducer};
    ///
    /// let mut least = Min([3.0, 1.0]);
    /// least.merge(Min([2.0, f64::NAN]))?;
    /// least.merge(Min([4.0, 0.0]))?;
    /// let [first, second] = least.finish();
    /// assert_eq!(first, 2.0);
    /// assert!(second.is_nan());
    /// # Ok::<(), Mismatch>(())
    /// ```
    Min by Least
}

fold! {
    /// Finds the largest number. Arrays and vectors of numbers are compared element by element.
    ///
    /// If one of the floats is NaN, the result is NaN, and 0 is larger than -0, as in [`Min`]. It
    /// is the `maximum` of IEEE 754-2019.
    Max by Greatest
}

fold! {
    /// Finds the bits that are set in all contributions. For `bool`, this is a logical "and".
    BitAnd by And
}

fold! {
    /// Finds the bits that are set in any contribution. For `bool`, this is a logical "or".
    BitOr by Or
}

fold! {
    /// Finds the bits that are set in an odd number of contributions.
    BitXor by Exclusive
}
