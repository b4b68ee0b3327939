//! The smallest or largest value, and its position.

use std::cmp::Ordering;

use super::error::Mismatch;
use super::reducer::Reducer;

/// Defines a reducer that keeps the contribution with a value that compares as `$wins` with all
/// others.
macro_rules! extreme {
    ($(#[$documentation:meta])* $name:ident keeps $wins:ident) => {
        $(#[$documentation])*
        #[derive(Clone, Copy, Debug, PartialEq, serde::Serialize, serde::Deserialize)]
        pub struct $name<T> {
            value: T,
            position: u64,
        }

        impl<T: PartialOrd + Send + 'static> $name<T> {
            /// Creates the contribution of `value`.
            #[must_use]
            #[inline]
            pub fn new(value: T) -> Self {
                Self { value, position: 0 }
            }
        }

        impl<T: PartialOrd + Send + 'static> Reducer for $name<T> {
            /// The value, and the position of the element that contributed it.
            type Output = (T, u64);

            #[inline]
            fn placed(self, position: u64) -> Self {
                Self { position, ..self }
            }

            #[inline]
            fn merge(&mut self, other: Self) -> Result<(), Mismatch> {
                let wins = match rank(&other.value, &self.value, Ordering::$wins) {
                    Ordering::Equal => other.position < self.position,
                    order => order == Ordering::$wins,
                };
                if wins {
                    *self = other;
                }
                Ok(())
            }

            #[inline]
            fn finish(self) -> (T, u64) {
                (self.value, self.position)
            }
        }
    };
}

extreme! {
    /// Finds the smallest value and the position of the element that contributed it.
    ///
    /// If several values are equal, the position is that of the first.
    ///
    /// A value that does not compare with itself, such as NaN, wins over all values that do. So the
    /// result shows where a computation went wrong. The first of several such values wins. All
    /// other values must compare with each other, as floats do. 0 and -0 are equal here.
    ///
    /// Additional data can be contributed in a tuple with the value. The first part of the tuple
    /// decides, unless two of them are equal.
    ///
    /// # Examples
    /// ```
    /// use raddle_collections::reduce::{MinAt, Mismatch, Reducer};
    ///
    /// let mut least = MinAt::new(0.5).placed(7);
    /// least.merge(MinAt::new(0.25).placed(9))?;
    /// least.merge(MinAt::new(0.25).placed(3))?;
    /// assert_eq!(least.finish(), (0.25, 3));
    /// # Ok::<(), Mismatch>(())
    /// ```
    MinAt keeps Less
}

extreme! {
    /// Finds the largest value and the position of the element that contributed it.
    ///
    /// If several values are equal, the position is that of the first. Values that do not compare
    /// with themselves win, as in [`MinAt`].
    MaxAt keeps Greater
}

/// Compares two values. A value that does not compare with itself is beyond all others at `end`.
#[inline]
fn rank<T: PartialOrd>(left: &T, right: &T, end: Ordering) -> Ordering {
    left.partial_cmp(right).unwrap_or_else(|| {
        let is_unordered = |value: &T| value.partial_cmp(value).is_none();
        match (is_unordered(left), is_unordered(right)) {
            (true, false) => end,
            (false, true) => end.reverse(),
            _ => Ordering::Equal,
        }
    })
}
