//! Regression tests for past bugs, and programs written to find bugs. Each file describes its bugs.

#![cfg(not(any(loom, shuttle)))]

mod arguments;
mod bombs;
mod common;
mod ends;
mod failure_reports;
mod forks;
mod hostile;
mod insertion;
mod keys;
mod moves;
mod node_end;
mod sections;
mod unreceived;
mod waiting_report;
