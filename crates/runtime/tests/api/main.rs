//! Tests of the public interface: forks, scopes, loops, handles, messages, pools, and variables of
//! the workers.

#![cfg(not(any(loom, shuttle)))]

#[path = "../common/checks.rs"]
mod checks;
#[path = "../common/mod.rs"]
mod common;

mod futures;
mod handle_waiting;
mod join_tree;
mod loops_results;
mod messages;
mod models;
mod pool_battery;
mod private_variables;
mod spawned_futures;
