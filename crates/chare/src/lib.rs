//! Message-driven objects on the workers of a runtime, and what belongs to programs made of them.
#![forbid(unsafe_code)]

pub mod chunks;
pub mod grain;

pub use chunks::{ChunkedArray, ChunkedArrayBuilder, MissingChunks};
pub use grain::{Grain, GrainFileError, GrainRun, GrainTuner};
