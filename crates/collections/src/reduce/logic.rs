//! Reducers that ask a question of each element.

use super::error::Mismatch;
use super::{Monoid, Reducer};

/// A reducer of truth values.
macro_rules! logic {
    ($(#[$documentation:meta])* $name:ident ($left:ident, $right:ident) is $result:expr, $neutral:expr) => {
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
    /// Tells whether it is true of all elements. Of none at all it is.
    All(a, b) is a & b, true
}

logic! {
    /// Tells whether it is true of some element.
    Any(a, b) is a | b, false
}

logic! {
    /// Tells whether it is true of an odd number of elements.
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
    /// This element counts.
    #[must_use]
    #[inline]
    pub fn one() -> Self {
        Self(1)
    }

    /// This element counts if `condition` holds.
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
