//! Reducers: the contributions of array elements to a reduction or a scan, and their merging into
//! one result.
//!
//! | reducer                      | contribution               | result                           |
//! |------------------------------|----------------------------|----------------------------------|
//! | [`Sum`], [`Product`],        | a number, or an array or   | the same type, combined number   |
//! | [`Min`], [`Max`]             | vector of numbers          | by number                        |
//! | [`BitAnd`], [`BitOr`],       | an integer or a `bool`,    | the same type, combined bit by   |
//! | [`BitXor`]                   | or several                 | bit                              |
//! | [`All`], [`Any`], [`Xor`]    | a `bool`                   | true if all, any, or an odd      |
//! |                              |                            | number of them are true          |
//! | [`Count`]                    | 0 or 1                     | the number of elements counted   |
//! | [`SumExact`]                 | a float, or several        | the sum, rounded once: the same  |
//! |                              |                            | bits in any order                |
//! | [`MinAt`], [`MaxAt`]         | a value                    | the extreme value and the        |
//! |                              |                            | position of its element          |
//! | [`Gather`], [`Concat`]       | an item, a vector          | a vector in element order        |
//! | [`with`], [`in_order`]       | a value and a function of  | the value computed by the        |
//! |                              | two arguments              | function                         |
//! | `()`                         | nothing                    | nothing: a barrier               |
//! | `Some(reducer)`, `None`      | a contribution or none     | `None` if no element contributed |
//! | a tuple of 2 to 6 reducers   | one for each of them       | a tuple of results               |
//!
//! The reducers of the first three groups wrap their contribution, as in `Sum(3)`. The others have
//! a constructor: `Count::of`, `SumExact::new`, `MinAt::new`, `Gather::new` and so on.
//!
//! Contributions are merged as they arrive, in groups that depend on the placement of elements.
//! The result does not depend on that order, except for the rounding of floats in [`Sum`] and
//! [`Product`], and for functions given to [`with`]. Each reducer documents this.
//!
//! # Examples
//! A custom reducer is a type that implements [`Reducer`]:
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
mod reducer;

pub use error::Mismatch;
pub use exact::{Exact, SumExact, Superaccumulator};
pub use extreme::{MaxAt, MinAt};
pub use fold::{BitAnd, BitOr, BitXor, Max, Min, Product, Sum};
pub use function::{InOrder, With, in_order, with};
pub use gather::{Concat, Gather};
pub use logic::{All, Any, Count, Xor};
pub use name::Name;
pub use operand::{Neutral, Operand, op};
pub use reducer::{Monoid, Reducer};
