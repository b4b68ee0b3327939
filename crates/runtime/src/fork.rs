//! `join`, and offers: forks that cost almost nothing while every worker is busy.
//!
//! [`fork_stack`](crate::fork_stack) has the protocol and its invariants, which the `SAFETY`
//! comments here number.

mod job;
mod join;
mod offer;

pub use job::Ran;
pub use join::join;
pub(crate) use join::{call_both, join_by};
pub(crate) use offer::{Offer, Offered};
