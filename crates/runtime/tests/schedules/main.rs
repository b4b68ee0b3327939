//! Seeded schedules of the shipped runtime: `shuttle` runs each test under thousands of schedules,
//! each made from a seed.
//!
//! The assertions of a test body hold under every schedule. A schedule in which no thread can
//! continue, or in which a thread searches forever, is a failure too. All accesses are sequentially
//! consistent here; the loom models check the memory orderings. The documentation of
//! [`raddle_runtime::model::explore`] says how to run a seed again.

#![cfg(shuttle)]

mod ends;
mod forks;
mod futures;
mod handles;
mod loops;
mod messages;
mod open;
mod scopes;
