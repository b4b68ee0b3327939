//! The error of a merge.

use std::fmt;

/// The error of merging two contributions that do not fit together.
///
/// The order of the merges decides which of the two is `left`.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum Mismatch {
    /// One contribution has more values than the other.
    #[error("contributions of {left} and of {right} values do not fit together")]
    Lengths {
        /// The number of values in one of them.
        left: usize,
        /// The number of values in the other.
        right: usize,
    },
    /// The contributions differ in a property that a custom reducer requires to be equal.
    #[error("contributions of {left} and of {right} do not fit together")]
    Kinds {
        /// The description of one of them.
        left: Box<str>,
        /// The description of the other.
        right: Box<str>,
    },
}

impl Mismatch {
    /// Creates the error of a custom reducer from descriptions of the two contributions.
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

    /// Returns an error if two lengths differ.
    #[inline]
    pub(super) fn unless_equal(left: usize, right: usize) -> Result<(), Self> {
        if left == right {
            Ok(())
        } else {
            Err(Self::Lengths { left, right })
        }
    }
}
