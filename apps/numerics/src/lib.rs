//! Numerical programs on Raddle: parallel quicksort, a stencil, matrix products.
#![forbid(unsafe_code)]

pub mod lk23;
pub mod matmul;
pub mod pipeline;
pub mod random;
pub mod sort;
