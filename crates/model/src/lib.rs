//! The node of a study of notification, as equations and as a simulator.
//!
#![doc = include_str!(concat!(env!("OUT_DIR"), "/crate.md"))]
#![forbid(unsafe_code)]

// The parts of the analysis do not know each other: `speed` (threads that share a core), `chain`
// (how many of them run), `queue`, `extreme` (the last of many), `misses`, `packets`. `node`
// combines them as a fixed point, and `tracer` is the program on nodes. `study` asks the questions
// of chapter 8. `parameters` has one line for each parameter in its registry; files in `machines/`
// give values; `calibrate` and `characterise` derive them from measurements. `simulate` is the
// simulator.
//
// Derivations are Markdown with LaTeX in `maths/`. The build converts them to MathML.
//
// Every value that the study's equations give is a test, to the last printed digit. A figure of the
// study that they do not give is named in `docs/prediction.md`.

mod calibrate;
pub mod chain;
mod characterise;
mod error;
pub mod extreme;
pub mod misses;
pub mod node;
pub mod packets;
pub mod parameters;
pub mod queue;
pub mod simulate;
pub mod speed;
pub mod study;
pub mod tracer;
pub mod units;

pub use calibrate::Measured;
pub use characterise::Characterised;
pub use error::{DomainError, ModelError, Origin};
pub use parameters::Parameters;
pub use tracer::{Prediction, Scenario, predict};
