//! Counters and events of the Raddle runtime, and reports that are made from them.
//!
//! A [`Counters`] belongs to one worker. Only that worker adds to it; any thread may read it.
//! A [`Report`] is a snapshot of the counters of all workers, with totals. It prints as a table
//! ([`std::fmt::Display`]) and serialises as JSON (`serde`). [`whole_file`] writes files of
//! results.
//!
//! [`record`] has the functions that record events, [`session`] begins and ends a recording, and
//! [`events`] has the events that come out. [`monitor`] shows a running process to its user.
//! [`profile`] adds up the times of functions that are called too often to be recorded.

#![forbid(unsafe_code)]

mod choice;
mod counters;
pub mod events;
pub mod export;
pub mod monitor;
mod moves;
mod process;
pub mod profile;
pub mod record;
mod report;
pub mod session;
pub mod snapshot;
pub mod sources;
pub mod trace_file;
pub mod whole_file;

/// Returns true in a process that fork(2) has made from one with a runtime or a recording. Such a
/// process is not recorded: threads that do not exist in it may have held the locks of the
/// recording.
pub(crate) fn is_forked() -> bool {
    raddle_sync::prim::fork_count() > 0
}

pub use choice::{Choice, Tried};
pub use counters::{Counter, Counters, CurrentWait, Gaps, OuterWait};
pub use moves::Moves;
pub use process::VariableError;
pub use report::{Report, WorkerReport};
