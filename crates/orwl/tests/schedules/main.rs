//! Seeded schedules of programs with locations: `shuttle` runs them, on the shipped runtime, under thousands of schedules.
//!
//! What a body asserts holds under every schedule; a schedule in which nobody can move fails by itself, so that whoever waits for ever is
//! found. How a seed is run again stands in [`raddle_runtime::model::explore`].

#![cfg(shuttle)]

#[path = "../common/mod.rs"]
mod common;
mod ends;
mod programs;
