//! Memory that several nodes see: besides what lends bytes to MPI the only place of this crate with unsafe code.
//!
//! The nodes of a program trust each other as its threads do: what one writes to memory that it was given is read by another as it stands. What
//! would let a mistake of one bring down another is checked: lengths, places, and the size of what is mapped, which is sealed, so that nobody can
//! make it shorter under those who use it.

mod memory;
mod region;

pub(crate) use memory::Memory;
pub(crate) use region::{Region, WORDS};
