//! Message-driven objects under seeded schedules: `shuttle` runs these tests on the shipped runtime
//! under thousands of schedules.
//!
//! The assertions of a test must hold under every schedule. A schedule in which no thread can
//! continue fails automatically, which finds endless waits. [`raddle_runtime::model::explore`]
//! documents how to run a seed again.

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
