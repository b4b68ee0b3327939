//! Regression tests for past bugs, and programs written to find bugs. Each file describes its bugs.

#![cfg(not(any(loom, shuttle)))]

#[path = "../common/checks.rs"]
mod checks;
#[path = "../common/mod.rs"]
mod common;

mod arguments;
mod bombs;
mod ends;
mod failure_reports;
mod forks;
mod hostile;
mod insertion;
mod keys;
mod moves;
mod node_end;
mod sections;
mod soon;
mod unreceived;
mod waiting_report;
