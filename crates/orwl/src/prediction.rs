//! Predictions about programs that do not run: their description, and a simulator.
//!
//! A [`Sketch`] describes a program without its data. [`Sketch::simulate`] predicts how long the
//! program takes on a machine that is described by its topology and speed.
//!
//! # Invariants
//! 1. No module outside of this folder imports this module. Running programs do not depend on it.

mod simulate;
mod sketch;

pub use self::simulate::{MachineSpeed, Mapping, Simulated};
pub use self::sketch::{LocationIndex, Sketch};
