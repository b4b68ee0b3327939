//! The node of a study of notification, as equations and as a simulator.
//!
#![doc = include_str!(concat!(env!("OUT_DIR"), "/crate.md"))]
#![forbid(unsafe_code)]

mod calibrate;
pub mod chain;
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
pub use error::{DomainError, ModelError, Origin};
pub use parameters::Parameters;
pub use tracer::{Prediction, Scenario, predict};
