//! Sums of floats that are rounded only once, at the end.
//!
//! They do not depend on the order of their terms.
//!
//! | module             | contents                                                     |
//! |--------------------|--------------------------------------------------------------|
//! | `float`            | the parts of a float                                         |
//! | `limbs`            | integers wide enough for every sum of floats                 |
//! | `superaccumulator` | a sum of floats, which needs no limbs while it has one term  |

mod float;
mod limbs;
mod superaccumulator;

use std::fmt;

use self::float::Float;
pub use self::superaccumulator::Superaccumulator;
use super::error::Mismatch;
use super::operand::{Neutral, Operand, op};
use super::reducer::{Monoid, Reducer};

/// Values that can be summed exactly: `f32`, `f64`, and arrays and vectors of them.
pub trait Exact: Send + 'static {
    /// A sum that has not been rounded.
    type Sum: Operand<op::Add>;

    /// Converts the value to a sum with one term.
    fn into_sum(self) -> Self::Sum;

    /// Returns the value nearest to `sum`.
    fn round(sum: Self::Sum) -> Self;
}

impl<F: Float> Exact for F {
    type Sum = Superaccumulator<F>;

    #[inline]
    fn into_sum(self) -> Superaccumulator<F> {
        self.into()
    }

    #[inline]
    fn round(sum: Superaccumulator<F>) -> F {
        sum.value()
    }
}

impl<T: Exact> Exact for Vec<T> {
    type Sum = Vec<T::Sum>;

    fn into_sum(self) -> Vec<T::Sum> {
        self.into_iter().map(T::into_sum).collect()
    }

    fn round(sum: Vec<T::Sum>) -> Self {
        sum.into_iter().map(T::round).collect()
    }
}

impl<T: Exact, const LEN: usize> Exact for [T; LEN] {
    type Sum = [T::Sum; LEN];

    fn into_sum(self) -> [T::Sum; LEN] {
        self.map(T::into_sum)
    }

    fn round(sum: [T::Sum; LEN]) -> Self {
        sum.map(T::round)
    }
}

/// Adds floats exactly, and rounds the result once.
///
/// Arrays and vectors are added element by element.
///
/// The result is the float nearest to the true sum (ties to even). It has the same bits for every
/// order and grouping of the contributions, and so for every number of workers and every placement:
/// the sum is reproducible. There is no overflow before the end: the result is infinite only if the
/// true sum is too large. As in an addition of two floats, infinities of both signs or any NaN give
/// NaN (always [`f64::NAN`]), terms that cancel give 0, and the sum is -0 only if all terms are -0.
///
/// An element with many terms should add them to a [`Superaccumulator`], and contribute that. If it
/// contributed their rounded sum, the result would depend on how many elements share the terms:
/// ```
/// use raddle_collections::reduce::{Mismatch, Reducer, SumExact, Superaccumulator};
///
/// let terms = [1e100, 0.1, -1e100];
/// let share = |terms: &[f64]| terms.iter().copied().collect::<Superaccumulator<_>>();
/// let mut sum = SumExact::from(share(&terms[..1]));
/// sum.merge(share(&terms[1..]).into())?;
/// assert_eq!(sum.finish(), 0.1);
/// # Ok::<(), Mismatch>(())
/// ```
///
/// # Cost
/// A single float takes 16 bytes. The first merge allocates a box of 552 bytes (96 for `f32`). Each
/// later float is added to the box in a few nanoseconds, without allocation. A merge of two boxes
/// takes 67 additions of integers (10 for `f32`).
///
/// # Examples
/// ```
/// use raddle_collections::reduce::{Mismatch, Reducer, SumExact};
///
/// let mut sum = SumExact::new([1e100, 0.1]);
/// sum.merge(SumExact::new([1.0, 0.2]))?;
/// sum.merge(SumExact::new([-1e100, 0.3]))?;
/// assert_eq!(sum.finish(), [1.0, 0.6]);
/// assert_eq!(0.1 + 0.2 + 0.3, 0.6000000000000001);
/// # Ok::<(), Mismatch>(())
/// ```
#[derive(serde::Serialize, serde::Deserialize)]
#[serde(bound(
    serialize = "T::Sum: serde::Serialize",
    deserialize = "T::Sum: serde::Deserialize<'de>"
))]
pub struct SumExact<T: Exact>(T::Sum);

impl<T: Exact> SumExact<T> {
    /// Creates the contribution of `value`.
    #[must_use]
    #[inline]
    pub fn new(value: T) -> Self {
        Self(value.into_sum())
    }
}

impl<F: Float> From<Superaccumulator<F>> for SumExact<F> {
    #[inline]
    fn from(sum: Superaccumulator<F>) -> Self {
        Self(sum)
    }
}

impl<T: Exact> Reducer for SumExact<T> {
    type Output = T;

    #[inline]
    fn merge(&mut self, other: Self) -> Result<(), Mismatch> {
        self.0.combine(other.0)
    }

    #[inline]
    fn finish(self) -> T {
        T::round(self.0)
    }
}

impl<T: Exact<Sum: Neutral<op::Add> + Clone>> Monoid for SumExact<T> {
    fn identity() -> Self {
        Self(T::Sum::neutral())
    }
}

impl<T: Exact<Sum: Clone>> Clone for SumExact<T> {
    fn clone(&self) -> Self {
        Self(self.0.clone())
    }
}

impl<T: Exact<Sum: fmt::Debug>> fmt::Debug for SumExact<T> {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_tuple("SumExact").field(&self.0).finish()
    }
}
