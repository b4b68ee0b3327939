//! Atomics, threads and the clock: `std` in production, `loom` under `cfg(loom)`, `shuttle` under
//! `cfg(shuttle)`.
//!
//! No other module of the workspace names `std::sync::atomic`; a test of the house rules checks
//! that. This module also hides the differences between the three besides names: the `UnsafeCell`
//! of loom gives access only inside closures, a futex is modelled by a lock and a condition
//! variable with the same atomic check-then-sleep, and a model decides how time passes.
//!
//! Loom tries every schedule of a small model, and models weak memory. Shuttle tries many schedules
//! of a large model, each made from a seed, and treats every access as sequentially consistent.

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

/// Returns true if this thread unwinds. Under shuttle, returns true if any thread does, because all
/// threads of a schedule run on one system thread.
pub use std::thread::panicking;

mod fences;
pub use fences::{can_interrupt, heavy_fence, light_fence, prepare_fences, signal_fence};
mod forks;
pub use forks::{call_in_children, count_forks, default_signals_in_children, fork_count};
mod pair;
pub use pair::{AtomicPair, Pair};

mod mark;
pub use mark::thread_mark;
mod movable;
pub use movable::{AllowedCpus, MovableThread};
mod queue_time;
pub use queue_time::QueueTime;

/// True where time or state space is expensive (loom, shuttle, Miri); sizes and counts are then
/// smaller.
pub const LIGHT: bool = cfg!(any(loom, shuttle, miri));

/// Declares a function that is `const` where the constructors of atomics are, which is everywhere
/// except under loom.
#[cfg(not(loom))]
#[macro_export]
macro_rules! const_fn {
    ($($function:tt)*) => { $($function)* };
}

/// Declares a function that is `const` where the constructors of atomics are, which is everywhere
/// except under loom.
#[cfg(loom)]
#[macro_export]
macro_rules! const_fn {
    ($(#[$attribute:meta])* $visibility:vis const fn $($rest:tt)*) => {
        $(#[$attribute])* $visibility fn $($rest)*
    };
}
