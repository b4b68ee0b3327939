//! Seeded schedules of programs with locations. `shuttle` runs them on the shipped runtime, under
//! thousands of schedules.
//!
//! The assertions of a test hold under every schedule. A schedule in which no task can continue is
//! a failure, so tasks that wait forever are found. [`raddle_runtime::model::explore`] explains how
//! to run a seed again.

#![cfg(shuttle)]

mod ends;
mod programs;
#[path = "../common/random.rs"]
mod random;

use std::sync::{Mutex, MutexGuard, PoisonError};

/// Waits until no other test explores schedules.
///
/// Programs and operations are numbered in statics. `shuttle` assumes that an atomic in a static is
/// used by one thread, but it is shared by all schedules. Two tests that ran at the same time
/// failed with a cell that was already borrowed.
fn alone() -> MutexGuard<'static, ()> {
    static ALONE: Mutex<()> = Mutex::new(());
    // A test that failed while it held the lock has reported that itself.
    ALONE.lock().unwrap_or_else(PoisonError::into_inner)
}
