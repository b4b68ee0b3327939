//! Reducers of truth values, and a counter.

use super::error::Mismatch;
use super::reducer::{Monoid, Reducer};

/// Defines a reducer of truth values.
macro_rules! logic {
    (
        $(#[$documentation:meta])*
        $name:ident ($left:ident, $right:ident) is $result:expr, $neutral:expr
    ) => {
        $(#[$documentation])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
        pub struct $name(pub bool);

        impl Reducer for $name {
            type Output = bool;

            #[inline]
            fn merge(&mut self, other: Self) -> Result<(), Mismatch> {
                let ($left, $right) = (self.0, other.0);
                self.0 = $result;
                Ok(())
            }

            #[inline]
            fn finish(self) -> bool {
                self.0
            }
        }

        impl Monoid for $name {
            #[inline]
            fn identity() -> Self {
                Self($neutral)
            }
        }
    };
}

logic! {
    /// Computes whether the value is true for all elements. Without elements, the result is true.
    All(a, b) is a & b, true
}

logic! {
    /// Computes whether the value is true for any element.
    Any(a, b) is a | b, false
}

logic! {
    /// Computes whether the value is true for an odd number of elements.
    Xor(a, b) is a ^ b, false
}

/// Counts elements.
///
/// # Examples
/// ```
/// use raddle_collections::reduce::{Count, Mismatch, Reducer};
///
/// let mut count = Count::one();
/// count.merge(Count::of(2 > 3))?;
/// count.merge(Count::of(3 > 2))?;
/// assert_eq!(count.finish(), 2);
/// # Ok::<(), Mismatch>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub struct Count(u64);

impl Count {
    /// Creates the contribution of an element that counts.
    #[must_use]
    #[inline]
    pub fn one() -> Self {
        Self(1)
    }

    /// Creates the contribution of an element that counts if `condition` holds.
    #[must_use]
    #[inline]
    pub fn of(condition: bool) -> Self {
        Self(condition.into())
    }
}

impl Reducer for Count {
    type Output = u64;

    #[inline]
    fn merge(&mut self, other: Self) -> Result<(), Mismatch> {
        self.0 += other.0;
        Ok(())
    }

    #[inline]
    fn finish(self) -> u64 {
        self.0
    }
}

impl Monoid for Count {
    #[inline]
    fn identity() -> Self {
        Self(0)
    }
}
