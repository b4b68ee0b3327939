//! The door to atomics: `std` in production, `loom` under `cfg(loom)`.
//!
//! No other module of the workspace names `std::sync::atomic`; a house-rule test sees to it. What differs
//! between the two worlds beyond names is bridged here: loom's `UnsafeCell` hands out access in closures,
//! and a futex is modelled by a lock and a condition variable with the same check-then-sleep atomicity.

#[cfg(not(loom))]
mod real;
#[cfg(not(loom))]
pub use real::*;

#[cfg(loom)]
mod model;
#[cfg(loom)]
pub use model::*;

/// True where time or state space is dear (loom, miri): sizes and counts shrink.
pub const LIGHT: bool = cfg!(any(loom, miri));
