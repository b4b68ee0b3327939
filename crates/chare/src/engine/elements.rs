//! The elements of a collection: what all workers share of them, and what one worker has.

pub(crate) mod collection;
pub(crate) mod moves;
pub(crate) mod part;
