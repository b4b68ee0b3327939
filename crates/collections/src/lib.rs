//! Data that many tasks fill, split and combine.
//!
//! The crate sends no messages and knows no objects. `raddle-chare` uses its reducers for
//! reductions and scans over arrays of chares; every other part works with plain tasks.
//!
//! | module | contents |
//! |---|---|
//! | [`chunks`] | [`ChunkedArray`]: chunks that tasks fill independently, read as one array |
//! | [`grain`] | [`GrainTuner`]: how much work one task should take, learned from runs |
//! | [`reduce`] | [`Reducer`](reduce::Reducer): what each part contributes, and how it is merged |
//! | [`shared_vec`] | [`SharedVec`](shared_vec::SharedVec): a vector that tasks fill in place |
//! | [`two_lists`] | a stable partition into two lists without branches |
//!
//! # Layers
//! No module imports another, except that a [`Claim`](shared_vec::Claim) of a shared vector is one
//! of the places that [`two_lists`] can fill.
#![deny(unsafe_code)]

pub mod chunks;
pub mod grain;
pub mod reduce;
#[expect(
    unsafe_code,
    reason = "tasks write to disjoint ranges of one allocation"
)]
pub mod shared_vec;
#[expect(
    unsafe_code,
    reason = "elements are written before the length counts them"
)]
pub mod two_lists;

pub use chunks::{ChunkedArray, ChunkedArrayBuilder, MissingChunks};
pub use grain::{Grain, GrainFileError, GrainRun, GrainTuner};
