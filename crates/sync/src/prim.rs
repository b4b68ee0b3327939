//! The door to atomics, threads and the clock: `std` in production, `loom` under `cfg(loom)`, `shuttle` under
//! `cfg(shuttle)`.
//!
//! No other module of the workspace names `std::sync::atomic`; a house-rule test sees to it. What differs between the
//! worlds beyond names is bridged here: loom's `UnsafeCell` hands out access in closures, a futex is modelled by a lock
//! and a condition variable with the same check-then-sleep atomicity, and time is whatever a model makes of it.
//!
//! Loom tries every schedule of a small model and knows weak memory; shuttle tries many schedules of a large one, each
//! made from a seed, and has every access sequentially consistent.

#[cfg(not(any(loom, shuttle)))]
mod fine_timer;
#[cfg(not(any(loom, shuttle)))]
mod real;
#[cfg(not(any(loom, shuttle)))]
pub use real::*;

#[cfg(loom)]
mod model;
#[cfg(loom)]
pub use model::*;

#[cfg(shuttle)]
mod schedule;
#[cfg(shuttle)]
pub use schedule::*;

/// True while this thread unwinds; under shuttle, while any does, since its threads are one.
pub use std::thread::panicking;

mod fences;
pub use fences::{can_interrupt, heavy_fence, light_fence, prepare_fences, signal_fence};
mod forks;
pub use forks::{call_in_children, count_forks, fork_count};
mod pair;
pub use pair::{AtomicPair, Pair};

mod mark;
pub use mark::thread_mark;

/// True where time or state space is dear (loom, shuttle, miri): sizes and counts shrink.
pub const LIGHT: bool = cfg!(any(loom, shuttle, miri));

/// Declares a function that is `const` where the constructors of atomics are: everywhere but under loom.
#[cfg(not(loom))]
#[macro_export]
macro_rules! const_fn {
    ($($function:tt)*) => { $($function)* };
}

/// Declares a function that is `const` where the constructors of atomics are: everywhere but under loom.
#[cfg(loom)]
#[macro_export]
macro_rules! const_fn {
    ($(#[$attribute:meta])* $visibility:vis const fn $($rest:tt)*) => {
        $(#[$attribute])* $visibility fn $($rest)*
    };
}
