//! Programs of locations, their misuse, random programs; and bugs of the past.

#![cfg(not(any(loom, shuttle)))]

#[path = "../common/mod.rs"]
mod common;
#[path = "../common/failing.rs"]
mod failing;
#[path = "../common/random.rs"]
mod random;

mod misuse;
mod moving;
mod programs;
mod regress_ends;
mod regress_misuse;
mod regress_waits;
mod stress_programs;
