//! Numerical programs on Raddle: so far, parallel quicksort.
#![forbid(unsafe_code)]

pub mod random;
pub mod sort;
