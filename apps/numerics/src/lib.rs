//! Numerical programs on Raddle: parallel quicksort, a stencil, matrix products.
#![forbid(unsafe_code)]

#[cfg(test)]
#[path = "../tests/common/mod.rs"]
mod common;
pub mod lk23;
pub mod matmul;
pub mod pipeline;
pub mod random;
pub mod sort;
