//! The builders.

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
