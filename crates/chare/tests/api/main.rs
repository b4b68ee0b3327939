//! Tests of the public interface within one process: objects, arrays and other collections,
//! entries, sections, migration, load balancing, and the reports about programming errors.

#![cfg(not(any(loom, shuttle)))]

#[path = "../common/blocker.rs"]
mod blocker;
#[path = "../common/mod.rs"]
mod common;
#[path = "../common/dice.rs"]
mod dice;
#[path = "../common/panics.rs"]
mod panics;

mod balancing;
mod collections;
mod entries;
mod misuse;
mod moving;
mod objects;
mod sections;
