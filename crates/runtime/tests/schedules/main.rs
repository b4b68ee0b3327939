//! Seeded schedules of the shipped runtime: `shuttle` runs it under thousands of schedules, each made from a seed.
//!
//! What a test body asserts holds under every schedule; a schedule in which nobody can move, or in which somebody searches
//! for ever, fails by itself. All accesses are sequentially consistent here: memory orderings are the loom models' affair.
//! How a seed is run again stands in [`raddle_runtime::model::explore`].

#![cfg(shuttle)]

mod ends;
mod forks;
mod handles;
mod loops;
mod messages;
mod scopes;
