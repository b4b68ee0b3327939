//! The reducers that are one operation on numbers.

use super::error::Mismatch;
use super::operand::{Neutral, Operand, op};
use super::{Monoid, Reducer};

/// A reducer that combines its contributions by one operation.
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
    /// Adds numbers; arrays and vectors of numbers place by place.
    ///
    /// Integers overflow as they do in `a + b`: a panic where overflow is checked, else modulo 2ⁿ, which
    /// [`Wrapping`](std::num::Wrapping) always is. The sum of floats is rounded at every merge, so that its last bits depend on the
    /// order of the merges: see [`SumExact`](super::SumExact) for one that does not.
    ///
    /// Merging two numbers is one addition, merging two vectors one each, without any allocation.
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
    /// Multiplies numbers; arrays and vectors of numbers place by place. What overflows and rounds does as in [`Sum`].
    Product by Mul
}

fold! {
    /// Finds the smallest number; in arrays and vectors of numbers, that of each place.
    ///
    /// Of floats, one NaN makes the result NaN (whichever it was, merging makes it [`f64::NAN`]): a reduction that asks how large
    /// something still is must not answer with a number because a computation has gone wrong. -0 is smaller than 0. So the result
    /// has the same bits whatever the order. It is the `minimum` of IEEE 754-2019.
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
    /// Finds the largest number; in arrays and vectors of numbers, that of each place.
    ///
    /// One NaN makes the result NaN, and 0 is larger than -0, as with [`Min`]. It is the `maximum` of IEEE 754-2019.
    Max by Greatest
}

fold! {
    /// Finds the bits that are set in all contributions. Of `bool`s it is a logical "and".
    BitAnd by And
}

fold! {
    /// Finds the bits that are set in some contribution. Of `bool`s it is a logical "or".
    BitOr by Or
}

fold! {
    /// Finds the bits that are set in an odd number of contributions.
    BitXor by Exclusive
}
