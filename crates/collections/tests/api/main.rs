//! Chunked arrays and reductions, by the public interface.

#![cfg(not(any(loom, shuttle)))]

#[path = "../common/mod.rs"]
mod common;

mod chunks_array;
mod chunks_parallel;
mod reduce_algebra;
mod reduce_exact;
