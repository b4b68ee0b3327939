//! Predictions about programs that do not run: their description, and a simulator.
//!
//! A [`Sketch`] describes a program without its data. [`Sketch::simulate`] predicts how long the
//! program takes on a machine that is described by its topology and speed.
//!
//! # Invariants
//! 1. No module outside of this folder imports this module: running programs do not depend on it.
//!    A test checks this.

mod simulate;
mod sketch;
#[cfg(all(test, not(any(loom, shuttle, miri))))]
mod tests;

pub use self::simulate::{MachineSpeed, Mapping, Simulated};
pub use self::sketch::{LocationIndex, Sketch};
