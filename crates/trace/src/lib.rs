//! Counters of the Raddle runtime, and what is drawn from them.
//!
//! A [`Tally`] belongs to one worker, which alone adds to it; anybody may read it. A [`Report`] is a reading of all
//! of them at one moment, with totals, as a table ([`std::fmt::Display`]) or as JSON (`serde`). Files of results are
//! written by [`whole_file`].
#![forbid(unsafe_code)]

mod choice;
mod moves;
mod report;
mod tally;
pub mod whole_file;

pub use choice::{Choice, Tried};
pub use moves::Moves;
pub use report::{Report, WorkerReport};
pub use tally::{Counter, Gaps, Tally};
