//! The elements of a collection: what all workers share of them, what one worker has, and messages
//! on their way to them.

pub(crate) mod collection;
pub(crate) mod moves;
pub(crate) mod parcel;
pub(crate) mod part;
