//! Reducers: what elements of an array contribute to a reduction or a scan, and how it becomes one result.
//!
//! | reducer | contributes | result |
//! |---|---|---|
//! | [`Sum`], [`Product`], [`Min`], [`Max`] | a number, or an array or vector of them | the same, number by number |
//! | [`BitAnd`], [`BitOr`], [`BitXor`] | an integer or a `bool`, or several | the same, bit by bit |
//! | [`All`], [`Any`], [`Xor`] | a `bool` | whether all, some, an odd number of them are true |
//! | [`Count`] | whether it is to be counted | how many are |
//! | [`SumExact`] | a float, or several | their sum, rounded once: the same bits in whatever order |
//! | [`MinAt`], [`MaxAt`] | a value | the extreme value, and who contributed it |
//! | [`Gather`], [`Concat`] | an item; a vector | a vector in the order of the elements |
//! | [`with`], [`in_order`] | a value and a function of two | what the function makes of them |
//! | `()` | nothing | that everybody has come: a barrier |
//! | `Some(reducer)`, `None` | something or nothing | none if nobody contributed anything |
//! | a tuple of up to six reducers | to each of them | a tuple of results |
//!
//! The first three rows wrap what they contribute, as in `Sum(3)`. Those that keep more than that are made by a function: `Count::of`,
//! `SumExact::new`, `MinAt::new`, `Gather::new` and so on.
//!
//! Contributions are merged as they come, in groups that depend on who is placed where. What that leaves open is said at each
//! reducer: nothing, but for the rounding of floats in [`Sum`] and [`Product`] and for functions given to [`with`].
//!
//! # Examples
//! One's own reducer is a type that implements [`Reducer`]:
//! ```
//! use raddle_collections::reduce::{Mismatch, Reducer};
//!
//! /// Finds the smallest and the largest value of all.
//! struct Range {
//!     low: i64,
//!     high: i64,
//! }
//!
//! impl Reducer for Range {
//!     type Output = std::ops::RangeInclusive<i64>;
//!
//!     fn merge(&mut self, other: Self) -> Result<(), Mismatch> {
//!         self.low = self.low.min(other.low);
//!         self.high = self.high.max(other.high);
//!         Ok(())
//!     }
//!
//!     fn finish(self) -> Self::Output {
//!         self.low..=self.high
//!     }
//! }
//!
//! let mut range = Range { low: 3, high: 3 };
//! range.merge(Range { low: -1, high: 2 })?;
//! assert_eq!(range.finish(), -1..=3);
//! # Ok::<(), Mismatch>(())
//! ```

mod compose;
mod error;
mod exact;
mod extreme;
mod fold;
mod function;
mod gather;
mod logic;
mod name;
mod operand;

pub use error::Mismatch;
pub use exact::{Exact, SumExact, Superaccumulator};
pub use extreme::{MaxAt, MinAt};
pub use fold::{BitAnd, BitOr, BitXor, Max, Min, Product, Sum};
pub use function::{InOrder, With, in_order, with};
pub use gather::{Concat, Gather};
pub use logic::{All, Any, Count, Xor};
pub use name::Name;
pub use operand::{Neutral, Operand, op};

/// What an element contributes to a reduction, and what several contributions are once they have been merged.
///
/// Every element makes one; the runtime tells it where it comes from ([`placed`](Self::placed)), merges it with others,
/// in any order and in any groups, and finishes the last that remains. So merging must be associative and commutative;
/// where it is not quite, the result is one of several.
pub trait Reducer: Sized + Send + 'static {
    /// What the reduction results in.
    type Output: Send + 'static;

    /// The reducer's name for messages: `Sum<f64>`.
    #[must_use]
    fn name() -> Name {
        Name::of::<Self>()
    }

    /// Says at which position in the array the contributor stands. Called once, before the first merge.
    ///
    /// Most reducers do not care.
    #[must_use]
    #[inline]
    fn placed(self, position: u64) -> Self {
        let _ = position;
        self
    }

    /// Adds `other`, which are contributions of other elements.
    ///
    /// # Errors
    /// [`Mismatch`] when the two do not fit together. There is no result then: `self` may have taken up a part of `other`.
    fn merge(&mut self, other: Self) -> Result<(), Mismatch>;

    /// The result.
    fn finish(self) -> Self::Output;
}

/// A reducer that knows what nothing at all contributes.
///
/// A scan hands this to the first element as the merge of all before it. Whatever is merged with it, on either side, stays
/// as it is.
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
    /// The contribution of nobody.
    #[must_use]
    fn identity() -> Self;
}
