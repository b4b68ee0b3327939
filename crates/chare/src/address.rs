//! Addresses of elements: numbers, indices and keys, and where each element is.
//!
//! These are plain data, independent of messages and workers.

pub(crate) mod detours;
pub(crate) mod directory;
pub(crate) mod index;
pub(crate) mod keys;
pub(crate) mod number;
pub(crate) mod way;
