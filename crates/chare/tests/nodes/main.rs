//! Tests of chares on several nodes, most of them within one process, and of checkpoints.

#![cfg(not(any(loom, shuttle)))]

#[path = "../common/mod.rs"]
mod common;
#[path = "../common/dice.rs"]
mod dice;
#[path = "../common/panics.rs"]
mod panics;

mod balancing;
mod buffers;
mod checkpoints;
mod exchange;
mod moving;
mod scans;

use raddle_chare::nodes::Job;
use raddle_net::TransportKind;
use raddle_runtime::Runtime;

/// Describes `nodes` nodes with two workers each.
fn job(nodes: u16, kind: TransportKind) -> Job {
    let builder = Runtime::builder().workers(2);
    Job::new(nodes).transport(kind).runtime(builder)
}
