//! What can go wrong when contributions meet.

use std::fmt;

/// Two contributions to a reduction do not fit together.
///
/// Which of the two is `left` depends on the order in which they met.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum Mismatch {
    /// One has more values than the other.
    #[error("contributions of {left} and of {right} values do not fit together")]
    Lengths {
        /// The number of values in one of them.
        left: usize,
        /// The number of values in the other.
        right: usize,
    },
    /// They differ in what a reducer of one's own needs to be the same.
    #[error("contributions of {left} and of {right} do not fit together")]
    Kinds {
        /// What one of them is.
        left: Box<str>,
        /// What the other is.
        right: Box<str>,
    },
}

impl Mismatch {
    /// Makes the error of a reducer of one's own: what its two contributions are.
    ///
    /// # Examples
    /// ```
    /// use raddle_collections::reduce::Mismatch;
    ///
    /// let mismatch = Mismatch::between("a 3 × 3 matrix", "a 4 × 4 matrix");
    /// assert_eq!(
    ///     mismatch.to_string(),
    ///     "contributions of a 3 × 3 matrix and of a 4 × 4 matrix do not fit together"
    /// );
    /// ```
    #[cold]
    pub fn between(left: impl fmt::Display, right: impl fmt::Display) -> Self {
        Self::Kinds {
            left: left.to_string().into(),
            right: right.to_string().into(),
        }
    }

    /// Refuses two lengths that differ.
    #[inline]
    pub(super) fn unless_equal(left: usize, right: usize) -> Result<(), Self> {
        if left == right {
            Ok(())
        } else {
            Err(Self::Lengths { left, right })
        }
    }
}
