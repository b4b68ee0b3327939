//! The smallest or largest value, and where it is.

use std::cmp::Ordering;

use super::Reducer;
use super::error::Mismatch;

/// A reducer that keeps the one contribution whose value compares as `$wins` with all others.
macro_rules! extreme {
    ($(#[$documentation:meta])* $name:ident keeps $wins:ident) => {
        $(#[$documentation])*
        #[derive(Clone, Copy, Debug, PartialEq, serde::Serialize, serde::Deserialize)]
        pub struct $name<T> {
            value: T,
            position: u64,
        }

        impl<T: PartialOrd + Send + 'static> $name<T> {
            /// Contributes `value`.
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
    /// Finds the smallest value and the position of the element that contributed it; of equal ones the first.
    ///
    /// A value that does not compare with itself, a NaN, wins over all that do, so that the result tells where a computation has gone
    /// wrong; among those, too, the first. All others must compare with one another, as floats do. 0 and -0 are equal here.
    ///
    /// What else belongs to the value can be contributed along with it in a tuple, whose first part decides if no two are equal.
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
    /// Finds the largest value and the position of the element that contributed it; of equal ones the first.
    ///
    /// Values that do not compare with themselves win, as with [`MinAt`].
    MaxAt keeps Greater
}

/// How two values compare, where one that does not compare with itself is further towards `end` than all that do.
#[inline]
fn rank<T: PartialOrd>(left: &T, right: &T, end: Ordering) -> Ordering {
    left.partial_cmp(right).unwrap_or_else(|| {
        let is_lost = |value: &T| value.partial_cmp(value).is_none();
        match (is_lost(left), is_lost(right)) {
            (true, false) => end,
            (false, true) => end.reverse(),
            _ => Ordering::Equal,
        }
    })
}
