//! Analysis of the recordings of Raddle programs, which [`raddle_trace::export`] has written.
//!
//! A [`Recording`] is a [`Timeline`](raddle_timeline::Timeline) that is known to come from Raddle:
//! it knows its threads, and the facts about each process. Each analysis is a function of it, with
//! a result that prints as a table and serialises as JSON.
//!
//! | module | question |
//! |---|---|
//! | [`states`] | the state of a thread at each time: it works, waits, searches or sleeps |
//! | [`utilisation`] | the time in each state, per thread and over time |
//! | [`durations`] | the times of tasks, messages and entries |
//! | [`messages`] | messages by entry, worker, node and object |
//! | [`gaps`] | which messages workers without work waited for, and where these came from |
//! | [`waits`] | which thread waited for which, or for which location |
//! | [`profile`] | calls, inclusive and exclusive times of functions, by caller |
//!
//! Not here: recording ([`raddle_trace`]), file formats ([`raddle_timeline`]), printing.

#![forbid(unsafe_code)]

pub mod costs;
mod dense;
pub mod durations;
pub mod findings;
pub mod forecast;
pub mod gaps;
pub mod grain;
mod graph;
mod links;
pub mod messages;
pub mod off_cpu;
pub mod page;
pub mod places;
pub mod profile;
mod recording;
pub mod simulation;
pub mod span;
pub mod states;
pub mod summary;
pub mod table;
pub mod text;
pub mod utilisation;
pub mod waits;

pub use recording::{Facts, RecordedThread, Recording, RecordingError};
