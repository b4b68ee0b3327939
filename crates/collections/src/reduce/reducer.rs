//! The traits of reducers.

use super::error::Mismatch;
use super::name::Name;

/// The contribution of an element to a reduction, or several merged contributions.
///
/// Every element creates one. The runtime tells it the position of its element
/// ([`placed`](Self::placed)), merges it with others, in any order and in any groups, and finishes
/// the one that remains. So merging must be associative and commutative. If it is not, the result
/// depends on the order of the merges.
pub trait Reducer: Sized + Send + 'static {
    /// The result of the reduction.
    type Output: Send + 'static;

    /// Returns the name of the reducer for messages, such as `Sum<f64>`.
    #[must_use]
    fn name() -> Name {
        Name::of::<Self>()
    }

    /// Sets the position in the array of the contributing element.
    ///
    /// It is called once, before the first merge. Most reducers ignore it.
    #[must_use]
    #[inline]
    fn placed(self, position: u64) -> Self {
        let _ = position;
        self
    }

    /// Merges the contributions of other elements into `self`.
    ///
    /// # Errors
    /// [`Mismatch`] if the two do not fit together. Then there is no result, since `self` may
    /// already contain a part of `other`.
    fn merge(&mut self, other: Self) -> Result<(), Mismatch>;

    /// Returns the result.
    fn finish(self) -> Self::Output;
}

/// A reducer with an identity: a contribution that does not change any other.
///
/// A scan passes the identity to the first element as the merge of all elements before it. Merging
/// with the identity, on either side, changes nothing.
///
/// # Examples
/// ```
/// use raddle_collections::reduce::{Max, Monoid, Reducer, Sum};
///
/// let mut both = <(Sum<u32>, Max<f64>)>::identity();
/// both.merge((Sum(2), Max(0.5)))?;
/// assert_eq!(both.finish(), (2, 0.5));
/// # Ok::<(), raddle_collections::reduce::Mismatch>(())
/// ```
pub trait Monoid: Reducer + Clone {
    /// Returns the identity, which is the contribution of no elements.
    #[must_use]
    fn identity() -> Self;
}
