//! The builders: [`sequential`] on one thread, [`tasks`] by forks and joins, and [`messages`] by
//! chares.
//!
//! The parallel builders split large cells together and hand small cells to the sequential builder.
//! They share [`work`] (the decision about a cell), [`split_phases`] (the state between the phases
//! of a split), [`shares`] (one task's part of a phase) and [`store`] (the memory of the lists).

mod constructors;
pub(in crate::kdtree) mod input;
pub mod messages;
pub(in crate::kdtree) mod progress;
mod sequential;
mod shares;
mod split_phases;
mod store;
mod tasks;
mod work;
mod workspace;

pub use constructors::Timed;
