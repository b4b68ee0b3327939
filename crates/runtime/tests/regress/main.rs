//! Regression tests for past bugs. The header of each file describes its bugs.

#![cfg(not(any(loom, shuttle)))]

#[path = "../common/checks.rs"]
mod checks;
#[path = "../common/mod.rs"]
mod common;
#[path = "../common/nesting.rs"]
mod nesting;

mod asleep_first;
mod buried_work;
mod busy_network;
mod hidden_task;
mod idle_workers;
mod late_messages;
mod long_items;
mod many_workers;
mod nested_blocking;
mod network_sleep;
mod panicking_drop;
mod panics;
mod private_task;
mod shutdown;
mod waiter_elsewhere;
mod waiting;

/// A value with a destructor that panics.
struct Bomb;

impl Bomb {
    /// The message of the panic.
    const TEXT: &'static str = "the destructor panics";
}

impl Drop for Bomb {
    fn drop(&mut self) {
        panic!("{}", Self::TEXT);
    }
}
