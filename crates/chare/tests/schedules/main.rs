//! Seeded schedules of message-driven objects: `shuttle` runs them, on the shipped runtime, under thousands of schedules.
//!
//! What a body asserts holds under every schedule; a schedule in which nobody can move fails by itself, so that whoever waits for ever is
//! found. How a seed is run again stands in [`raddle_runtime::model::explore`].

#![cfg(shuttle)]

mod ends;
mod failures;
mod insertions;
mod moving;
mod nodes;
mod order;
mod over_nodes;
mod over_nodes_quiet;
mod over_nodes_sums;
mod over_nodes_wander;
mod priorities;
mod quiet;
mod reductions;
mod scans;
mod sections;
mod seeds;
mod teams;
mod travellers;
mod waiting;
