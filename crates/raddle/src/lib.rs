//! A runtime for irregular parallel programs.
#![forbid(unsafe_code)]

pub use raddle_runtime::*;
