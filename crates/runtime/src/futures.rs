//! Futures, in two kinds.
//!
//! [`assigned`]: only the worker to which a future is assigned polls it, the most urgent first. For
//! programming models that place their work. [`spawned`]: any worker polls a future, and a
//! [`Handle`](crate::Handle) gives its result. For programs.

mod assigned;
mod spawned;

pub use assigned::{AssignedWorker, RunQueue, Urgency};
pub(crate) use spawned::spawn;
