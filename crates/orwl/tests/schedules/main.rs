//! Seeded schedules of programs with locations: `shuttle` runs them, on the shipped runtime, under thousands of schedules.
//!
//! What a body asserts holds under every schedule; a schedule in which nobody can move fails by itself, so that whoever waits for ever is
//! found. How a seed is run again stands in [`raddle_runtime::model::explore`].

#![cfg(shuttle)]

#[path = "../common/mod.rs"]
mod common;
mod ends;
mod programs;

use std::sync::{Mutex, MutexGuard, PoisonError};

/// One test explores at a time. Programs and operations are numbered over the whole process, and an atomic of `shuttle` that lies in a static is one for all schedules, which it
/// takes to be of one thread: two tests that met there failed with a cell that was borrowed already.
fn alone() -> MutexGuard<'static, ()> {
    static ALONE: Mutex<()> = Mutex::new(());
    // A test that fails has told so itself.
    ALONE.lock().unwrap_or_else(PoisonError::into_inner)
}
