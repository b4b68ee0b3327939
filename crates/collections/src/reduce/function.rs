//! Reducers that apply a function.

use std::any;
use std::fmt;

use super::error::Mismatch;
use super::gather::Gather;
use super::reducer::Reducer;

/// Contributes `value` to a reduction by the function `combine`.
///
/// The function must be associative and commutative, and the same for all elements. The order of
/// its two arguments is not defined: use [`in_order`] if it matters. A function that captures
/// nothing takes no memory.
///
/// # Examples
/// ```
/// use raddle_collections::reduce::{self, Mismatch, Reducer};
///
/// fn gcd(a: u64, b: u64) -> u64 {
///     if b == 0 { a } else { gcd(b, a % b) }
/// }
///
/// let mut divisor = reduce::with(12, gcd);
/// divisor.merge(reduce::with(18, gcd))?;
/// assert_eq!(divisor.finish(), 6);
/// # Ok::<(), Mismatch>(())
/// ```
#[must_use]
pub fn with<T, F>(value: T, combine: F) -> With<T, F>
where
    T: Send + 'static,
    F: Fn(T, T) -> T + Send + 'static,
{
    With {
        value: Some(value),
        combine,
    }
}

/// A reduction by a function, created by [`with`].
#[derive(Clone, Copy)]
pub struct With<T, F = fn(T, T) -> T> {
    /// `None` only after the function has panicked.
    value: Option<T>,
    combine: F,
}

impl<T, F> Reducer for With<T, F>
where
    T: Send + 'static,
    F: Fn(T, T) -> T + Send + 'static,
{
    type Output = T;

    #[inline]
    fn merge(&mut self, other: Self) -> Result<(), Mismatch> {
        self.value = match (self.value.take(), other.value) {
            (Some(left), Some(right)) => Some((self.combine)(left, right)),
            _ => None,
        };
        Ok(())
    }

    /// Returns the result.
    ///
    /// # Panics
    /// Panics if the function has panicked in one of the merges.
    #[inline]
    fn finish(self) -> T {
        self.value
            .expect("a reduction has no result if its function has panicked")
    }
}

impl<T: fmt::Debug, F> fmt::Debug for With<T, F> {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter
            .debug_struct("With")
            .field("value", &self.value)
            .field("combine", &any::type_name::<F>())
            .finish()
    }
}

/// Contributes `value` to a fold from left to right in the order of the elements.
///
/// The function must be the same for all elements. It need be neither commutative nor associative:
/// the values are gathered as by [`Gather`], and one worker calls the function at the end. For n
/// values this takes O(n) memory and n - 1 calls.
///
/// # Examples
/// ```
/// use raddle_collections::reduce::{self, Mismatch, Reducer};
///
/// let join = |a: String, b: String| format!("{a}, {b}");
/// let mut line = reduce::in_order("two".to_owned(), join).placed(2);
/// line.merge(reduce::in_order("one".to_owned(), join).placed(1))?;
/// assert_eq!(line.finish(), "one, two");
/// # Ok::<(), Mismatch>(())
/// ```
#[must_use]
pub fn in_order<T, F>(value: T, combine: F) -> InOrder<T, F>
where
    T: Send + 'static,
    F: Fn(T, T) -> T + Send + 'static,
{
    InOrder {
        values: Gather::new(value),
        combine,
    }
}

/// A fold in the order of the elements, created by [`in_order`].
#[derive(Clone)]
pub struct InOrder<T, F = fn(T, T) -> T> {
    values: Gather<T>,
    combine: F,
}

impl<T, F> Reducer for InOrder<T, F>
where
    T: Send + 'static,
    F: Fn(T, T) -> T + Send + 'static,
{
    type Output = T;

    #[inline]
    fn placed(self, position: u64) -> Self {
        Self {
            values: self.values.placed(position),
            combine: self.combine,
        }
    }

    fn merge(&mut self, other: Self) -> Result<(), Mismatch> {
        self.values.merge(other.values)
    }

    fn finish(self) -> T {
        let folded = self.values.finish().into_iter().reduce(self.combine);
        folded.expect("every fold has the value that it was created with")
    }
}

impl<T: fmt::Debug, F> fmt::Debug for InOrder<T, F> {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter
            .debug_struct("InOrder")
            .field("values", &self.values)
            .field("combine", &any::type_name::<F>())
            .finish()
    }
}
